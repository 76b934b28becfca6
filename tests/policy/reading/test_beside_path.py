"""What the path says of a name is not said in another way beside it."""

from pathlib import Path

import pytest

from gateway.core.caller import NOBODY
from gateway.core.decision import AMBIGUOUS_TARGET
from gateway.core.request import Headers, Request
from gateway.core.rule import Limits
from gateway.core.target import Target, read_target
from gateway.policy.match import NeedsBody, Read
from gateway.policy.review.answer import Answer, answer
from gateway.policy.review.explain import explain
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import HEAD, name_of, request, rules

POLICY = """\
upstream: {names}
url: http://127.0.0.1:9000
mount: {{path: /{names}, names: {names}}}
limits: {{body: 1MiB}}
read_only:
  - match: POST /{names}/docs/{{id}}/search
  - match: POST /{names}/docs/search
writes:
  - name: doc
    match: PUT,POST,DELETE /{names}/docs/{{id}}
    resource: doc/{{path.id}}
    values: any
    revision: gateway
  - {{name: part, match: "PUT /{names}/docs/{{doc_id}}/parts/{{part}}", resource: "part/{{path.doc_id}}"}}
  - {{name: file, match: "PUT /{names}/files/{{path...}}", resource: "file/{{path.path}}"}}
  - {{name: new, match: "POST /{names}/docs", resource: docs}}
  - {{name: room, match: "GET /{names}/rooms/{{id}}", upgrade: websocket, resource: "room/{{path.id}}"}}
"""
JSON, FORM, MULTIPART = "application/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=b"


def parts(name: str, value: str = "8") -> str:
    """A multipart form with one field."""
    return f'--b\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n--b--\r\n'


@pytest.fixture(scope="module")
def ruleset(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    """Frozen, and the same for all."""
    directory = tmp_path_factory.mktemp("beside-path")
    return rules(directory, POLICY.format(names="apart"), POLICY.format(names="merged"))


def told(ruleset: RuleSet, method: str, target: str, kind: str = "", body: str | None = None) -> Answer:
    """What is said of a request with a body of this type."""
    return answer(ruleset, request(method, target, *([("Content-Type", kind)] if kind else []), body=body), NOBODY)


@pytest.mark.parametrize("names", ["apart", "merged"])
@pytest.mark.parametrize(
    "target",
    [
        "docs/7?id=8",
        "docs/7?ID=8",
        "docs/7?id[]=8",
        "docs/7?[id]=8",
        "docs/7?i%64=8",
        "docs/7?id",
        "docs/7?id=",
        "docs/7?id=07",
        "docs/7?id=7&id=8",
        "docs/7?id=7&id=7",
        "docs/7?id[]=7",
        "docs/7?id[x]=7",
        "docs/7?[id]=7",
        "docs/7?id.x=7",
        "docs/7?ID=7",
        "docs/7?_id=7",
        "docs/7?!id=8",
        "docs/7?$id=8",
        "docs/7?id:int=8",
        "docs/7?id(1i)=8",
        "docs/7??id=8",
        "docs/7?%C4%B1d=7",
        "docs/7?x=1;id=8",
        "docs/7?%u0069d=8",
        "docs/7?x=1;%u0069d=8",
        "docs/7?id[x=8",
        "docs/7?id%00=8",
        "docs/7/parts/a?part=b",
        "docs/7/parts/a?docId=8",
        "docs/7/parts/a?doc-id=8",
        "docs/7/parts/a?docId=7",
        "files/a/b?path=a/c",
    ],
)
def test_a_query_does_not_say_what_the_path_says(ruleset: RuleSet, names: str, target: str) -> None:
    """At any mount; of another spelling of the name some readers make a list or a map, even of the same value."""
    assert told(ruleset, "PUT", f"/{names}/{target}").decision == "ambiguous-target"


@pytest.mark.parametrize("names", ["apart", "merged"])
@pytest.mark.parametrize(
    ("method", "target", "resource"),
    [
        ("PUT", "docs/7?id=7", "doc/7"),
        ("PUT", "docs/7?i%64=7", "doc/7"),
        ("DELETE", "docs/7?ids=8&x=id", "doc/7"),
        ("PUT", "docs/7?part=8", "doc/7"),
        ("PUT", "docs/a%20b?id=a+b", "doc/a b"),
        ("PUT", "docs/7?", "doc/7"),
        ("PUT", "docs/7?&&=", "doc/7"),
        ("PUT", "docs/7?q=100%&r=a;b", "doc/7"),
        ("PUT", "docs/7?q=%u0069d;6%", "doc/7"),
        ("PUT", "files/a/b?path=a/b", "file/a/b"),
        ("POST", "docs?id=8", "docs"),
    ],
)
def test_it_may_say_the_same_and_anything_else(
    ruleset: RuleSet, names: str, method: str, target: str, resource: str
) -> None:
    """Only names of the pattern that took the write are looked for."""
    said = told(ruleset, method, f"/{names}/{target}")

    assert (said.decision, said.resource) == ("forwarded", resource)


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (JSON, '{"id": 8}'),
        (JSON, '{"ID": "8"}'),
        (JSON, '{"id[]": 8}'),
        (JSON, '{"\u0131d": 8}'),
        (JSON, '{"\u0130d": 8}'),
        (JSON, '{"x": 1, "id": [7]}'),
        (JSON, '{"id": null}'),
        (JSON, '{"id": 7.0}'),
        (JSON, '{"id": "07"}'),
        (JSON, '{"id": 7, "Id": 8}'),
        (JSON, '{"i\\u0064": 8}'),
        (JSON, '{"!id": 8}'),
        (JSON, '{"id:int": 8}'),
        (JSON, '{"id(1i)": 8}'),
        (FORM, "ID=8"),
        (FORM, "id=7&Id=8"),
        (FORM, "id=8"),
        (FORM, "id"),
        (FORM, "id[]=8"),
        (FORM, "id=7&id=8"),
        (MULTIPART, parts("id")),
        (MULTIPART, parts("ID", "7")),
        (MULTIPART, parts("id[]")),
        (MULTIPART, parts("i d")),
        (MULTIPART, parts("!id")),
        (MULTIPART, parts("id:int")),
        (MULTIPART, parts("id(1i)")),
        (MULTIPART, parts("x").replace('name="x"', "name*=UTF-8''id")),
    ],
)
def test_a_body_does_not_either_where_names_are_merged(ruleset: RuleSet, kind: str, body: str) -> None:
    """WordPress and Echo take the body's value before the path's; elsewhere the two are apart."""
    assert told(ruleset, "POST", "/merged/docs/7", kind, body).decision == "ambiguous-target"
    assert told(ruleset, "POST", "/apart/docs/7", kind, body).decision == "forwarded"


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("", None),
        ("", ""),
        (JSON, ""),
        (JSON, '{"id": 7, "title": "x"}'),
        (JSON, '{"id": "7"}'),
        (JSON, '{"post": {"id": 8}}'),
        (JSON, '[{"id": 8}]'),
        (JSON, "null"),
        (FORM, "id=7&title=x"),
        (MULTIPART, parts("title", "8")),
        (MULTIPART, parts('title"; filename="id')),
    ],
)
def test_a_body_may_say_the_same_and_anything_else(ruleset: RuleSet, kind: str, body: str | None) -> None:
    """Names count at the top only, where such servers keep them."""
    said = told(ruleset, "POST", "/merged/docs/7", kind, body)

    assert (said.decision, said.resource) == ("forwarded", "doc/7")


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("text/plain", "x"),
        ("application/vnd.x+json", "{}"),
        ("application/json; charset=utf-16", "{}"),
        ("Application/JSON", "{}"),
        ("application/JSON", '{"id": 8}'),
        ("application/jsonx", '{"id": 8}'),
        ("application/json+x", '{"id": 8}'),
        ("application/xml", "<doc><id>8</id></doc>"),
        ("text/xml", "<doc><id>8</id></doc>"),
        ("application/x-www-form-urlencodedx", "id=8"),
        (JSON, '{"id": 7} {"id": 8}'),
        (JSON, "{"),
        (FORM, "x=%zz"),
        ("multipart/form-data", parts("x")),
        (MULTIPART, "x"),
    ],
)
def test_a_body_that_cannot_be_read_is_refused_there(ruleset: RuleSet, kind: str, body: str) -> None:
    """As where a rule reads it: some server finds a name in it, or another method."""
    for method, target in (("PUT", "docs/7"), ("POST", "docs"), ("POST", "docs/7/search"), ("POST", "docs/search")):
        assert told(ruleset, method, f"/merged/{target}", kind, body).decision == "ambiguous-target"
        assert told(ruleset, method, f"/apart/{target}", kind, body).decision in ("forwarded", "passed")


@pytest.mark.parametrize("target", ["docs/7", "docs", "docs/7/search", "docs/search"])
@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (JSON, '{"_method": "DELETE"}'),
        (JSON, '{"rest_route": "/docs/8"}'),
        (FORM, "_method=DELETE"),
        (FORM, "x=1&rest_route=/docs/8"),
        (MULTIPART, parts("_method", "DELETE")),
        (MULTIPART, parts("rest_route", "/docs/8")),
    ],
)
def test_no_body_makes_another_request_of_its_own_there(ruleset: RuleSet, target: str, kind: str, body: str) -> None:
    """Of a rule without placeholders neither, nor of what is said to change nothing: WordPress would write."""
    assert told(ruleset, "POST", f"/merged/{target}", kind, body).decision == "ambiguous-target"


@pytest.mark.parametrize(
    ("target", "kind", "body", "decision"),
    [
        ("docs/7/search", JSON, '{"id": 7}', "passed"),
        ("docs/7/search", JSON, '{"id": 8}', "ambiguous-target"),
        ("docs/7/search?id=8", JSON, "{}", "ambiguous-target"),
        ("docs/7/search?id[]=7", "", None, "ambiguous-target"),
        ("docs/7/search?id=7", "", None, "passed"),
        ("docs/search?id=8", FORM, "id=8", "passed"),
        ("docs", FORM, "id=8", "forwarded"),
    ],
)
def test_what_changes_nothing_is_read_there_too(
    ruleset: RuleSet, target: str, kind: str, body: str | None, decision: str
) -> None:
    """The entry's placeholders are names of the path like a rule's; other names are its own affair."""
    assert told(ruleset, "POST", f"/merged/{target}", kind, body).decision == decision


@pytest.mark.parametrize("method", ["PUT", "POST", "DELETE"])
def test_a_body_without_a_type_is_refused_there(ruleset: RuleSet, method: str) -> None:
    """Some read it as a form."""
    read = read_target("/merged/docs/7")
    assert isinstance(read, Target)

    assert name_of(ruleset.match(Request(method, read, Headers(()), b"id=8"), NOBODY)) == "ambiguous-target"


def test_a_body_is_asked_for_only_where_names_are_merged(ruleset: RuleSet) -> None:
    """And only if there is one, and the query has not decided already."""
    typed = ("Content-Type", JSON), ("Content-Length", "9")

    wanted = ruleset.match(request("PUT", "/merged/docs/7", *typed), NOBODY)
    assert isinstance(wanted, NeedsBody)
    assert wanted.matched is not None
    assert wanted.upstream.limits == Limits(body=1 << 20)
    for target, found in (
        ("/apart/docs/7", "doc"),
        ("/merged/docs", "no-policy"),
        ("/apart/docs/7/search", "no-policy"),
        ("/merged/docs/7?id=8", "ambiguous-target"),
    ):
        assert name_of(ruleset.match(request("PUT", target, *typed), NOBODY)) == found
    for target in ("/merged/docs", "/merged/docs/search"):
        wanted = ruleset.match(request("POST", target, *typed), NOBODY)
        assert isinstance(wanted, NeedsBody)
        assert (wanted.matched is None) == target.endswith("search")
    assert name_of(ruleset.match(request("PUT", "/merged/docs/7"), NOBODY)) == "doc"
    assert name_of(ruleset.match(request("PUT", "/merged/docs/7", ("Content-Type", "text/plain")), NOBODY)) == (
        "ambiguous-target"
    )


@pytest.mark.parametrize("kind", [JSON, ""])
def test_a_cookie_of_a_placeholders_name_is_refused_there(ruleset: RuleSet, kind: str) -> None:
    """PHP may keep it in the same map; where names are apart, a cookie is nobody's id."""
    cookie = ("Cookie", "sid=1; id=8")
    body = "{}" if kind else None

    for names, found in (("merged", "ambiguous-target"), ("apart", "forwarded")):
        asked = request("PUT", f"/{names}/docs/7", *([("Content-Type", kind)] if kind else []), cookie, body=body)
        assert answer(ruleset, asked, NOBODY).decision == found


def test_json_that_is_a_form_to_some_is_refused_there(ruleset: RuleSet) -> None:
    """Bottle reads any body as a form."""
    assert told(ruleset, "PUT", "/merged/docs/7", JSON, '{"a": "&id=8&b="}').decision == "ambiguous-target"
    assert told(ruleset, "PUT", "/merged/docs/7", JSON, '{"a": "&b=8"}').decision == "forwarded"
    assert told(ruleset, "PUT", "/apart/docs/7", JSON, '{"a": "&id=8&b="}').decision == "forwarded"


def test_but_where_the_policy_says_that_json_is_none(tmp_path: Path) -> None:
    """Its members are read as ever."""
    policy = POLICY.format(names="merged").replace("names: merged", "names: merged, form_in_json: opaque")
    opaque = rules(tmp_path, policy)

    assert told(opaque, "PUT", "/merged/docs/7", JSON, '{"a": "&id=8&b="}').decision == "forwarded"
    assert told(opaque, "PUT", "/merged/docs/7", JSON, '{"id": 8}').decision == "ambiguous-target"


@pytest.mark.parametrize(
    ("body", "decision"),
    [('{"slug": "secret"}', "ambiguous-target"), ('{"slug": "plan"}', "forwarded"), ('{"text": "x"}', "forwarded")],
)
def test_a_key_that_the_body_may_change_is_the_paths(tmp_path: Path, body: str, decision: str) -> None:
    """Django REST, where the key is writable, would make or overwrite another page."""
    rule = '{name: page, match: "PUT /pages/{slug}/", resource: "page/{path.slug}", values: lowercase}'
    pages = rules(tmp_path, f"{HEAD}mount: {{path: /pages, names: merged}}\nwrites: [{rule}]\n")

    assert told(pages, "PUT", "/pages/plan/", JSON, body).decision == decision


def test_a_session_is_judged_like_a_write(ruleset: RuleSet) -> None:
    """Its rule names a GET, and it holds the resource as long as it lasts."""
    asked = request("GET", "/apart/rooms/7?id=8", ("Upgrade", "websocket"), ("Connection", "Upgrade"))

    assert name_of(ruleset.match(asked, NOBODY)) == "ambiguous-target"


def test_reads_pass_and_count_nothing_of_another_resource(ruleset: RuleSet) -> None:
    """What the answer shows is document 8's, or document 7's: nobody can tell."""
    for query, counted in (("", "doc/7"), ("?id=7", "doc/7"), ("?id=8", None)):
        read = ruleset.match(request("GET", f"/merged/docs/7{query}"), NOBODY)
        assert isinstance(read, Read)
        assert read.counted == counted
    assert isinstance(ruleset.match(request("POST", "/apart/docs/7/search?id=8", body='{"id": 8}'), NOBODY), Read)


def test_no_lease_is_found_at_such_a_target(ruleset: RuleSet) -> None:
    """Its holder could not write with it; without a body the path says enough."""
    refused = ruleset.resolve_target("PUT", "/merged/docs/7?id=8", NOBODY)
    found = ruleset.resolve_target("PUT", "/merged/docs/7", NOBODY)

    assert getattr(refused, "decision", None) is AMBIGUOUS_TARGET
    assert isinstance(found, tuple)
    assert found[0] == "doc/7"


def test_explain_says_where_the_name_stands(ruleset: RuleSet) -> None:
    """And what to do."""
    by_query = str(explain(ruleset, request("PUT", "/apart/docs/7?id=8"), NOBODY))
    by_body = str(explain(ruleset, request("PUT", "/merged/docs/7", body='{"id": 8}'), NOBODY))

    assert "the query says it too" in by_query
    assert "the body says it too" in by_body
    assert "Send it in the path alone" in by_body
