"""A path's text is a rule's or a mount's own only as every server reads it."""

from pathlib import Path

import pytest

from gateway.core.caller import Caller
from gateway.core.decision import AMBIGUOUS_TARGET, Refused
from gateway.core.target import Target, read_target
from gateway.policy.lenient.literal import misspelled_literal
from gateway.policy.review.explain import explain
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import HEAD, name_of, request, rules

CALLER = Caller()
POLICY = """\
mount: {path: /api}
read_only:
  - match: POST /api/docs/search
writes:
  - {name: held, match: "PUT /api/docs/held", resource: held, when: {header: {x: a}}}
  - {name: doc, match: "PUT,POST /api/docs/{id}", resource: "doc/{path.id}"}
  - {name: send, match: "POST /api/mails:send", resource: mails}
  - {name: any, match: "POST /api/{kind}", resource: "any/{path.kind}"}
  - {name: files, match: "PUT /api/files/{rest...}", resource: "file/{path.rest}"}
  - {name: accent, match: "PUT /api/caf%C3%A9/a%20b/100%25/{id}", resource: "accent/{path.id}"}
  - {name: session, match: "GET /api/rooms/{id}", resource: "room/{path.id}", upgrade: websocket}
"""


@pytest.fixture(scope="module")
def ruleset(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    return rules(tmp_path_factory.mktemp("literal"), HEAD + POLICY)


@pytest.mark.parametrize(
    ("method", "target", "taken"),
    [
        ("POST", "/api/docs/search", "read"),
        ("POST", "/api/docs/%73earch", "ambiguous-target"),
        ("POST", "/api/docs/searc%68", "ambiguous-target"),
        ("POST", "/api/%64ocs/7", "ambiguous-target"),
        ("PUT", "/api/%64ocs/search", "ambiguous-target"),
        ("POST", "/%61pi/docs/7", "ambiguous-target"),
        ("POST", "/%61pi/docs/search", "ambiguous-target"),
        ("POST", "/api/mails:send", "send"),
        ("POST", "/api/mails%3Asend", "ambiguous-target"),
        ("POST", "/api/mails%3asend", "ambiguous-target"),
        ("PUT", "/api/%66iles/a", "ambiguous-target"),
        ("PUT", "/api/docs/%68eld", "doc"),
        ("PUT", "/api/docs/%37", "doc"),
        ("POST", "/api/mail%73", "any"),
        ("PUT", "/api/files/%61/b%3A/%64ocs", "files"),
        ("PUT", "/api/caf%C3%A9/a%20b/100%25/%37", "accent"),
        ("PUT", "/api/caf%c3%a9/a%20b/100%25/7", "ambiguous-target"),
        ("PUT", "/api/caf%C3%A9/%61%20b/100%25/7", "ambiguous-target"),
        ("PUT", "/api/caf%C3%A9/a%20b/%3100%25/7", "ambiguous-target"),
        ("PUT", "/api/%6Eothing/7", "no-policy"),
        ("PUT", "/%61pi/nothing/7", "ambiguous-target"),
        ("GET", "/api/docs/%73earch", "read"),
        ("GET", "/%61pi/docs/7", "ambiguous-target"),
    ],
)
def test_text_is_spelled_without_escapes_that_it_does_not_need(
    ruleset: RuleSet, method: str, target: str, taken: str
) -> None:
    """Express, Koa, Tornado and Rails compare paths as they come, Fastify and Hono do with a colon's escape: a search
    here would be a write there. In a placeholder each spelling is one resource; a read has no rule but its mount."""
    assert name_of(ruleset.match(request(method, target), CALLER)) == taken


def test_a_handshake_is_a_write_here(ruleset: RuleSet) -> None:
    """Its method makes no read of it."""
    upgrade = ("Upgrade", "websocket")

    assert name_of(ruleset.match(request("GET", "/api/rooms/%37", upgrade), CALLER)) == "session"
    assert name_of(ruleset.match(request("GET", "/api/%72ooms/7", upgrade), CALLER)) == "ambiguous-target"


def test_nobody_gets_a_lease_by_such_a_path(ruleset: RuleSet) -> None:
    """What would be refused as a write names no resource."""
    refused = ruleset.resolve_target("PUT", "/api/%64ocs/7", CALLER)

    assert isinstance(refused, Refused)
    assert refused.decision is AMBIGUOUS_TARGET
    assert not isinstance(ruleset.resolve_target("PUT", "/api/docs/%37", CALLER), Refused)


def test_the_refusal_says_what_to_send(ruleset: RuleSet) -> None:
    """In `explain` too, which asks as the data path does."""
    told = explain(ruleset, request("POST", "/api/docs/%73earch"), CALLER)

    assert told.answer.decision == "ambiguous-target"
    assert (told.answer.detail or "").endswith("Send `search`.")


def test_an_opaque_slash_is_its_escape() -> None:
    """It needs one, in upper case as RFC 3986, section 2.1, would have it."""
    plain, lower = read_target("/a%2Fb"), read_target("/a%2fb")

    assert isinstance(plain, Target) and isinstance(lower, Target)
    assert misspelled_literal(("a/b",), plain) is None
    assert misspelled_literal(("a/b",), lower) is not None
    assert misspelled_literal((None,), lower) is None


def test_a_plus_needs_its_escape_where_a_bare_one_is_refused() -> None:
    """Elsewhere it needs none, and the text is spelled without."""
    escaped = read_target("/a%2Bb")

    assert isinstance(escaped, Target)
    assert misspelled_literal(("a+b",), escaped, escapes_plus=True) is None
    assert misspelled_literal(("a+b",), escaped) is not None


def test_another_case_reads_nothing_that_is_denied(tmp_path: Path) -> None:
    """A server that tells no case would answer what the deeper mount keeps back."""
    root = "upstream: root\nurl: http://127.0.0.1:1\n"
    denied = "upstream: denied\nurl: http://127.0.0.1:1\nmount: {path: /admin/keys}\nreads: deny\n"
    shown = "upstream: shown\nurl: http://127.0.0.1:1\nmount: {path: /docs}\n"
    ruleset = rules(tmp_path, root, denied, shown)

    found = {target: name_of(ruleset.match(request("GET", target), CALLER)) for target in ("/Admin/KEYS/7", "/DOCS/7")}

    assert found == {"/Admin/KEYS/7": "ambiguous-target", "/DOCS/7": "read"}
    assert name_of(ruleset.match(request("GET", "/admin/keys/7"), CALLER)) == "reads-denied"
    assert name_of(ruleset.match(request("GET", "/admin/%6Beys/7"), CALLER)) == "ambiguous-target"
