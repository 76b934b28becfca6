"""policies/README.md is the whole language."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.core.caller import NOBODY
from gateway.core.hop_by_hop import HOP_BY_HOP
from gateway.policy.reading.ordinary_headers import IDLE, IDLE_BEGINNINGS, NEEDED
from gateway.policy.review.advice import advice
from gateway.policy.review.answer import answer
from gateway.policy.schema import Policy, Rule, Shape
from tests.pages import ROOT, rows
from tests.policy.asking import request, rules

_PAGE = (ROOT / "policies" / "README.md").read_text()
_READING = (ROOT / "policies" / "READING.md").read_text()


def _fields(shape: type[Shape]) -> Iterator[str]:
    for name, field in shape.model_fields.items():
        yield field.alias or name


@pytest.mark.parametrize(
    ("shape", "table"),
    [pytest.param(Policy, "`upstream`, `url`", id="upstream"), pytest.param(Rule, "`mode`", id="rule")],
)
def test_every_field_stands_in_the_table(shape: type[Shape], table: str) -> None:
    """Who looks a field up finds it; `name` needs no explanation."""
    [told] = [
        {word for row in found for word in re.findall(r"`([a-z_]+)", row[0])}
        for found in _tables()
        if found[0][0] == table
    ]

    assert set(_fields(shape)) - {"name"} <= told


def test_the_closed_policy_is_whole(tmp_path: Path) -> None:
    """It is what the page says to begin with: nobody has to guess the rest."""
    page = _PAGE[_PAGE.index("### What to write for yours") :]
    ruleset = rules(tmp_path, page.partition("```yaml\n")[2].partition("```")[0])

    said = {
        ("PUT", "/docs/7", '{"title": "a", "text": "b"}'): "write",
        ("PUT", "/docs/7", '{"title": "a", "owner": "b"}'): "no-policy",
        ("PUT", "/docs/7?x=1", "{}"): "no-policy",
        ("PUT", "/docs/07", "{}"): "ambiguous-target",
        ("DELETE", "/docs/7", None): "delete",
        ("DELETE", "/docs/7", '{"x": 1}'): "no-policy",
    }
    assert advice(ruleset) == ()
    for (method, target, body), told in said.items():
        found = answer(ruleset, request(method, target, body=body), NOBODY)
        assert (found.rule if found.decision == "forwarded" else found.decision) == told, target


def _tables() -> Iterator[list[list[str]]]:
    page = _PAGE
    while "| field |" in page:
        page = page[page.index("| field |") :]
        yield rows(page, "field")
        page = page[len("| field |") :]


def test_headers_that_need_not_be_listed_are_told() -> None:
    """Nobody could guess them."""
    arriving, idle = (re.findall("`([^`]+)`", row[1]) for row in rows(_READING, "what becomes of it"))

    # Of the others the page says that they are a connection's own.
    own = HOP_BY_HOP | {b"host", b"content-length", b"expect"}
    beginnings = {f"{name.decode()}*" for name in IDLE_BEGINNINGS}
    assert [name.lower() for name in arriving] == sorted(name.decode() for name in NEEDED - own)
    assert sorted(name.lower() for name in idle) == sorted({name.decode() for name in IDLE} | beginnings)
