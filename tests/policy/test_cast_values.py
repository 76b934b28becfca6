"""What a policy closes by a value, no server makes of another one that passes: drawn values, cast by pydantic and
Django's forms.
"""

import json
from collections.abc import Callable
from enum import IntEnum, StrEnum
from typing import Any
from urllib.parse import quote

import pytest
from django.core.exceptions import ValidationError
from django.forms import BooleanField, CharField, IntegerField, NullBooleanField
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from gateway.core.caller import NOBODY
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import HEAD, name_of, request, rules
from tests.policy.reading.servers import FORM

POLICY = """\
closed:
  - {match: "POST /json/flag/{id}", when: {json: {/v: true}}}
  - {match: "POST /json/number/{id}", when: {json: {/v: 3}}}
  - {match: "POST /json/text/{id}", when: {json: {/v: purge}}}
  - {match: "POST /form/flag/{id}", when: {form: {v: "true"}}}
  - {match: "POST /form/number/{id}", when: {form: {v: "3"}}}
  - {match: "POST /form/text/{id}", when: {form: {v: purge}}}
writes:
  - {name: put, match: "POST /{kind}/{place}/{id}", resource: "doc/{path.id}", values: integer}
"""
Cast = Callable[[object], object]


class Kind(StrEnum):
    """An action's name."""

    PURGE = "purge"


class Level(IntEnum):
    """One that is known by its number."""

    PURGE = 3


def by_pydantic(kind: object) -> Cast:
    """As FastAPI casts what it finds, to whatever type."""
    adapter: TypeAdapter[Any] = TypeAdapter(kind)
    return adapter.validate_python


FLAGS = (by_pydantic(bool), BooleanField(required=False).clean, NullBooleanField().clean)
NUMBERS = (by_pydantic(int), by_pydantic(float), by_pydantic(Level), IntegerField().clean)
TEXTS = (by_pydantic(str), by_pydantic(Kind), CharField().clean)
PLACES: dict[str, tuple[object, tuple[Cast, ...]]] = {
    "flag": (True, FLAGS),
    "number": (3, NUMBERS),
    "text": ("purge", TEXTS),
}
SPELLED = [
    *("true", "True", "TRUE", "t", "T", "yes", "y", "on", "1", "0", "false", "off", "no", "null", ""),
    *(" true", "true\n", "yes ", "ON", "tRuE", "\uff54rue", "1.0", "01"),
    *("3", " 3", "3 ", "+3", "03", "3.0", "3.", "3e0", "0x3", "0b11", "3_", "3 .0", "0_3", "3,0"),
    *("3\0", "4", "\uff13", "\u0663", "\u00a03", "\x1f3", "3\u2003", "-3", ".3", ".e3"),
    *("purge", "Purge", " purge", "purge ", "purge\0", "pur\u00adge", "purge\u200b", "purge,"),
    *("purge\t", "\ufeffpurge", "\x85purge", "preview", "p"),
]
TEXT = st.one_of(st.sampled_from(SPELLED), st.text("true3 0.e+purgyson\0\u00a0\t", max_size=6))
JSON_VALUES = st.one_of(
    TEXT,
    st.sampled_from([True, False, None, 0, 1, 3, 3.0, 2.9999, 4, -3, 1.0, [3], ["purge"], {}, {"purge": None}, [True]]),
)


@pytest.fixture(scope="module")
def ruleset(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    return rules(tmp_path_factory.mktemp("cast"), HEAD + POLICY)


def passes(ruleset: RuleSet, place: str, kind: str, body: str) -> bool:
    target = f"/{'form' if kind == FORM else 'json'}/{place}/7"
    asked = request("POST", target, ("Content-Type", kind), body=body)
    return name_of(ruleset.match(asked, NOBODY)) == "put"


def made(cast: Cast, value: object) -> object:
    """What it is to this one; nothing where it is refused."""
    try:
        return cast(value)
    except (ValueError, TypeError, ValidationError):
        return None


@pytest.mark.parametrize("place", PLACES)
@given(JSON_VALUES)
@settings(max_examples=150)
@example("yes")
@example("3.0")
@example("preview")
def test_no_member_is_cast_to_what_is_closed(ruleset: RuleSet, place: str, value: object) -> None:
    """By its type or another."""
    closed, casts = PLACES[place]

    if passes(ruleset, place, "application/json", json.dumps({"v": value})):
        assert [made(cast, value) == closed for cast in casts] == [False] * len(casts)


@pytest.mark.parametrize("place", PLACES)
@given(TEXT)
@settings(max_examples=150)
@example("on")
@example("\uff13")
@example("preview")
def test_no_field_is_cast_to_what_is_closed(ruleset: RuleSet, place: str, value: str) -> None:
    """All is text there."""
    closed, casts = PLACES[place]

    if passes(ruleset, place, FORM, f"v={quote(value, safe='')}"):
        assert [made(cast, value) == closed for cast in casts] == [False] * len(casts)


@pytest.mark.parametrize(("place", "value"), [("flag", False), ("number", 4), ("text", "preview")])
def test_another_value_passes(ruleset: RuleSet, place: str, value: object) -> None:
    """Else the drawn ones would show nothing."""
    assert passes(ruleset, place, "application/json", json.dumps({"v": value}))
    assert passes(ruleset, place, FORM, f"v={str(value).lower()}")
