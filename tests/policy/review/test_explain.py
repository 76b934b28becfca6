"""The trail of a match is the match's own."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.core.caller import Caller
from gateway.core.decision import Refused
from gateway.core.intent import Intent
from gateway.policy.match import Matched, NeedsBody, Read
from gateway.policy.review.answer import form_fault
from gateway.policy.review.explain import explain
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import HEAD, request, rules

CALLER = Caller()

POLICY = """\
mount: {path: /x}
read_only:
  - match: POST /x/search
writes:
  - {name: one, match: "PUT /x/{id}", resource: "x/{path.id}"}
  - {name: body, match: "PUT /x/{id}", resource: "x/{path.id}", when: {json: {/kind: body}}}
  - {name: fixed, match: "PUT /x/a", resource: "x/{query.v}"}
  - {name: keyed, match: "PATCH /x/{id}", resource: "x/{path.id}", intent: {mode: required, fingerprint: [/a]}}
  - {name: gone, match: "DELETE /x/{id}", resource: "x/{path.id}", when: {header: {force: '1'}}}
"""


@pytest.fixture
def ruleset(tmp_path: Path) -> RuleSet:
    return rules(tmp_path, HEAD + POLICY)


def test_each_rule_says_why_it_did_not_match(ruleset: RuleSet) -> None:
    """The rule that takes the request is marked, every other one of the upstream has its reason."""
    explanation = explain(ruleset, request("PUT", "/x/7", body="{}"), CALLER)

    assert (explanation.answer.decision, explanation.answer.rule, explanation.answer.resource) == (
        "forwarded",
        "one",
        "x/7",
    )
    assert {one.entry: one.why for one in explanation.considered} == {
        "rule one": "takes this request",
        "rule body": "wants another value of json /kind",
        "rule fixed": "has another path",
        "rule keyed": "does not take PUT here",
        "rule gone": "does not take PUT here",
        "read_only": "has another path",
    }
    assert [one.entry for one in explanation.considered if one.taken] == ["rule one"]


def test_it_says_which_bodies_are_sent(tmp_path: Path) -> None:
    """Where the mount lists them. One of another type is refused, whichever entry would take it."""
    listed = rules(tmp_path, HEAD + POLICY.replace("path: /x", "path: /x, bodies: [json, text/csv]"))

    explanation = explain(listed, request("PUT", "/x/7", ("Content-Type", "text/plain"), body="{}"), CALLER)

    assert explanation.answer.decision == "no-policy"
    assert explanation.bodies == ("application/json", "text/csv")
    assert "  bodies     application/json, text/csv\n" in str(explanation)
    assert "  see        policies/README.md#the-mount\n" in str(explanation)
    assert not any(one.taken for one in explanation.considered)


def test_it_says_of_which_entry_a_request_says_too_much(tmp_path: Path) -> None:
    """The detail says what; the entry that would have taken it says that its list is why."""
    policy = (
        "read_only:\n  - {match: POST /x, when: {query: {dry: '1'}}, only: {query: [dry]}}\n"
        "writes:\n  - {name: one, match: POST /x, resource: x}\n"
    )
    explanation = explain(rules(tmp_path, HEAD + policy), request("POST", "/x?dry=1&job.x=1"), CALLER)

    assert explanation.answer.decision == "no-policy"
    assert explanation.answer.detail is not None
    assert "the query has 'job.x', which the policy does not list" in explanation.answer.detail
    assert {one.entry: (one.why, one.taken) for one in explanation.considered} == {
        "read_only": ("would take it, but the request says something that `only` does not list: see the detail", False),
        "rule one": ("would take it, but the request itself is refused: see the detail", False),
    }


def test_it_says_which_values_may_stand_where_another_one_does(tmp_path: Path) -> None:
    """Of what is listed with them, and of what names the resource."""
    policy = "writes:\n  - {name: one, match: 'POST /x/{tag}', resource: 'x/{path.tag}', values: [red], only: ONLY}\n"
    listed = rules(tmp_path, HEAD + policy.replace("ONLY", "{query: [{mode: [soft]}]}"))
    said = explain(listed, request("POST", "/x/red?mode=hard"), CALLER)
    named = explain(listed, request("POST", "/x/RED"), CALLER)

    assert (said.answer.decision, named.answer.decision) == ("no-policy", "ambiguous-target")
    assert "'mode' of the query is none of `soft`, which the policy lists" in (said.answer.detail or "")
    assert [one.why for one in said.considered] == [
        "would take it, but the request says something that `only` does not list: see the detail"
    ]
    assert "`tag` of the path, a part of the resource's name, is none of `red`" in (named.answer.detail or "")
    assert named.answer.see == "policies/README.md#what-ids-look-like"


def test_it_says_which_entry_lists_what_a_body_may_say(tmp_path: Path) -> None:
    """It is read for that, and not given."""
    policy = "read_only:\n  - {match: POST /x, only: {json: [/a]}}\nwrites: []\n"
    asked = request("POST", "/x", ("Content-Type", "application/json"))
    explanation = explain(rules(tmp_path, HEAD + policy), asked, CALLER)

    assert explanation.answer.decision == "body-needed"
    assert [one.why for one in explanation.considered] == ["reads the body, which was not given"]


def test_it_shows_how_claims_are_verified(tmp_path: Path) -> None:
    """The algorithms, whose keys and for which audience; a secret is not shown."""
    secret = "0123456789abcdef0123456789abcdef"
    terms = f"{{keys: {{secret: {secret}}}, algorithms: HS256, audience: fence}}"
    claimed = f"writes: [{{name: one, match: 'PUT /x', resource: x, authority: {{signed: {terms}}}}}]\n"

    explanation = explain(rules(tmp_path, HEAD + claimed), request("PUT", "/x"), CALLER)

    assert explanation.answer.authority == "signed"
    assert "claims     HS256 with a shared secret, for fence" in str(explanation)
    assert secret not in repr(explanation)


def test_a_rule_of_graphql_says_what_it_wants_and_what_came(tmp_path: Path) -> None:
    """By type and root fields; a form's field is named as other conditions are."""
    policy = (
        "writes:\n"
        "  - {name: some, match: POST /x, resource: x, when: {graphql: {mutation: [b, a], query: [c]}}}\n"
        "  - {name: form, match: POST /y, resource: y, when: {form: {kind: note}}}\n"
    )
    ruleset = rules(tmp_path, HEAD + policy)
    form = ("Content-Type", "application/x-www-form-urlencoded")

    mutation = explain(ruleset, request("POST", "/x", body='{"query": "mutation { a z }"}'), CALLER)
    field = explain(ruleset, request("POST", "/y", form, body="kind=mail"), CALLER)

    assert mutation.considered[0].why == "wants mutation a, mutation b, query c, and this is mutation { a, z }"
    assert field.considered[1].why == "wants another value of form kind"


def test_a_general_rule_names_the_one_that_beats_it(ruleset: RuleSet) -> None:
    """What would match but is less specific says so."""
    explanation = explain(ruleset, request("PUT", "/x/a?v=1", body="{}"), CALLER)

    assert explanation.considered[0].why == "would take it, but rule fixed is more specific"


@pytest.mark.parametrize(
    ("method", "target", "body", "decision"),
    [
        ("PUT", "/x/7", None, "body-needed"),
        ("PUT", "/x/a", "", "resource-unresolved"),
        ("PUT", "/x/a%2Fb", "", "ambiguous-target"),
        ("PUT", "/x/7", '{"a": 1, "a": 2}', "ambiguous-target"),
        ("DELETE", "/x/7", "", "no-policy"),
        ("PATCH", "/x/7", "{}", "idempotency-key-required"),
        ("GET", "/x/7", None, "passed"),
        ("POST", "/x/search", None, "passed"),
        ("PUT", "/y", None, "no-upstream"),
    ],
)
def test_the_decision_stands_first_in_the_text(
    ruleset: RuleSet, method: str, target: str, body: str | None, decision: str
) -> None:
    """A person reads the decision, then the trail; a program reads the same as JSON."""
    explanation = explain(ruleset, request(method, target, body=body), CALLER)

    assert str(explanation).splitlines()[0] == f"{method} {target}: {decision}"
    assert json.loads(json.dumps(asdict(explanation)))["answer"]["decision"] == decision


@pytest.mark.parametrize(
    ("key", "body", "decision", "shown"),
    [
        ("k-1", '{"a": 1}', "forwarded", "k-1"),
        ('"k-1"', '{"a": 1}', "forwarded", "k-1"),
        ("k-1", "a=1", "ambiguous-target", "k-1"),
        ("k-1", None, "body-needed", None),
        ("k 1", '{"a": 1}', "header-malformed", None),
        (None, '{"a": 1}', "idempotency-key-required", None),
    ],
)
def test_the_intent_key_is_shown(
    ruleset: RuleSet, key: str | None, body: str | None, decision: str, shown: str | None
) -> None:
    """And why there is none; the rule is marked in any case."""
    asked = request("PATCH", "/x/7", *([("Idempotency-Key", key)] if key else []), body=body)

    explanation = explain(ruleset, asked, CALLER)

    assert (explanation.answer.decision, explanation.answer.intent_key) == (decision, shown)
    assert (f"  intent key {shown}" in str(explanation)) is (shown is not None)
    assert [one.entry for one in explanation.considered if one.taken] == ["rule keyed"]


@pytest.mark.parametrize(
    ("method", "header", "decision"),
    [
        ("GET", ("X-HTTP-Method", "PUT"), "ambiguous-target"),
        ("PUT", ("X.HTTP-Method-Override", "DELETE"), "ambiguous-target"),
        ("PUT", ("Connection", "content-type"), "bad-request"),
        ("PUT", ("Transfer-Encoding", "gzip, chunked"), "bad-request"),
        ("GET", ("Content-Length", "3"), "bad-request"),
        ("TRACE", ("X", "1"), "bad-request"),
        ("PUT", ("Fencing-Holder", ""), "token-malformed"),
        ("PUT", ("Fencing-Sequence", "01"), "header-malformed"),
    ],
    ids=[
        *("an override of a read", "an override with a dot", "a type taken away", "a coding", "a read with a body"),
        *("a method", "a holder", "a sequence"),
    ],
)
def test_a_request_of_the_wrong_form_comes_before_no_rule(
    ruleset: RuleSet, method: str, header: tuple[str, str], decision: str
) -> None:
    """As in the data path: nothing is matched, and the detail says what to mend."""
    told = explain(ruleset, request(method, "/x/7", header), CALLER)

    assert (told.answer.decision, told.answer.upstream, told.answer.rule) == (decision, "api", None)
    assert told.answer.detail
    assert told.considered == ()


def test_a_token_in_the_url_comes_before_no_rule(ruleset: RuleSet) -> None:
    """As in the data path."""
    token = "42.abcdefghijklmnopqrst-_"

    told = explain(ruleset, request("PUT", f"/x/7?t={token}", ("Fencing-Token", token)), CALLER)

    assert (told.answer.decision, told.considered) == ("token-malformed", ())


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(["PUT", "PATCH", "DELETE", "POST", "GET", "put"]),
    st.sampled_from(["/x/7", "/x/a", "/x/a?v=1", "/x/search", "/x/", "/x", "/y", "/x/a%2Fb"]),
    st.sampled_from([None, "", "{}", '{"kind": "body"}', "{", '{"kind": 1, "kind": 2}']),
    st.booleans(),
    st.sampled_from([None, "k", "k k"]),
)
def test_the_trail_and_the_data_path_agree(
    ruleset: RuleSet, method: str, target: str, body: str | None, force: bool, key: str | None
) -> None:
    """Whatever is asked, the explained rule is the one that takes the write."""
    headers = [*([("Force", "1")] if force else []), *([("Idempotency-Key", key)] if key else [])]
    asked = request(method, target, *headers, body=body)

    told = explain(ruleset, asked, CALLER)

    malformed = form_fault(asked)
    if malformed is not None:
        assert told.answer.decision == malformed.decision.name
        assert told.considered == ()
        return
    match ruleset.match(asked, CALLER):
        case Matched() as found:
            resource = ruleset.resolve(found, asked, CALLER)
            assert told.answer.rule == found.entry.rule.name
            assert told.answer.resource == (None if isinstance(resource, Refused) else resource)
            intent = None if isinstance(resource, Refused) else ruleset.intent_of(found, asked, CALLER, resource)
            assert told.answer.intent_key == (intent.key if isinstance(intent, Intent) else None)
            assert [one.entry for one in told.considered if one.taken] == [found.entry.label]
        case Read(_, counted):
            assert (told.answer.decision, told.answer.resource) == ("passed", counted)
        case NeedsBody():
            assert told.answer.decision == "body-needed"
        case Refused(decision):
            assert told.answer.decision == decision.name
            assert not any(one.taken for one in told.considered)


def test_a_message_of_the_protocol_passes_without_a_rule(tmp_path: Path) -> None:
    """It says so; the rules were not asked. A tool's call shows which condition each of them wants."""
    rule = "  - {name: a, match: POST /mcp, when: {tool: a}, resource: x}\n"
    ruleset = rules(tmp_path, HEAD + "protocol: mcp\nmount: {path: /mcp}\nwrites:\n" + rule)
    listed = request("POST", "/mcp", body='{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}')
    called = request(
        "POST", "/mcp", body='{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "b"}}'
    )

    passed, refused = explain(ruleset, listed, CALLER), explain(ruleset, called, CALLER)

    assert (passed.answer.decision, passed.considered) == ("passed", ())
    assert passed.answer.detail == "The protocol's own: it writes nothing, and no rule is asked."
    assert refused.answer.decision == "no-policy"
    assert [one.why for one in refused.considered] == ["wants another value of json /params/name"]


def test_it_says_where_a_rule_only_observes(tmp_path: Path) -> None:
    """And what an enforced one would have answered; what cannot be judged is refused in either mode."""
    policy = """\
defaults: {mode: observe}
writes:
  - {name: keyed, match: "PUT /x/{id}", resource: "x/{path.id}", intent: {mode: required}}
  - {name: told, match: "POST /x", resource: "y/{json:/id}", only: {query: []}}
"""
    observing = rules(tmp_path, HEAD + policy)
    plain = explain(observing, request("PUT", "/x/7", ("Idempotency-Key", "k")), CALLER)
    keyless = explain(observing, request("PUT", "/x/7"), CALLER)
    twice = explain(observing, request("POST", "/x", body='{"id": 1, "id": 2}'), CALLER)
    more = explain(observing, request("POST", "/x?a=1", body='{"id": 1}'), CALLER)

    assert [(each.answer.decision, each.answer.mode, each.answer.would) for each in (plain, keyless, twice, more)] == [
        ("forwarded", "observe", None),
        ("observed", "observe", "idempotency-key-required"),
        ("ambiguous-target", "observe", None),
        ("observed", "observe", "no-policy"),
    ]
    assert more.answer.resource == "y/1"
    assert "the query has 'a', which the policy does not list" in str(more)
    assert "  mode       observe\n  would      idempotency-key-required\n" in str(keyless)


CLOSING = """\
mount: {path: /x}
closed:
  - match: PUT /x/archive
  - match: GET /x/dump
  - when: {query: {sudo: {present: true}}}
writes:
  - {name: one, match: "PUT /x/{id}", resource: "x/{path.id}", only: {query: [page]}}
"""


@pytest.mark.parametrize(
    ("method", "target", "decision", "why"),
    [
        ("PUT", "/x/archive", "no-policy", ["closed is more specific", "closes this", "another path", "not there"]),
        ("PUT", "/x/7?sudo", "no-policy", ["closed is more specific", "another path", "another path", "closes this"]),
        ("PUT", "/x/7", "forwarded", ["takes this request", "another path", "another path", "which is not there"]),
        ("PUT", "/x/7?p=1", "no-policy", ["see the detail", "another path", "another path", "which is not there"]),
        ("GET", "/x/dump", "reads-denied", ["closes this request", "which is not there"]),
        ("GET", "/x/Dump", "ambiguous-target", ["has another path", "which is not there"]),
        ("GET", "/x/y?sudo=1", "reads-denied", ["has another path", "closes this request"]),
    ],
)
def test_it_shows_what_closes_a_request(
    tmp_path: Path, method: str, target: str, decision: str, why: list[str]
) -> None:
    """Of a read only those entries are shown that close some."""
    told = explain(rules(tmp_path, HEAD + CLOSING), request(method, target), CALLER)

    assert told.answer.decision == decision
    assert len(told.considered) == len(why)
    assert all(part in one.why for part, one in zip(why, told.considered, strict=True)), told
    assert [one.why for one in told.considered if one.taken] == [
        one.why for one in told.considered if one.why in ("closes this request", "takes this request")
    ]


def test_what_is_closed_around_an_entry_does_not_close_what_that_refuses(tmp_path: Path) -> None:
    """The more specific entry was asked, and its list refuses."""
    policy = """\
mount: {path: /x}
read_only:
  - {match: POST /x/jobs/preview, only: {json: [/a]}}
closed:
  - match: POST /x/{rest...}
  - match: POST /x/jobs/{rest...}
writes: []
"""
    ruleset = rules(tmp_path, HEAD + policy)
    listed = explain(ruleset, request("POST", "/x/jobs/preview", body='{"b": 1}'), CALLER)
    closed = explain(ruleset, request("POST", "/x/jobs/start", body='{"b": 1}'), CALLER)

    assert (listed.answer.decision, closed.answer.decision) == ("no-policy", "no-policy")
    assert not any(one.taken for one in listed.considered)
    assert "`only` does not list" in listed.considered[0].why
    assert [one.match for one in closed.considered if one.taken] == [("POST /x/jobs/{rest...}",)]
