"""YAML 1.2 core with places."""

from decimal import Decimal

import pytest

from gateway.policy.source import Source, YamlValue, read_source


def read(text: str) -> Source:
    source = read_source("f.yaml", text)
    assert isinstance(source, Source), source
    return source


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("0", 0),
        ("-7", -7),
        ("408", 408),
        ("1.50", Decimal("1.50")),
        ("1e3", Decimal("1e3")),
        ("yes", "yes"),
        ("NO", "NO"),
        ("on", "on"),
        ("OFF", "OFF"),
        ("010", "010"),
        ("0x10", "0x10"),
        ("1_000", "1_000"),
        ("+5", "+5"),
        ("12:30", "12:30"),
        ("2026-01-31", "2026-01-31"),
        (".inf", ".inf"),
        (".nan", ".nan"),
        ("=", "="),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("'true'", "true"),
        ('"5"', "5"),
        ("|-\n  5", "5"),
    ],
)
@pytest.mark.parametrize("form", ["block", "flow"])
def test_a_scalar_is_what_it_looks_like_and_nothing_else(text: str, value: YamlValue, form: str) -> None:
    """Only true, false, null and plain decimal numbers are not text; quoting makes text of them too."""
    if form == "flow" and text.startswith("|"):
        return
    source = read(f"key: {text}\n" if form == "block" else f"{{key: {text}}}\n")

    assert source.value == {"key": value}
    assert isinstance(source.value, dict)
    assert type(source.value["key"]) is type(value)


def test_keys_are_text_as_they_are_spelled() -> None:
    """A key is never a number or a boolean: `on` and `408` name themselves."""
    assert read("on: 1\n408: 2\n").value == {"on": 1, "408": 2}


def test_every_key_and_value_has_its_place() -> None:
    """Lines and columns count from 1; a path that the file lacks is shown at what surrounds it."""
    source = read("a: 1\nb:\n  - x\n  - {c: d}\n")

    places = {
        path: (source.at(path).line, source.at(path).column)
        for path in [("a",), ("b", 1, "c"), ("b", 1, "missing"), ("missing",)]
    }

    assert places == {("a",): (1, 4), ("b", 1, "c"): (4, 9), ("b", 1, "missing"): (4, 5), ("missing",): (1, 1)}
    assert source.at_key(("b", 1, "c")).column == 6


@pytest.mark.parametrize("depth", [40, 900, 100_000])
def test_a_hostile_depth_is_refused_without_recursion(depth: int) -> None:
    """A file that nests a hundred thousand deep is a finding, not a crash."""
    findings = read_source("f.yaml", "a: " + "[" * depth + "]" * depth)

    assert isinstance(findings, tuple)
    assert "nest" in findings[0].message


def test_a_control_character_is_refused() -> None:
    """What YAML forbids is a finding."""
    findings = read_source("f.yaml", "a: \x00b\n")

    assert isinstance(findings, tuple)
