"""Intents as operators see them, and their word on one of which nobody knows."""

import base64
import json
from dataclasses import replace
from typing import Any

import pytest

from gateway.core.intent import KeptAnswer
from gateway.core.write import ResourceKey
from gateway.store.intents import Resolve, resolve
from tests.admin.conftest import Admin
from tests.intending import ANSWER, SEVEN, begun, ended, intended
from tests.raw import RawAnswer

UNKNOWN_ID = "3ff" + "x" * 22


async def shown(admin: Admin, path: str) -> dict[str, Any]:
    answer = await admin.call("GET", path)
    assert answer.status == 200, answer.body
    document: dict[str, Any] = json.loads(answer.body)
    return document


async def say(admin: Admin, id: str, **document: object) -> RawAnswer:
    """An operator's resolution."""
    return await admin.call("POST", f"/api/v1/intents/{id}/resolve", body=json.dumps(document).encode())


async def test_an_unknown_intent_is_listed_with_its_reason(admin: Admin) -> None:
    """Everything that tells what to look for at the upstream."""
    admitted = await ended(admin.store, intended("k-1"), "unknown")

    (item,) = (await shown(admin, "/api/v1/intents?state=unknown"))["items"]

    assert item.pop("created_at").endswith("Z")
    assert item.pop("updated_at").endswith("Z")
    assert item == {
        "id": admitted.intent,
        "key": "k-1",
        "state": "unknown",
        "upstream": "reports",
        "rule": "write",
        "resource": "report/7",
        "epoch": "41",
        "holder": "agent-a",
        "reason": "no answer within 30 s",
        "attempts": 1,
    }


async def test_a_write_without_a_key_is_listed_too(admin: Admin) -> None:
    """Its id is the one that its caller was told."""
    admitted = await ended(admin.store, intended(None), "unknown")

    (item,) = (await shown(admin, "/api/v1/intents"))["items"]

    assert (item["id"], item["key"]) == (admitted.ticket, None)


async def test_writes_in_flight_are_listed(admin: Admin) -> None:
    """With the instant at which they end at the latest; a write without a key has its ticket only."""
    keyed = await begun(admin.store, intended("k-1"))
    keyless = await begun(admin.store, intended(None))

    items = (await shown(admin, "/api/v1/intents?state=in_flight"))["items"]

    found = {item["id"]: item for item in items}
    assert set(found) == {keyed.intent, keyless.ticket}
    assert all(item.pop("deadline").endswith("Z") for item in items)
    assert (found[keyed.intent]["key"], found[keyed.intent]["created_at"] is None) == ("k-1", False)
    assert found[keyless.ticket] == {
        "id": keyless.ticket,
        "key": None,
        "state": "in_flight",
        "upstream": "reports",
        "rule": "write",
        "resource": "report/7",
        "epoch": "41",
        "holder": "agent-a",
        "created_at": None,
        "updated_at": None,
        "reason": "admitted",
        "attempts": 1,
    }


@pytest.mark.parametrize("state", ["applied", "not_applied", "in_flight", "unknown"])
async def test_nothing_in_a_state_is_an_empty_list(state: str, admin: Admin) -> None:
    """Each state has its list."""
    assert await shown(admin, f"/api/v1/intents?state={state}") == {"items": [], "next": None}


@pytest.mark.parametrize(
    "query",
    ["state=appleid", "state=Unknown", "state=unknown&state=applied", "sate=applied", "state=done", "cursor=x",
     "cursor=1.0.x&cursor=y", "state=in_flight&cursor=-1.0.x"],
)  # fmt: skip
async def test_a_slip_in_a_query_is_refused(query: str, admin: Admin) -> None:
    """An empty list, or another one, would say what is not so."""
    answer = await admin.call("GET", f"/api/v1/intents?{query}")

    assert (answer.status, answer.problem["type"]) == (400, "urn:fencegate:bad-request")


async def test_a_list_goes_on_with_its_cursor(admin: Admin) -> None:
    """A hundred a page, the newest first."""
    for number in range(105):
        await ended(admin.store, intended(None, ResourceKey(f"report/{number}")), "unknown")

    page = await shown(admin, "/api/v1/intents")
    rest = await shown(admin, f"/api/v1/intents?state=unknown&cursor={page['next']}")

    assert (len(page["items"]), len(rest["items"]), rest["next"]) == (100, 5, None)
    instants = [item["updated_at"] for item in (*page["items"], *rest["items"])]
    assert instants == sorted(instants, reverse=True)


async def test_an_intent_is_shown_with_its_answer_and_its_events(admin: Admin) -> None:
    """What repeats get, and how it came to it."""
    admitted = await ended(admin.store, intended("k-1"), "applied", ANSWER)

    found = await shown(admin, f"/api/v1/intents/{admitted.intent}")

    assert (found["state"], found["tenant"], found["target"]) == ("applied", "default", "PUT /reports/7")
    assert (found["resolved_by"], found["evidence"]) == (None, None)
    assert found["response"] == {
        "status": 201,
        "headers": [["location", "/reports/7"], ["content-type", "application/json"]],
        "body": '{"ok": true}',
    }
    assert [(event["from"], event["to"]) for event in found["events"]] == [
        ("in_flight", "applied"),
        (None, "in_flight"),
    ]


async def test_a_body_that_is_no_text_is_in_base64(admin: Admin) -> None:
    """Byte for byte."""
    binary = bytes(range(256))
    admitted = await ended(admin.store, intended("k-1"), "applied", KeptAnswer(200, (), binary))

    response = (await shown(admin, f"/api/v1/intents/{admitted.intent}"))["response"]

    assert base64.b64decode(response["body_base64"]) == binary
    assert "body" not in response


@pytest.mark.parametrize("depth", [3, 500, 980, 5000])
async def test_evidence_of_any_depth_is_shown(depth: int, admin: Admin) -> None:
    """As JSON, or as it came where that nests too deeply to be written, which depends on Python's version."""
    evidence = b'{"a":' * depth + b"1" + b"}" * depth
    admitted = await ended(admin.store, intended("k-1"), "unknown")
    record = await admin.store.recall(admitted.intent)
    assert record is not None
    await resolve(admin.store, record, Resolve("applied", "query", "the query answered 200", "gateway-1", evidence))

    answer = await admin.call("GET", f"/api/v1/intents/{admitted.intent}")

    as_json, as_it_came = evidence.replace(b":", b": "), json.dumps(evidence.decode()).encode()
    assert answer.status == 200
    shown_as = {form for form in (as_json, as_it_came) if b'"evidence": ' + form in answer.body}
    assert shown_as == {as_json} if depth <= 500 else len(shown_as) == 1


async def test_a_write_in_flight_is_shown_by_its_ticket(admin: Admin) -> None:
    """One with a key as its intent."""
    keyed = await begun(admin.store, intended("k-1"))
    keyless = await begun(admin.store, intended(None))

    for ticket, id in ((keyed.ticket, keyed.intent), (keyless.ticket, keyless.ticket)):
        found = await shown(admin, f"/api/v1/intents/{ticket}")
        assert (found["id"], found["state"]) == (id, "in_flight")
        assert [event["to"] for event in found["events"]] == ["in_flight"]


@pytest.mark.parametrize("id", [UNKNOWN_ID, "x", "400" + "x" * 22, "%00", "3ff%2F..%2F", "%E2%80%AE", "3ff*"])
async def test_an_intent_that_nobody_has_seen_is_not_there(id: str, admin: Admin) -> None:
    """Whatever is written for its id, to be shown and to be resolved."""
    missing = await admin.call("GET", f"/api/v1/intents/{id}")
    unresolved = await say(admin, id, outcome="applied", note="x")

    for answer in (missing, unresolved):
        assert (answer.status, answer.problem["type"]) == (404, "urn:fencegate:no-such-intent")


@pytest.mark.parametrize("outcome", ["applied", "not_applied"])
async def test_an_operator_resolves_an_unknown_intent(outcome: str, admin: Admin) -> None:
    """The record is answered, with who said it and why; repeated with the same note, it is answered the same way."""
    admitted = await ended(admin.store, intended("k-1"), "unknown")

    answer = await say(admin, admitted.intent, outcome=outcome, note="looked at the outbox, ticket 12")
    again = await say(admin, admitted.intent, outcome=outcome, note="looked at the outbox, ticket 12")

    found = json.loads(answer.body)
    assert (answer.status, again.status, again.body) == (200, 200, answer.body)
    assert (found["state"], found["resolved_by"], found["reason"]) == (
        outcome,
        "operator",
        "looked at the outbox, ticket 12",
    )
    assert (found["events"][0]["to"], found["events"][0]["by"]) == (outcome, "operator")


async def test_a_resolution_stays(admin: Admin) -> None:
    """Another one is refused, and so is the same with another note: somebody else has looked."""
    admitted = await ended(admin.store, intended("k-1"), "unknown")
    await say(admin, admitted.intent, outcome="applied", note="it is there")

    other = await say(admin, admitted.intent, outcome="not_applied", note="it is there")
    same = await say(admin, admitted.intent, outcome="applied", note="I think so")

    for answer in (other, same):
        assert (answer.status, answer.problem["type"]) == (409, "urn:fencegate:wrong-state")
        assert answer.problem["intent"] == {"id": admitted.intent, "state": "applied"}


async def test_a_resolution_is_of_the_attempt_that_was_looked_at(admin: Admin) -> None:
    """Another operator has freed its key, and what was sent under it since is unknown too: of that nothing was said."""
    await ended(admin.store, intended("k-1"), "unknown")
    (looked_at,) = (await shown(admin, "/api/v1/intents"))["items"]
    id = looked_at["id"]
    await say(admin, id, outcome="not_applied", note="not in the outbox", attempt=looked_at["attempts"])
    await ended(admin.store, intended("k-1"), "unknown")

    late = await say(admin, id, outcome="not_applied", note="no mail of it", attempt=looked_at["attempts"])

    assert (late.status, late.problem["type"]) == (409, "urn:fencegate:wrong-state")
    assert late.problem["detail"].endswith("the newest is attempt 2, and the intent is unknown. Look again.")
    again = await say(admin, id, outcome="applied", note="there it is", attempt=2)
    assert (again.status, json.loads(again.body)["state"]) == (200, "applied")


async def test_what_is_in_flight_cannot_be_resolved(admin: Admin) -> None:
    """With a key and without one: its gateway will say what became of it."""
    for write in (intended("k-1"), intended(None)):
        admitted = await begun(admin.store, write)
        answer = await say(admin, admitted.intent, outcome="applied", note="x")
        assert (answer.status, answer.problem["type"]) == (409, "urn:fencegate:wrong-state")
        assert answer.problem["intent"] == {"id": admitted.intent, "state": "in_flight"}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff",
        b'{"outcome": "applied"}',
        b'{"note": "x"}',
        b'{"outcome": "applied", "note": ""}',
        b'{"outcome": "applied", "note": "   "}',
        b'{"outcome": "applied", "note": 5}',
        b'{"outcome": "applied", "note": "a\\u001b[2Jb"}',
        b'{"outcome": "applied", "note": "a\\nb"}',
        b'{"outcome": "applied", "note": "a\\u202eb"}',
        b'{"outcome": "applied", "note": "\\ud800"}',
        b'{"outcome": "applied", "note": "%s"}' % (b"x" * 501),
        b'{"outcome": "unknown", "note": "x"}',
        b'{"outcome": ["applied"], "note": "x"}',
        b'{"outcome": "applied", "outcome": "not_applied", "note": "x"}',
        b'{"outcome": "applied", "note": "x", "by": "root"}',
        b'{"outcome": "applied", "note": "x", "attempt": "1"}',
        b'{"outcome": "applied", "note": "x", "attempt": -1}',
        b'{"outcome": "applied", "note": "x", "attempt": 1.5}',
        b'{"outcome": "applied", "note": "x", "attempt": 99999999999999999999}',
        b'{"outcome": "applied", "note": "x", "attempt": null}',
        b'{"outcome": "applied", "note": "x", "attempt": true}',
    ],
    ids=lambda body: ascii(body[:40]),
)
async def test_a_malformed_resolution_resolves_nothing(body: bytes, admin: Admin) -> None:
    """It says what to send instead."""
    admitted = await ended(admin.store, intended("k-1"), "unknown")

    answer = await admin.call("POST", f"/api/v1/intents/{admitted.intent}/resolve", body=body)

    assert (answer.status, answer.problem["action"]) == (400, "fix-request")
    record = await admin.store.recall(admitted.intent)
    assert record is not None
    assert record.state == "unknown"


async def test_the_longest_note_is_kept_whole(admin: Admin) -> None:
    """In any language."""
    admitted = await ended(admin.store, replace(intended("k-1"), resource=SEVEN), "unknown")

    answer = await say(admin, admitted.intent, outcome="applied", note="é" * 500)

    assert json.loads(answer.body)["reason"] == "é" * 500
