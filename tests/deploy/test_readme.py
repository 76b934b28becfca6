"""The page about what is in `deploy`: it names all of it, and what it links to is there."""

import re

from tests.pages import ROOT

DEPLOY = ROOT / "deploy"
PAGE = (DEPLOY / "README.md").read_text()
# What makes the pages and the dashboard; each is told where its product is.
GENERATORS = {".py"}


def test_what_it_links_to_is_there() -> None:
    """Files, and headings of its own."""
    headings = {
        re.sub("[^a-z ]", "", line.lower()).strip().replace(" ", "-")
        for line in re.findall("^#+(.*)$", PAGE, re.MULTILINE)
    }
    for target in re.findall(r"\]\(([^)]+)\)", PAGE):
        if target.startswith("#"):
            assert target[1:] in headings, target
        elif not target.startswith("https://"):
            assert (DEPLOY / target).exists(), target


def test_all_that_is_here_is_named() -> None:
    """A file that nobody is told of is not used."""
    here = {path.name for path in DEPLOY.iterdir() if path.suffix not in GENERATORS and path.name != "__pycache__"}

    assert {name for name in here - {"README.md"} if name not in PAGE} == set()
