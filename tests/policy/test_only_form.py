"""A closed list of a form's fields: names are compared as they are spelled, decoded once, in either kind of form."""

from collections.abc import Callable
from urllib.parse import parse_qsl, quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core.caller import Caller
from gateway.core.decision import Refused
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import HEAD, name_of, request, rules

POLICY = """\
writes:
  - {name: form, match: "POST /f/{id}", resource: "f/{path.id}", only: {form: [title, "doc[owner]", "tags[]", a b]}}
  - {name: none, match: "POST /n/{id}", resource: "n/{path.id}", only: {form: []}}
  - {name: either, match: "POST /e/{id}", resource: "e/{path.id}", only: {form: [title], json: [/title]}}
  - {name: nothing, match: "POST /x/{id}", resource: "x/{path.id}", only: {form: [], json: []}}
  - {name: query, match: "POST /q/{id}", resource: "q/{path.id}", only: {form: [title], query: [page]}}
"""
FORM = "application/x-www-form-urlencoded"
JSON = "application/json"
PARTS = "multipart/form-data; boundary=b"


@pytest.fixture(scope="module")
def ruleset(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    return rules(tmp_path_factory.mktemp("only"), HEAD + POLICY)


def found(ruleset: RuleSet, target: str, kind: str | None, body: str | None) -> str:
    fields = () if kind is None else (("Content-Type", kind),)
    return name_of(ruleset.match(request("POST", target, *fields, body=body), Caller()))


def parts(*heads: str) -> str:
    """A multipart body with a part for each head behind `Content-Disposition: form-data`."""
    each = (f"--b\r\nContent-Disposition: form-data{head}\r\n\r\nx\r\n" for head in heads)
    return f"{''.join(each)}--b--\r\n"


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("title=a", "form"),
        ("title=a&title=b&", "form"),
        ("doc[owner]=8&doc%5Bowner%5D=9&tags[]=1&a+b=2&a%20b=3", "form"),
        ("%74itle=a", "form"),
        ("title", "form"),
        ("&&", "form"),
        ("=", "form"),
        ("Title=a", "no-policy"),
        ("title[]=a", "no-policy"),
        ("title=a&!title=b", "no-policy"),
        ("title=a&title%00=b", "no-policy"),
        ("title=a&=b", "no-policy"),
        ("title=a&%20=b", "no-policy"),
        ("title=a&owner", "no-policy"),
        ("doc=1", "no-policy"),
        ("doc.owner=8", "no-policy"),
        ("%2574itle=a", "no-policy"),
        ("title=a%26owner=8", "form"),
        ("title=a;owner=8", "ambiguous-target"),
        ("title=a&%zz=b", "ambiguous-target"),
        ("title=a&_method=DELETE", "ambiguous-target"),
        ("title=a&x[y=1", "ambiguous-target"),
        ('{"title": "a"}', "ambiguous-target"),
    ],
)
def test_a_form_has_no_field_but_those_listed(ruleset: RuleSet, body: str, told: str) -> None:
    """Once or more often. In another spelling it is another field; what is taken apart in two ways is ambiguous."""
    assert found(ruleset, "/f/7", FORM, body) == told


@pytest.mark.parametrize(
    "boundary",
    [
        *(
            "----WebKitFormBoundary7MA4YWxkTrZu0gW",
            "----geckoformboundary8b2f0c7a",
            "-" * 27 + "735323031399963166993862150",
        ),
        *("-" * 24 + "d74496d66958873e", "----formdata-undici-0123456789", "-" * 26 + "123456789012345678901234"),
        *(
            "d1c5a2e3f4b5968778695a4b3c2d1e0f",
            '"0f8fad5b-d9cb-469f-a165-70867728950e"',
            "alamofire.boundary.8f0a2c4e6b",
        ),
        *(
            "axios-1.21.1-boundary-Exu93E5k_a",
            "dart-http-boundary-a.B+c_dEfGhIjKl",
            "----RubyFormBoundaryAbCdEfGh",
            "X-INSOMNIA-BOUNDARY",
            "Boundary-8F0A",
        ),
    ],
)
def test_an_upload_of_a_common_client_passes(ruleset: RuleSet, boundary: str) -> None:
    """Browsers, curl, and what programs send files with draw boundaries of their own, some with the word in them."""
    sent = parts('; name="title"; filename="a.html"').replace("--b", "--" + boundary.strip('"'))

    assert found(ruleset, "/f/7", f"multipart/form-data; boundary={boundary}", sent) == "form"


@pytest.mark.parametrize(
    "kind",
    [
        *('multipart/form-data; boundary="b; boundary=c"', 'multipart/form-data; boundary="boundary=b"'),
        *("multipart/form-data; boundary=b; boundary*0=c", "multipart/form-data; boundary=b; xboundary=c"),
    ],
)
def test_a_second_boundary_is_refused(ruleset: RuleSet, kind: str) -> None:
    """Readers that look for the text, or join what is cut in pieces, take that one."""
    assert found(ruleset, "/f/7", kind, parts('; name="title"')) == "ambiguous-target"


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (parts('; name="title"'), "form"),
        (parts('; name="title"', '; name="doc[owner]"', '; name="tags[]"; filename="a.txt"'), "form"),
        (parts('; name="title"', '; name="owner"'), "no-policy"),
        (parts('; name="Title"'), "no-policy"),
        (parts('; name=""'), "ambiguous-target"),
        (parts('; name="t%69tle"'), "no-policy"),
        (parts('; name="title%20"'), "no-policy"),
        (parts('; name="title"; name="owner"'), "ambiguous-target"),
        (parts('; name="title"; owner="8"'), "ambiguous-target"),
        (parts("; name*=utf-8''title"), "ambiguous-target"),
        (parts(""), "ambiguous-target"),
        (parts('; name="_method"'), "ambiguous-target"),
        ("--b--\r\n", "form"),
        ("title=a", "ambiguous-target"),
    ],
)
def test_a_multipart_form_has_no_part_but_those_listed(ruleset: RuleSet, body: str, told: str) -> None:
    """A name with an escape in it is two names, as some undo it; what is not spelled as clients do cannot be judged."""
    assert found(ruleset, "/f/7", PARTS, body) == told


@pytest.mark.parametrize(
    ("kind", "body", "told"),
    [
        (None, None, "form"),
        (FORM, "", "form"),
        (PARTS, "", "form"),
        (FORM, None, "needs body"),
        (None, "title=a", "ambiguous-target"),
        (JSON, "{}", "ambiguous-target"),
        ("text/plain", "title=a", "ambiguous-target"),
        ("application/octet-stream", "title=a", "ambiguous-target"),
        (f"{FORM}; charset=utf-16", "title=a", "ambiguous-target"),
        (FORM.title(), "title=a", "ambiguous-target"),
        ("multipart/mixed; boundary=b", parts('; name="title"'), "ambiguous-target"),
        ("multipart/form-data", parts('; name="title"'), "ambiguous-target"),
    ],
)
def test_any_other_body_than_a_form_is_refused(ruleset: RuleSet, kind: str | None, body: str | None, told: str) -> None:
    """None at all says nothing."""
    assert found(ruleset, "/f/7", kind, body) == told


@pytest.mark.parametrize(
    ("target", "kind", "body", "told"),
    [
        ("/e/7", FORM, "title=a", "either"),
        ("/e/7", PARTS, parts('; name="title"'), "either"),
        ("/e/7", JSON, '{"title": "a"}', "either"),
        ("/e/7", None, None, "either"),
        ("/e/7", FORM, "owner=8", "no-policy"),
        ("/e/7", JSON, '{"owner": 8}', "no-policy"),
        ("/e/7", FORM, '{"title": "a"}', "ambiguous-target"),
        ("/e/7", JSON, "title=a", "ambiguous-target"),
        ("/e/7", f"{JSON}; a={FORM}", '{"title": "a"}', "ambiguous-target"),
        ("/e/7", f"{FORM}; a={JSON}", "title=a", "ambiguous-target"),
        ("/n/7", None, None, "none"),
        ("/n/7", FORM, "", "none"),
        ("/n/7", FORM, "&", "none"),
        ("/n/7", FORM, "title=a", "no-policy"),
        ("/n/7", JSON, "{}", "ambiguous-target"),
        ("/x/7", None, None, "nothing"),
        ("/x/7", JSON, "{}", "nothing"),
        ("/x/7", FORM, "&", "nothing"),
        ("/x/7", JSON, '{"a": 1}', "no-policy"),
        ("/x/7", FORM, "a=1", "no-policy"),
        ("/x/7", JSON, "[]", "no-policy"),
        ("/x/7", "text/plain", "a", "ambiguous-target"),
    ],
)
def test_a_body_is_one_of_the_kinds_that_are_listed(
    ruleset: RuleSet, target: str, kind: str | None, body: str | None, told: str
) -> None:
    """Where both are, its type says which; where both are empty, it says nothing: none, `{}` or an empty form."""
    assert found(ruleset, target, kind, body) == told


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ("/f/7?", "form"),
        ("/f/7?title=a", "no-policy"),
        ("/f/7?page=1", "no-policy"),
        ("/q/7?page=1", "query"),
        ("/q/7?title=a", "no-policy"),
    ],
)
def test_beside_a_form_a_query_is_listed_too(ruleset: RuleSet, target: str, told: str) -> None:
    """PHP, Rails and servlets take a field from the query as well."""
    assert found(ruleset, target, FORM, "title=a") == told


def test_the_refusal_names_the_field(ruleset: RuleSet) -> None:
    """Of a long name so much as is told."""
    refused = ruleset.match(request("POST", "/f/7", ("Content-Type", FORM), body="o" * 5000 + "=8"), Caller())

    assert isinstance(refused, Refused)
    assert "the form has 'oooo" in refused.detail
    assert len(refused.detail) < 300


LISTED = ("title", "doc[owner]", "tags[]", "a b")
NAMES = st.one_of(st.sampled_from(LISTED), st.text("titleTda b[].%&=;+\0\xe4\u212a_-", max_size=6))
SPELLED = st.sampled_from((quote_plus, quote, str, lambda name: "".join(f"%{byte:02x}" for byte in name.encode())))


@given(st.lists(st.tuples(NAMES, SPELLED, st.sampled_from(("", "=", "=x"))), max_size=5))
def test_another_reader_finds_no_field_but_those_listed(
    ruleset: RuleSet, fields: list[tuple[str, Callable[[str], str], str]]
) -> None:
    """Python's own, which keeps what others drop."""
    body = "&".join(spelled(name) + value for name, spelled, value in fields)

    if found(ruleset, "/f/7", FORM, body) == "form":
        assert {name for name, value in parse_qsl(body, keep_blank_values=True) if name or value} <= set(LISTED)
