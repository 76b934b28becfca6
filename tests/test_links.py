"""The pages lead where they say."""

import re
from pathlib import Path

import pytest

from gateway.core import decision
from tests.pages import ROOT

_LINK = re.compile(r"\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)")
_HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
_PAGES = sorted(path for path in ROOT.glob("**/*.md") if ".venv" not in path.parts)


def _anchors(page: Path) -> set[str]:
    """As GitHub and GitLab make them: small letters, no marks, a dash for each blank."""
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in _HEADING.findall(page.read_text())
    }


@pytest.mark.parametrize("page", [pytest.param(page, id=str(page.relative_to(ROOT))) for page in _PAGES])
def test_a_page_links_to_what_is_there(page: Path) -> None:
    """Each file exists, and each heading that a link names."""
    for path, anchor in _LINK.findall(page.read_text()):
        target = page.parent / path if path else page
        assert target.exists(), path
        assert not anchor or anchor in _anchors(target), f"{path}#{anchor}"


def test_a_refusal_names_a_part_of_the_pages_that_is_there() -> None:
    """Who is refused for how a request is read is sent to what tells of it."""
    named = [facts.see for name, facts in vars(decision).items() if name.startswith("OF_")]

    assert named
    for see in named:
        path, _, anchor = see.partition("#")
        assert anchor in _anchors(ROOT / path), see
