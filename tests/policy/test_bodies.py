"""A closed list of the types of bodies that an API is sent: told by the headers, whatever rule takes the request."""

from pathlib import Path

import pytest

from gateway.core.caller import NOBODY
from gateway.core.decision import Refused
from gateway.core.rule import Mount
from gateway.policy.bodies import Bodies
from gateway.policy.match import Matched, NeedsBody
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import HEAD, name_of, request, rules

JSON, FORM, MULTIPART = b"application/json", b"application/x-www-form-urlencoded", b"multipart/form-data"
CSV = b"text/csv"
LENGTH, CHUNKED, CODED = ("Content-Length", "9"), ("Transfer-Encoding", "chunked"), ("Content-Encoding", "gzip")


def typed(*types: str) -> tuple[tuple[str, str], ...]:
    return tuple(("Content-Type", one) for one in types)


def decision(types: tuple[bytes, ...], *headers: tuple[str, str], body: bytes | None = None) -> str | None:
    sent = request("POST", "/x", *headers)
    found = Bodies(types).refusal(sent if body is None else type(sent)(sent.method, sent.target, sent.headers, body))
    return None if found is None else found.decision.name


@pytest.mark.parametrize(
    ("types", "sent", "refused"),
    [
        ((JSON,), typed("application/json"), None),
        ((JSON,), typed("application/json; charset=utf-8"), None),
        ((JSON,), typed("application/json;charset=UTF-8"), None),
        ((JSON, CSV), typed("text/csv"), None),
        ((CSV,), typed("text/csv; charset=utf-8"), None),
        ((FORM,), typed("application/x-www-form-urlencoded"), None),
        ((MULTIPART,), typed("multipart/form-data; boundary=x"), None),
        ((MULTIPART,), typed('multipart/form-data; boundary="x y"'), None),
        ((MULTIPART,), typed("multipart/form-data; boundary=x; charset=UTF-8"), None),
        ((MULTIPART,), typed("multipart/form-data; charset=utf-8; boundary=x"), None),
        ((MULTIPART,), typed('multipart/form-data;charset="UTF-8";boundary=x'), None),
        ((MULTIPART,), typed("multipart/form-data; charset=utf-16; boundary=x"), "ambiguous-target"),
        ((JSON,), (), "no-policy"),
        ((JSON,), typed("text/plain"), "no-policy"),
        ((JSON,), typed("application/x-www-form-urlencoded"), "no-policy"),
        ((JSON, FORM), typed("multipart/form-data; boundary=x"), "no-policy"),
        ((MULTIPART,), typed("multipart/mixed; boundary=x"), "no-policy"),
        ((JSON,), typed("application/json5"), "no-policy"),
        ((JSON,), typed("application/vnd.api+json"), "no-policy"),
        ((), typed("application/json"), "no-policy"),
        ((), (), "no-policy"),
        ((JSON,), typed("Application/JSON"), "ambiguous-target"),
        ((JSON,), typed("application/json", "multipart/form-data; boundary=x"), "ambiguous-target"),
        ((JSON,), typed("application/json", "application/json"), "ambiguous-target"),
        ((JSON,), typed("application/json, multipart/form-data"), "ambiguous-target"),
        ((JSON,), typed("application/json;"), "ambiguous-target"),
        ((JSON,), typed(""), "ambiguous-target"),
        ((JSON,), typed("application/json; boundary=x"), "ambiguous-target"),
        ((JSON,), typed("application/json; a=multipart"), "ambiguous-target"),
        ((JSON,), typed("application/json; charset=utf-16"), "ambiguous-target"),
        ((JSON,), (("Content_Type", "application/json"),), "ambiguous-target"),
        ((JSON,), (*typed("application/json"), ("Content_Type", "text/plain")), "ambiguous-target"),
        ((JSON,), (*typed("application/json"), ("Content.Encoding", "gzip")), "ambiguous-target"),
        ((JSON,), (*typed("application/json"), CODED), "unsupported-coding"),
        ((CSV,), (*typed("text/csv"), CODED), "unsupported-coding"),
        ((JSON,), (*typed("application/json"), ("Content-Encoding", "identity")), None),
        ((JSON,), (*typed("text/plain"), CODED), "no-policy"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("framed", [LENGTH, CHUNKED], ids=["with a length", "in chunks"])
def test_a_body_is_of_a_type_that_is_listed(
    types: tuple[bytes, ...], sent: tuple[tuple[str, str], ...], framed: tuple[str, str], refused: str | None
) -> None:
    """Spelled once and plainly: what some server could take for another type is in doubt, not unlisted."""
    assert decision(types, *sent, framed) == refused


@pytest.mark.parametrize(
    ("headers", "body"),
    [((), None), ((), b""), ((("Content-Length", "0"),), None), ((("Content-Length", "0"),), b""), ((CHUNKED,), b"")],
)
@pytest.mark.parametrize("sent", [(), typed("text/plain"), typed("a", "b")])
def test_what_brings_no_body_passes(
    sent: tuple[tuple[str, str], ...], headers: tuple[tuple[str, str], ...], body: bytes | None
) -> None:
    """Clients say a type of bodies that they do not send, as with a DELETE."""
    assert decision((), *sent, *headers, body=body) is None


@pytest.mark.parametrize(
    ("sent", "coding", "refused"),
    [
        ("application/json", "gzip", None),
        ("text/csv", "gzip", None),
        ("application/x-www-form-urlencoded", "gzip", "unsupported-coding"),
        ("multipart/form-data; boundary=x", "gzip", "unsupported-coding"),
        ("multipart/mixed; boundary=x", "gzip", "unsupported-coding"),
        *(("application/json", coding, "unsupported-coding") for coding in ("GZIP", "x-gzip", "deflate", "br")),
        *(("application/json", coding, "unsupported-coding") for coding in ("gzip, identity", "gzip,", ",gzip")),
    ],
)
def test_gzip_passes_where_the_api_undoes_it(sent: str, coding: str, refused: str | None) -> None:
    """In its plain spelling, which all undo who undo any; not of a form: in Node whoever takes parts apart reads the
    bytes as they came."""
    kinds = frozenset((JSON, FORM, MULTIPART, CSV, b"multipart/mixed"))
    bodies = Bodies.of(Mount(bodies=kinds, coded_bodies="undone"))

    assert bodies is not None
    found = bodies.refusal(request("POST", "/x", *typed(sent), ("Content-Encoding", coding), LENGTH))
    assert (None if found is None else found.decision.name) == refused
    assert found is None or "coded_bodies" not in found.detail


@pytest.mark.parametrize(
    ("types", "told"),
    [
        ((JSON,), "and this one is text/plain. Send it as `Content-Type: application/json`, or"),
        ((JSON, FORM), "as `Content-Type: application/json` or `application/x-www-form-urlencoded`, or"),
        ((), "Send none, or have the policy (`mount.bodies`) allow it first."),
    ],
)
def test_the_refusal_names_what_may_be_sent(types: tuple[bytes, ...], told: str) -> None:
    """And where it is listed."""
    found = Bodies(types).refusal(request("POST", "/x", *typed("text/plain"), LENGTH))

    assert isinstance(found, Refused) and told in found.detail


POLICY = """\
mount: {path: /, bodies: [json, application/pdf]}
json_types: [application/vnd.api+json]
read_only:
  - {match: POST /search}
closed:
  - {match: POST /docs/drop}
writes:
  - {name: write, match: "POST,DELETE /docs/{id}", resource: "doc/{path.id}"}
  - {name: kind, match: "PUT /docs/{id}", resource: "doc/{path.id}", when: {json: {/kind: a}}}
"""


@pytest.fixture(scope="module")
def ruleset(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    return rules(tmp_path_factory.mktemp("bodies"), HEAD + POLICY)


@pytest.mark.parametrize(
    ("line", "kind", "found"),
    [
        ("POST /docs/7", "application/json", "write"),
        ("POST /docs/7", "application/vnd.api+json", "write"),
        ("POST /docs/7", "application/pdf", "write"),
        ("POST /docs/7", "multipart/form-data; boundary=x", "no-policy"),
        ("DELETE /docs/7", "text/plain", "no-policy"),
        ("POST /search", "application/json", "read"),
        ("POST /search", "text/plain", "no-policy"),
        ("POST /docs/drop", "text/plain", "no-policy"),
        ("PUT /docs/7", "application/json", "needs body"),
        ("PUT /docs/7", "text/plain", "no-policy"),
        ("PATCH /unknown", "text/plain", "no-policy"),
    ],
)
def test_it_holds_for_every_entry(ruleset: RuleSet, line: str, kind: str, found: str) -> None:
    """Before a byte of the body is read."""
    sent = request(*line.split(), *typed(kind), LENGTH)

    assert name_of(ruleset.match(sent, NOBODY)) == found


def test_a_target_that_is_asked_about_has_no_body(ruleset: RuleSet) -> None:
    """A lease by target needs no type."""
    assert not isinstance(ruleset.resolve_target("POST", "/docs/7", NOBODY), Refused)


# A part's line of over 5,120 bytes: PHP cuts it there and takes what follows for a header of its own.
CUT = b"--B\r\nX: " + b"A" * 5117 + b'Content-Disposition: form-data; name="id"\r\n'
CUT += b'Content-Disposition: form-data; name="x"\r\n\r\n8\r\n--B--\r\n'


def test_an_api_of_json_is_sent_no_multipart_body_however_it_is_spelled(tmp_path: Path) -> None:
    """Nobody has to know how its server takes one apart: it is not even read."""
    policy = """\
mount: {{path: /, names: merged{bodies}}}
writes:
  - {{name: write, match: "POST /docs/{{id}}", resource: "doc/{{path.id}}", values: integer}}
"""
    kind = ("Content-Type", "multipart/form-data; boundary=B")
    length = ("Content-Length", str(len(CUT)))
    before, after = (tmp_path / name for name in ("any", "json"))
    before.mkdir()
    after.mkdir()

    any_body = rules(before, HEAD + policy.format(bodies="")).match(request("POST", "/docs/7", kind, length), NOBODY)
    listed = rules(after, HEAD + policy.format(bodies=", bodies: [json]"))

    assert isinstance(any_body, NeedsBody)
    assert name_of(listed.match(request("POST", "/docs/7", kind, length), NOBODY)) == "no-policy"
    assert name_of(listed.match(request("POST", "/docs/7", kind, body=CUT), NOBODY)) == "no-policy"
    assert isinstance(listed.match(request("POST", "/docs/7", body='{"id": 7}'), NOBODY), Matched)
