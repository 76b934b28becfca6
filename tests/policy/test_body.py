"""One body in the forms that rules want, and what its type allows."""

import pytest

from gateway.core.decision import AMBIGUOUS_TARGET, Refused
from gateway.policy.body import Body, BodyWanted, Kind
from gateway.policy.jsonbody import parse_pointer
from tests.policy.asking import request

FORM = "application/x-www-form-urlencoded"


@pytest.mark.parametrize(
    ("types", "kind", "readable"),
    [
        ([], "json", True),
        (["application/json"], "json", True),
        (["Application/LD+JSON; charset=UTF-8"], "json", True),
        (["application/json; charset=utf-16"], "json", False),
        (['application/json; x=1; charset="utf-7"'], "json", False),
        (["text/plain"], "json", False),
        (["application/json", "text/plain"], "json", False),
        ([FORM], "json", False),
        (["application/graphql"], "json", False),
        ([FORM], "form", True),
        ([FORM.upper() + "; charset=utf-8"], "form", True),
        ([FORM + "; charset=iso-8859-1"], "form", False),
        ([FORM, FORM], "form", False),
        ([], "form", False),
        (["application/json"], "form", False),
        (["multipart/form-data; boundary=b"], "form", False),
    ],
)
def test_a_body_is_read_as_what_its_type_says(types: list[str], kind: Kind, readable: bool) -> None:
    """Another type, or another coding of text, is `ambiguous-target`. Without a type it is JSON and no form."""
    headers = [("Content-Type", one) for one in types]
    lacking = Body(request("POST", "/", *headers, body="")).lacking(kind)

    assert lacking is None if readable else isinstance(lacking, Refused) and lacking.decision is AMBIGUOUS_TARGET


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

    assert json.find(pointer) == "mutation { a(id: 7) }"  # type: ignore[arg-type]
    assert not json.has_operation
    assert str(json.operation()) == "mutation { a }"
    assert json.has_operation
    assert str(json.argument(("id",))) == "Number(spelled='7')"
    assert form.field("a") == "1"
    assert isinstance(form.operation(), Refused)
    assert isinstance(form.argument(("id",)), Refused)
    assert isinstance(Body(request("POST", "/", body="[")).operation(), Refused)
