"""Resources: filled, injective, and recognised again."""

import json
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core.caller import Caller
from gateway.core.decision import AMBIGUOUS_TARGET, HEADER_MALFORMED, RESOURCE_UNRESOLVED, Decision, Refused
from gateway.policy.escape import escaped
from gateway.policy.reading.body import Body
from gateway.policy.reading.hidden import hidden_in
from gateway.policy.template import Template, parse_template
from tests.policy.asking import request

ADA = Caller("ada", "north")


def template(text: str, *rests: str) -> Template:
    compiled = parse_template(text, frozenset(rests))
    assert isinstance(compiled, Template), compiled
    return compiled


def fill(text: str, *headers: tuple[str, str], target: str = "/", body: str = "", **path: str) -> str | Refused:
    asked = request("PUT", target, *headers, body=body)
    return template(text).fill(asked, path, ADA, Body(asked))


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("report/{path.id}", "report/7"),
        ("{tenant}/{principal}", "north/ada"),
        ("q/{query.v}", "q/a b+c%2F%25"),
        ("h/{header.x-doc}", "h/d1"),
        ("k/{header.idempotency-key}", "k/a%2Fb"),
        ("j/{json:/id}", "j/9007199254740991"),
        ("j/{json:/name}", "j/\u00e4 b"),
        ("j/{json:/list/0}", "j/first"),
        ("fixed", "fixed"),
    ],
)
def test_a_part_is_filled_from_its_place(text: str, filled: str) -> None:
    """Path, query, header, body, principal and tenant; numbers as spelled; slash and percent sign are escaped."""
    body = '{"id": 9007199254740991, "name": "\u00e4 b", "list": ["first"]}'

    headers = [("X-Doc", "d1"), ("Idempotency-Key", '"a/b"')]

    assert fill(text, *headers, target="/x?v=a%20b%2Bc%2F%25", body=body, id="7") == filled


@pytest.mark.parametrize(
    ("text", "decision"),
    [
        ("{query.none}", RESOURCE_UNRESOLVED),
        ("{query.empty}", RESOURCE_UNRESOLVED),
        ("{query.twice}", AMBIGUOUS_TARGET),
        ("{query.bytes}", RESOURCE_UNRESOLVED),
        ("{header.none}", RESOURCE_UNRESOLVED),
        ("{header.empty}", RESOURCE_UNRESOLVED),
        ("{header.twice}", AMBIGUOUS_TARGET),
        ("{header.x-under}", AMBIGUOUS_TARGET),
        ("{header.hop}", AMBIGUOUS_TARGET),
        ("{header.bytes}", RESOURCE_UNRESOLVED),
        ("{header.idempotency-key}", HEADER_MALFORMED),
        ("{json:/none}", RESOURCE_UNRESOLVED),
        ("{json:/null}", RESOURCE_UNRESOLVED),
        ("{json:/true}", RESOURCE_UNRESOLVED),
        ("{json:/empty}", RESOURCE_UNRESOLVED),
        ("{json:/object}", RESOURCE_UNRESOLVED),
        ("{json:/list}", RESOURCE_UNRESOLVED),
        ("{json:/exponent}", RESOURCE_UNRESOLVED),
        ("{json:/zeros}", RESOURCE_UNRESOLVED),
        ("{json:/minus}", RESOURCE_UNRESOLVED),
        ("{json:/rounded}", RESOURCE_UNRESOLVED),
        ("{json:/close}", RESOURCE_UNRESOLVED),
        ("{query.cut}", AMBIGUOUS_TARGET),
        ("{json:/twins/0/id}", AMBIGUOUS_TARGET),
        ("{json:/long}", RESOURCE_UNRESOLVED),
    ],
)
def test_a_part_that_is_missing_or_double_has_no_resource(text: str, decision: Decision) -> None:
    """There is never a resource named `None`, and never the first of two values."""
    body = (
        '{"null": null, "true": true, "empty": "", "object": {}, "list": ["x"], "exponent": 7e0, "zeros": 7.0, '
        '"rounded": 9007199254740993, "close": 7.00000000000000000001, "twins": [{"id": "a", "ID": "b"}], '
        f'"minus": -0, "long": "{"x" * 513}"}}'
    )
    headers = [
        ("Empty", ""),
        ("Twice", "a"),
        ("twice", "a"),
        ("X-Under", "a"),
        ("X_Under", "b"),
        ("Connection", "close, Hop"),
        ("Hop", "a"),
        ("Bytes", "\xff"),
        ("Idempotency-Key", "a b"),
    ]

    answer = fill(text, *headers, target="/x?empty=&twice=1&twice=1&bytes=%FF&cut=1&cut%00x=2", body=body)

    assert isinstance(answer, Refused)
    assert answer.decision is decision


@pytest.mark.parametrize(
    "query", ["a_b=1;a_b=2", "a_b=1&a[b=2", "a_b=1&a%5Bb=2", "a_b=1&a_b%E2%80%8B=2", "a_b=1&a_b%CD%8F=2"]
)
def test_a_query_that_some_take_apart_in_another_way_is_ambiguous(query: str) -> None:
    """Some readers split at a semicolon, and PHP reads an open bracket as an underscore; a rule reads neither."""
    answer = fill("{query.a_b}", target=f"/x?{query}")

    assert isinstance(answer, Refused)
    assert answer.decision is AMBIGUOUS_TARGET


def test_the_refusal_names_the_part() -> None:
    """An agent can mend a request only if it is told what is missing, in other words than a policy's."""
    answer = fill("report/{json:/report/id}", body='{"report": {}}')

    assert isinstance(answer, Refused)
    assert "`/report/id` of the JSON body, a part of the resource's name, is missing" in answer.detail


def test_the_longest_name_is_512_characters() -> None:
    """One character more is `resource-unresolved`."""
    assert fill("x/{path.id}", id="a" * 510) == "x/" + "a" * 510
    assert isinstance(fill("x/{path.id}", id="a" * 511), Refused)


def test_the_rest_of_a_path_keeps_its_slashes() -> None:
    """Slashes between segments stay; one inside a segment was escaped when the path was taken apart."""
    compiled = template("file/{path.rest}", "rest")

    asked = request("PUT", "/")
    filled = compiled.fill(asked, {"rest": "a/b%2Fc"}, ADA, Body(asked))

    assert filled == "file/a/b%2Fc"
    assert compiled.matches("file/a/b%2Fc", ADA)
    assert not compiled.matches("file/a//b", ADA)


@pytest.mark.parametrize(
    ("text", "resource", "matches"),
    [
        ("report/{path.id}", "report/7", True),
        ("report/{path.id}", "report/", False),
        ("report/{path.id}", "report/7/8", False),
        ("report/{path.id}", "report/%2F", True),
        ("report/{path.id}", "report/%2f", False),
        ("report/{path.id}", "report/%41", False),
        ("report/{path.id}", "report/%FF", False),
        ("report/{path.id}", "report/a\nb", False),
        ("report/{path.id}", "reports/7", False),
        ("{path.a}-{path.b}", "x-y", True),
        ("{path.a}-{path.b}", "x%2Dz-y", True),
        ("{path.a}-{path.b}", "xy", False),
        ("{path.a}:x", "7:x", True),
        ("{path.a}:x", "7:xx", False),
        ("{tenant}/{path.id}", "north/7", True),
        ("{tenant}/{path.id}", "south/7", False),
        ("{principal}/{path.id}", "eve/7", False),
        ("report/{path.id}", "report/" + "7" * 506, False),
    ],
)
def test_a_template_knows_the_resources_that_it_can_make(text: str, resource: str, matches: bool) -> None:
    """What no request could fill it to is not its resource: other spellings, other tenants, longer names."""
    assert template(text).matches(resource, ADA) is matches


@pytest.mark.parametrize("hidden", ["%00", "%00x", "%0A", "%20", "%7F", "%C2%85", "%E2%80%8B", "%EF%BB%BF", "%C2%A0"])
def test_what_some_readers_see_and_others_do_not_is_ambiguous(hidden: str) -> None:
    """Query, header, JSON and key alike; such a resource is none that a lease could be taken of."""
    value = unquote(f"7{hidden}")
    fills = [
        fill("x/{query.v}", target=f"/?v=7{hidden}"),
        fill("x/{json:/v}", body=json.dumps({"v": value})),
        fill("x/{path.v}", v=value),
    ]

    assert [one.decision for one in fills if isinstance(one, Refused)] == [AMBIGUOUS_TARGET] * 3
    assert not template("x/{query.v}").matches(f"x/{escaped(value)}", ADA)
    assert not template("x/{path.v}", "v").matches(f"x/a/{escaped(value)}", ADA)


def test_a_template_knows_the_resources_that_anybody_can_make() -> None:
    """Whatever the tenant, but a tenant's name all the same."""
    assert template("{tenant}/{path.id}").matches("south/7", None)
    assert not template("{tenant}/{path.id}").matches("/7", None)


VALUES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8).filter(
    lambda value: hidden_in(value) is None
)


@given(st.lists(VALUES, min_size=2, max_size=2), st.lists(VALUES, min_size=2, max_size=2))
def test_two_writes_share_a_resource_only_if_their_values_are_equal(one: list[str], other: list[str]) -> None:
    """Filling is injective, whatever stands in the values, and what was filled is recognised."""
    text = "{path.a}-{path.b}:end"

    names = [fill(text, a=values[0], b=values[1]) for values in (one, other)]

    assert (names[0] == names[1]) == (one == other)
    assert all(isinstance(name, str) and template(text).matches(name, ADA) for name in names)


def test_a_template_says_what_it_reads() -> None:
    """The body is read only where a part needs it; a read's resource is told by path and query alone."""
    assert template("{json:/a}").reads == "json"
    assert template("{path.a}/{query.b}").reads is None
    assert template("{path.a}/{query.b}").reads_only_target
    assert not template("{tenant}/{path.a}").reads_only_target
