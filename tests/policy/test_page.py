"""policies/README.md is the whole language."""

import re
from collections.abc import Iterator

import pytest

from gateway.policy.schema import Policy, Rule, Shape
from tests.pages import ROOT, rows

_PAGE = (ROOT / "policies" / "README.md").read_text()


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


def _tables() -> Iterator[list[list[str]]]:
    page = _PAGE
    while "| field |" in page:
        page = page[page.index("| field |") :]
        yield rows(page, "field")
        page = page[len("| field |") :]
