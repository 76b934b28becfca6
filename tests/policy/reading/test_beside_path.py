"""What the path says of a name is not said in another way beside it."""

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
from tests.policy.asking import name_of, request, rules

POLICY = """\
upstream: {names}
url: http://127.0.0.1:9000
mount: {{path: /{names}, names: {names}}}
limits: {{body: 1MiB}}
read_only:
  - match: POST /{names}/docs/{{id}}/search
writes:
  - {{name: doc, match: "PUT,POST,DELETE /{names}/docs/{{id}}", resource: "doc/{{path.id}}", revision: gateway}}
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
        "docs/7?x=1;id=8",
        "docs/7?id[x=8",
        "docs/7?id%00=8",
        "docs/7/parts/a?part=b",
        "docs/7/parts/a?docId=8",
        "docs/7/parts/a?doc-id=8",
        "files/a/b?path=a/c",
    ],
)
def test_a_query_does_not_say_what_the_path_says(ruleset: RuleSet, names: str, target: str) -> None:
    """At any mount, in any spelling that some reader takes for the name."""
    assert told(ruleset, "PUT", f"/{names}/{target}").decision == "ambiguous-target"


@pytest.mark.parametrize("names", ["apart", "merged"])
@pytest.mark.parametrize(
    ("method", "target", "resource"),
    [
        ("PUT", "docs/7?id=7", "doc/7"),
        ("DELETE", "docs/7?ids=8&x=id", "doc/7"),
        ("PUT", "docs/7?part=8", "doc/7"),
        ("PUT", "docs/a%20b?id=a+b", "doc/a b"),
        ("PUT", "docs/7?", "doc/7"),
        ("PUT", "docs/7?&&=", "doc/7"),
        ("PUT", "docs/7?q=100%&r=a;b", "doc/7"),
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
        (JSON, '{"x": 1, "id": [7]}'),
        (JSON, '{"id": null}'),
        (JSON, '{"id": 7.0}'),
        (JSON, '{"id": "07"}'),
        (FORM, "id=8"),
        (FORM, "id"),
        (FORM, "id[]=8"),
        (FORM, "id=7&id=8"),
        (MULTIPART, parts("id")),
        (MULTIPART, parts("ID", "7")),
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
        (JSON, "{"),
        (FORM, "x=%zz"),
        ("multipart/form-data", parts("x")),
        (MULTIPART, "x"),
    ],
)
def test_a_body_that_cannot_be_read_is_refused_there(ruleset: RuleSet, kind: str, body: str) -> None:
    """As where a rule reads it: some server finds a name in it."""
    assert told(ruleset, "PUT", "/merged/docs/7", kind, body).decision == "ambiguous-target"
    assert told(ruleset, "POST", "/merged/docs", kind, body).decision == "forwarded"


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
        ("/merged/docs/7?id=8", "ambiguous-target"),
    ):
        assert name_of(ruleset.match(request("PUT", target, *typed), NOBODY)) == found
    assert name_of(ruleset.match(request("PUT", "/merged/docs/7"), NOBODY)) == "doc"
    assert name_of(ruleset.match(request("PUT", "/merged/docs/7", ("Content-Type", "text/plain")), NOBODY)) == (
        "ambiguous-target"
    )


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
    assert isinstance(ruleset.match(request("POST", "/merged/docs/7/search?id=8", body='{"id": 8}'), NOBODY), Read)


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
