"""One body in the forms that rules want, and what its type allows."""

from dataclasses import replace

import pytest

from gateway.core.decision import AMBIGUOUS_TARGET, Refused
from gateway.policy.reading.body import Body, BodyWanted
from gateway.policy.reading.jsonbody import JsonReader, Number, parse_pointer
from tests.policy.asking import request

FORM = "application/x-www-form-urlencoded"


def test_a_wrong_type_is_told_before_the_body_is_read() -> None:
    """A right one, or none, has to be followed by the body."""
    assert isinstance(Body(request("POST", "/", ("Content-Type", FORM))).lacking("json"), Refused)
    assert isinstance(Body(request("POST", "/", ("Content-Type", FORM))).lacking("form"), BodyWanted)
    assert isinstance(Body(request("POST", "/")).lacking("form"), BodyWanted)
    assert isinstance(Body(request("POST", "/")).lacking("json"), BodyWanted)


def test_each_form_is_read_by_its_own_rules() -> None:
    """Members of JSON, fields of a form, arguments of a GraphQL operation."""
    pointer = parse_pointer("/query")
    text = '{"query": "mutation { a(id: 7) }"}'
    json, form = Body(request("POST", "/", body=text)), Body(request("POST", "/", ("Content-Type", FORM), body="a=1"))

    assert json.find(pointer) == "mutation { a(id: 7) }"
    assert not json.has_operation
    assert str(json.operation()) == "mutation { a }"
    assert json.has_operation
    assert str(json.argument(("id",))) == "Number(spelled='7')"
    assert form.field("a") == "1"
    assert isinstance(form.operation(), Refused)
    assert isinstance(form.argument(("id",)), Refused)
    assert isinstance(Body(request("POST", "/", body="[")).operation(), Refused)


def test_a_form_is_counted_with_the_query_beside_it() -> None:
    """Whether a rule looks at the one or at the other, typed or not."""
    target, body = "/?" + "a&" * 998 + "r=7", "x=1&y=2"
    typed = Body(request("POST", target, ("Content-Type", FORM), body=body))
    untyped = Body(replace(request("POST", target), body=body.encode()))

    assert isinstance(typed.field("x"), Refused)
    assert isinstance(typed.parameter("r"), Refused)
    assert isinstance(untyped.parameter("r"), Refused)


@pytest.mark.parametrize(
    "member", ["_method", "_METHOD", "X-HTTP-Method-Override", "x-tunneled-method", "_me\\u200bthod"]
)
def test_no_member_at_the_top_makes_another_request_of_it(member: str) -> None:
    """Whatever a rule looks for there; further down it is a value, and so it is in an answer."""
    text = f'{{"a": 1, "{member}": "DELETE"}}'
    pointer = parse_pointer("/a")

    refused = Body(request("POST", "/", body=text)).find(pointer)

    assert isinstance(refused, Refused)
    assert refused.decision is AMBIGUOUS_TARGET
    assert "would make another request" in refused.detail
    assert Body(request("POST", "/", body=f'{{"a": 1, "b": {text}}}')).find(pointer) == Number("1")
    assert isinstance(Body(request("POST", "/", body=f"[{text}]")).json.value(), list)
    assert isinstance(JsonReader(text.encode()).value(), dict)
