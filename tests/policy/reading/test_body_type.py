"""What a request says of its body, and what a rule may then read it as."""

from dataclasses import replace

import pytest

from gateway.core.decision import AMBIGUOUS_TARGET, UNSUPPORTED_CODING, Refused
from gateway.core.request import Headers, Request
from gateway.core.rule import JSON_TYPES
from gateway.policy.reading.body_type import Kind, body_fault
from tests.policy.asking import request

FORM = "application/x-www-form-urlencoded"


def untyped(*headers: tuple[str, str], body: bytes) -> Request:
    """A request with these headers alone."""
    pairs = [(name.encode(), value.encode("latin-1")) for name, value in headers]
    return replace(request("POST", "/"), headers=Headers(pairs), body=body)


@pytest.mark.parametrize(
    ("types", "kind", "readable"),
    [
        ([], "json", False),
        ([""], "json", False),
        (["application/json"], "json", True),
        ([" application/json;charset=UTF-8"], "json", True),
        (['application/json;charset="Utf-8"'], "json", True),
        (["application/json ;charset=utf-8"], "json", False),
        ([f"{FORM} ; charset=utf-8"], "form", False),
        (['application/json; profile="http://a/b c"'], "json", False),
        (["application/json; version=1; charset=utf-8"], "json", False),
        ([f"{FORM}; a=+json"], "form", False),
        ([f'{FORM}; a="x/json"'], "form", False),
        ([f"{FORM}; boundary=a"], "form", False),
        *(
            ([f"{name}{tail}"], kind, False)
            for name, kind in (("application/json", "json"), (FORM, "form"))
            for tail in (
                *(";", " ;", "; ", ";;", "; ;", ";; charset=utf-8", "; charset=utf-8;", ";\tcharset=utf-8"),
                *("\t;charset=utf-8", "\t", ";  charset=utf-8", "  ;charset=utf-8", '; a="b\tc"', '; a=""', "; a="),
            )
        ),
        (["application/x+json"], "json", False),
        (["image/svg+json"], "json", False),
        ([f"{FORM}+json"], "json", False),
        (["application/json+json"], "json", False),
        (["text/json"], "json", False),
        (["application/json; charset=utf-16"], "json", False),
        (['application/json; x=1; charset="utf-7"'], "json", False),
        (["application/json; charset=utf-8; charset=utf-16"], "json", False),
        (["application/json; charset=utf8"], "json", False),
        (["application/json; charset='utf-8'"], "json", False),
        (["application/json; charset = utf-16"], "json", False),
        (["application/json; charset"], "json", False),
        (["application/json; charset*=utf-16''x"], "json", False),
        ([f"{FORM}; charset=utf-8; charset=utf-8"], "form", False),
        ([f"{FORM}; a=b; A=c"], "form", False),
        (["application/json; boundary=a"], "json", False),
        (["application/json; xboundary=a; boundary=b"], "json", False),
        (["application/json; boundary*0=a"], "json", False),
        (['application/json; x="boundary=a"'], "json", False),
        (["application/json; charset*0=utf-16"], "json", False),
        (["application/json; charset*=utf-8"], "json", False),
        (["application/json; a, multipart/form-data; boundary=b"], "json", False),
        (["application/json, multipart/form-data; boundary=b"], "json", False),
        (['application/json; a="x, text/plain"'], "json", False),
        (['application/json; a="x; charset=utf-16"'], "json", False),
        (['application/json; a="\\"; charset=utf-16; b="'], "json", False),
        (["application/json x"], "json", False),
        (["x/y/z+json"], "json", False),
        (["application/json; a=\xe4"], "json", False),
        (["application/json" + "; " * 20_000 + "("], "json", False),
        (["text/plain"], "json", False),
        (["application/json", "text/plain"], "json", False),
        (["application/json", "application/json"], "json", False),
        ([FORM], "json", False),
        (["application/graphql"], "json", False),
        ([FORM], "form", True),
        ([FORM + "; charset=utf-8"], "form", True),
        (["Application/json"], "json", False),
        (["application/JSON; charset=utf-8"], "json", False),
        (["application/json; Charset=utf-8"], "json", False),
        (["application/json; BOUNDARY=a"], "json", False),
        ([FORM.upper()], "form", False),
        (["application/x-www-form-URLencoded"], "form", False),
        ([FORM + "; charset=iso-8859-1"], "form", False),
        ([FORM + "; a, application/json"], "form", False),
        ([FORM, FORM], "form", False),
        ([], "form", False),
        (["application/json"], "form", False),
        (["multipart/form-data; boundary=b"], "form", False),
    ],
    ids=lambda value: repr(value)[:60],
)
def test_a_body_is_read_as_what_its_type_says(types: list[str], kind: Kind, readable: bool) -> None:
    """One plain type, in UTF-8; another type or charset, another parameter, or none, is `ambiguous-target`."""
    fault = body_fault(untyped(*(("Content-Type", one) for one in types), body=b"{}"), kind)

    assert fault is None if readable else isinstance(fault, Refused) and fault.decision is AMBIGUOUS_TARGET


@pytest.mark.parametrize(
    ("named", "readable"),
    [
        ("application/vnd.api+json", True),
        ("application/vnd.api+json; charset=utf-8", True),
        ("application/json", True),
        ("application/merge-patch+json", False),
        ("application/vnd.api+json;", False),
    ],
)
def test_an_upstream_may_read_further_types_as_json(named: str, readable: bool) -> None:
    """Those that its policy names, and no others that end so; what refuses one says where they are named."""
    types = JSON_TYPES | {b"application/vnd.api+json"}
    fault = body_fault(untyped(("Content-Type", named), body=b"{}"), "json", types)

    assert (fault is None) is readable
    assert fault is None or "`json_types`" in fault.detail


def test_an_empty_body_needs_no_type_where_json_is_read() -> None:
    """It has no members, whatever it is taken for."""
    assert body_fault(untyped(body=b""), "json") is None


@pytest.mark.parametrize("name", ["Content_Type", "content_encoding", "CONTENT_TYPE", "Content.Type"])
@pytest.mark.parametrize("kind", ["json", "form"])
def test_a_header_that_some_read_as_another_is_ambiguous(name: str, kind: Kind) -> None:
    """CGI and its heirs make no difference between an underscore, a dot and a dash."""
    kinds: dict[Kind, str] = {"json": "application/json", "form": FORM}
    fault = body_fault(untyped(("Content-Type", kinds[kind]), (name, "identity"), body=b"{}"), kind)

    assert fault is not None
    assert fault.decision is AMBIGUOUS_TARGET
    assert "with a dash" in fault.detail


@pytest.mark.parametrize(
    ("codings", "refused"),
    [
        ([], False),
        (["identity"], False),
        (["Identity,", ""], False),
        (["gzip"], True),
        (["identity, gzip"], True),
        (["identity", "deflate"], True),
        (["gzip", "gzip"], True),
        (["gzip", ""], True),
        (["GZIP"], True),
        (["x-gzip"], True),
        (["deflate"], True),
        (["br"], True),
    ],
)
def test_a_body_is_read_only_as_it_is_sent(codings: list[str], refused: bool) -> None:
    """A server that ignores the coding would find fields in the coded bytes, and no members in JSON. Those that undo
    one know it by its exact name; of forms no client has one."""
    fields = [("Content-Encoding", coding) for coding in codings]
    sent: dict[Kind, Request] = {
        "form": untyped(("Content-Type", FORM), *fields, body=b"a=1"),
        "json": untyped(("Content-Type", "application/json"), *fields, body=b"{}"),
    }
    for kind, one in sent.items():
        fault = body_fault(one, kind)

        assert (None if fault is None else fault.decision) is (UNSUPPORTED_CODING if refused else None)
        undone = body_fault(one, kind, undoes_codings=True)
        assert (undone is None) is (not refused or (kind == "json" and codings == ["gzip"]))
