"""`mode: observe`, from socket to upstream: nothing is refused for the fence or the intent, and all of it is told."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.core.write import ResourceKey
from gateway.store.intents import pause
from tests.proxy.mail import proof
from tests.raw import RawAnswer, RawClient, ask, request
from tests.recording import OK, RecordingUpstream, Seen
from tests.stack import Stack, stack
from tests.store.fences import opened

POLICY = """
upstream: reports
url: http://localhost:{port}
timeouts: {{connect: 1s, total: 5s}}
capabilities: {{fencing_token: X-Epoch, idempotency_key: X-Key}}
defaults: {{mode: observe}}
closed: [{{match: PUT /limited/closed}}, {{match: "PUT /limited/{{id}}", when: {{json: {{/kind: purge}}}}}}]
read_only: [{{match: POST /searches, only: {{json: [/a]}}}}]
writes:
  - name: leased
    match: PUT,DELETE /reports/{{id}}
    resource: report/{{path.id}}
  - name: by-epoch
    match: PUT /epochs/{{id}}
    resource: epoch/{{path.id}}
    authority: header
    intent: {{mode: required}}
  - name: by-header
    match: PUT /headers
    resource: header/{{header.x-id}}
  - name: by-body
    match: POST /bodies
    resource: body/{{json:/id}}
  - name: limited
    match: PUT /limited/{{id}}
    resource: limited/{{path.id}}
    only: {{query: [], json: [/a, /kind]}}
  - name: limited-by-header
    match: PUT /limited-headers
    resource: header/{{header.x-id}}
    only: {{json: [/a], header: [X-Id]}}
"""


@contextlib.asynccontextmanager
async def observing(store_url: str, directory: Path, upstream: RecordingUpstream | None = None) -> AsyncIterator[Stack]:
    async with stack(store_url, directory, POLICY, upstream) as gate:
        yield gate


def told(answer: RawAnswer) -> tuple[int, str | None, str | None]:
    return answer.status, answer.decision, answer.value("Fencing-Would")


async def mailed(gate: Stack, key: str, epoch: int, *, body: bytes = b"{}") -> RawAnswer:
    return await ask(gate.port, "PUT", "/epochs/7", *proof(epoch), f"Idempotency-Key: {key}", body=body)


async def test_a_good_write_is_forwarded_like_any_other(store_url: str, tmp_path: Path) -> None:
    """It has an epoch and an outcome, and there is nothing that would have been."""
    async with observing(store_url, tmp_path) as gate:
        await gate.lease("report/7")
        answer = await gate.write("/reports/7")

        assert told(answer) == (200, "forwarded", None)
        assert answer.value("Fencing-Outcome") == "applied"
        assert answer.value("Fencing-Epoch") is not None


async def test_an_overtaken_holder_still_writes_and_is_told(store_url: str, tmp_path: Path) -> None:
    """The newer epoch rules, and stays the highest."""
    async with observing(store_url, tmp_path) as gate:
        await gate.lease("report/7")
        await gate.lease("report/7", "agent-b", takeover=True)
        highest = await gate.highest("report/7")
        answer = await gate.write("/reports/7")

        assert told(answer) == (200, "observed", "stale-epoch")
        assert (len(gate.upstream.seen), await gate.highest("report/7")) == (1, highest)


JSON = "Content-Type: application/json"
FORM = "Content-Type: application/x-www-form-urlencoded"
UNJUDGED = {
    "no token": ("PUT", "/reports/7", (), b"{}", "token-required"),
    "a malformed token": ("PUT", "/reports/7", ("Fencing-Token: 007",), b"{}", "token-malformed"),
    "an unknown secret": ("PUT", "/reports/7", ("Fencing-Token: 5.aaaaaaaaaaaaaaaaaaaaaa",), b"{}", "token-invalid"),
    "no key": ("PUT", "/epochs/7", proof(), b"{}", "idempotency-key-required"),
    "no resource": ("PUT", "/headers", (), b"{}", "resource-unresolved"),
    "a malformed token, a body": ("POST", "/bodies", (JSON, "Fencing-Token: 007"), b'{"id": 7}', "token-malformed"),
    "no resource in the body": ("POST", "/bodies", (JSON,), b"{}", "resource-unresolved"),
    "no token, only what is listed": ("PUT", "/limited/7", (JSON,), b'{"a": 1}', "token-required"),
    "a name that is not listed": ("PUT", "/limited/7?x=1", (JSON,), b'{"a": 1}', "no-policy"),
    "a member that is not listed": ("PUT", "/limited/7", (JSON,), b'{"b": 1}', "no-policy"),
    "a header that is not listed": ("PUT", "/limited-headers", (JSON, "X-Id: 7", "X-B: 1"), b"{}", "no-policy"),
    "no object at all": ("PUT", "/limited-headers", (JSON, "X-Id: 7"), b"[1]", "no-policy"),
    "a member that is not listed, no resource": ("PUT", "/limited-headers", (JSON,), b'{"b": 1}', "no-policy"),
}


@pytest.mark.parametrize(("method", "target", "fields", "body", "would"), UNJUDGED.values(), ids=UNJUDGED)
async def test_what_never_came_before_the_fence_is_forwarded(
    store_url: str, tmp_path: Path, method: str, target: str, fields: tuple[str, ...], body: bytes, would: str
) -> None:
    """Agents that do not know of the gateway yet go on as before; nothing of the gateway's reaches the upstream."""
    async with observing(store_url, tmp_path) as gate:
        answer = await ask(gate.port, method, target, *fields, body=body)

        assert told(answer) == (200, "observed", would)
        assert answer.body == b'{"ok":true}'
        assert [(seen.line, seen.body) for seen in gate.upstream.seen] == [(f"{method} {target} HTTP/1.1", body)]
        assert gate.upstream.seen[0].values("fencing-token") == []


MALFORMED = {
    "two readings": ("PUT", "/reports/%2e%2e/x", (), b"{}", "ambiguous-target"),
    "two names": ("POST", "/bodies", (JSON,), b'{"id": 7, "id": 8}', "ambiguous-target"),
    "a header twice": ("PUT", "/reports/7", ("Fencing-Sequence: 1", "Fencing-Sequence: 2"), b"{}", "header-malformed"),
    "a malformed key": ("PUT", "/epochs/7", (*proof(), 'Idempotency-Key: "'), b"{}", "header-malformed"),
    "another method": ("PUT", "/reports/7", ("X-HTTP-Method-Override: DELETE",), b"{}", "ambiguous-target"),
    "no rule": ("PUT", "/elsewhere", (), b"{}", "no-policy"),
    "what is closed": ("PUT", "/limited/closed", (JSON,), b'{"a": 1}', "no-policy"),
    "members of one name": ("PUT", "/limited/7", (JSON,), b'{"b": 1, "b": 2}', "ambiguous-target"),
    "another path in the query": ("PUT", "/limited/7?id=8", (JSON,), b'{"a": 1}', "ambiguous-target"),
    "a closed word": ("PUT", "/limited/7", (JSON,), b'{"kind": "purge"}', "no-policy"),
    "a closed word in capitals": ("PUT", "/limited/7", (JSON,), b'{"kind": "Purge"}', "ambiguous-target"),
    "a closed word with a blank": ("PUT", "/limited/7", (JSON,), b'{"kind": "pur ge"}', "ambiguous-target"),
    "a closed word in a list": ("PUT", "/limited/7", (JSON,), b'{"kind": ["purge"]}', "ambiguous-target"),
    "a list": ("PUT", "/limited/7", (JSON,), b'[{"kind": "purge"}]', "ambiguous-target"),
    "a form": ("PUT", "/limited/7", (FORM,), b"kind=purge", "ambiguous-target"),
    "another method in the query": ("PUT", "/limited/7?_method=DELETE", (JSON,), b"{}", "ambiguous-target"),
    "a read that says more": ("POST", "/searches", (JSON,), b'{"b": 1}', "no-policy"),
}


@pytest.mark.parametrize(("method", "target", "fields", "body", "decision"), MALFORMED.values(), ids=MALFORMED)
async def test_what_cannot_be_judged_is_refused(
    store_url: str, tmp_path: Path, method: str, target: str, fields: tuple[str, ...], body: bytes, decision: str
) -> None:
    """Observe mode is no way around: a request with two readings, or without a rule, does not pass."""
    async with observing(store_url, tmp_path) as gate:
        answer = await ask(gate.port, method, target, *fields, body=body)

        assert (answer.decision, answer.value("Fencing-Would")) == (decision, None)
        assert gate.upstream.seen == []


async def test_a_repeat_is_forwarded_and_never_answered_from_the_record(store_url: str, tmp_path: Path) -> None:
    """The upstream goes on answering for itself, also for a key that belongs to another request."""
    async with observing(store_url, tmp_path) as gate:
        answers = [await mailed(gate, "k", 42), await mailed(gate, "k", 42), await mailed(gate, "k", 43, body=b"[]")]

        assert [told(answer)[1:] for answer in answers] == [
            ("forwarded", None),
            ("observed", "replayed"),
            ("observed", "intent-mismatch"),
        ]
        assert len(gate.upstream.seen) == 3


async def test_the_upstream_gets_what_the_caller_sent(store_url: str, tmp_path: Path) -> None:
    """Admitted or not: an upstream that checks epochs would refuse, one that takes keys would be told two."""
    async with observing(store_url, tmp_path) as gate:
        await mailed(gate, "k", 42)
        await mailed(gate, "k", 42)

        assert [seen.values("idempotency-key") for seen in gate.upstream.seen] == [["k"], ["k"]]
        assert [seen.values("x-epoch") + seen.values("x-key") for seen in gate.upstream.seen] == [[], []]


@pytest.mark.parametrize("fields", [proof(), ()], ids=["admitted", "not admitted"])
async def test_its_own_key_and_epoch_reach_an_api_that_takes_them(
    store_url: str, tmp_path: Path, fields: tuple[str, ...]
) -> None:
    """An API that executes a key once does so also while it is only watched; a read still has neither."""
    own = ("X-Key: order-17", "X-Epoch: 7", "Idempotency-Key: k")
    async with observing(store_url, tmp_path) as gate:
        answers = [await ask(gate.port, "PUT", "/epochs/7", *fields, *own, body=b"{}") for _ in range(2)]
        await ask(gate.port, "GET", "/epochs/7", *own)

        *writes, read = gate.upstream.seen
        assert [answer.status for answer in answers] == [200, 200]
        assert [(seen.values("x-key"), seen.values("x-epoch")) for seen in writes] == [(["order-17"], ["7"])] * 2
        assert all(seen.values("fencing-token") + seen.values("fencing-holder") == [] for seen in writes)
        assert (read.values("x-key"), read.values("x-epoch")) == ([], [])


async def test_nothing_is_waited_for(store_url: str, tmp_path: Path) -> None:
    """While a write is in flight, one of its epoch and one of a newer epoch are forwarded at once."""
    held = asyncio.Event()

    async def answer(seen: Seen, writer: asyncio.StreamWriter) -> None:
        if seen.body == b"[1]":
            await held.wait()
        writer.write(OK)

    async with observing(store_url, tmp_path, RecordingUpstream(answer)) as gate, RawClient(gate.port) as first:
        fields = (*proof(42), "Idempotency-Key: k-1")
        await first.send(request("PUT", "/epochs/7", *fields, body=b"[1]"))
        await gate.upstream.until(lambda: len(gate.upstream.seen) == 1)
        beside, newer = await mailed(gate, "k-2", 42), await mailed(gate, "k-3", 43)
        held.set()

        assert told(beside) == (200, "observed", "resource-busy")
        assert told(newer) == (200, "observed", "takeover-pending")
        assert told(await first.answer()) == (200, "forwarded", None)
        assert told(await mailed(gate, "k-4", 42)) == (200, "observed", "stale-epoch")


async def test_the_log_says_what_would_have_been(store_url: str, tmp_path: Path) -> None:
    """One line as for every write, with the resource and the would-be decision."""
    async with observing(store_url, tmp_path) as gate:
        await ask(gate.port, "PUT", "/reports/7", body=b"{}")
        lines = [json.loads(line) for line in gate.log.read_text().splitlines()]

        (line,) = [line for line in lines if line["event"] == "decision"]
        assert (line["decision"], line["would"], line["resource"]) == ("observed", "token-required", "report/7")


async def test_the_log_names_what_is_not_listed(store_url: str, tmp_path: Path) -> None:
    """With the rule, so that its lists can be completed; and the write goes on with all its headers."""
    async with observing(store_url, tmp_path) as gate:
        answer = await ask(
            gate.port, "PUT", "/limited-headers", "X-Id: 7", "Priority: u=1", "X-Odd: 1", JSON, body=b"{}"
        )
        lines = [json.loads(line) for line in gate.log.read_text().splitlines()]

        assert told(answer) == (200, "observed", "no-policy")
        (line,) = [line for line in lines if line["event"] == "decision"]
        assert (line["would"], line["rule"], line["resource"]) == ("no-policy", "limited-by-header", "header/7")
        assert line["why"].startswith("rule limited-by-header at ")
        assert line["why"].endswith(": header 'x-odd' is there, which the policy does not list for this request")
        (seen,) = gate.upstream.seen
        assert (seen.values("priority"), seen.values("x-odd")) == (["u=1"], ["1"])


@pytest.mark.parametrize("fields", [(), ("Fencing-Token: 42",), ("Fencing-Token: a.b.c",)], ids=["none", "bare", "odd"])
async def test_a_pause_stops_an_observed_write_whatever_its_token_is(
    store_url: str, tmp_path: Path, fields: tuple[str, ...]
) -> None:
    """An operator's stop is no part of what is being tried out."""
    async with observing(store_url, tmp_path) as gate, opened(store_url) as store:
        await pause(store, ResourceKey("report/7"), id="p", reason="look first", by="operator")
        answer = await ask(gate.port, "PUT", "/reports/7", *fields, body=b"{}")

        assert (answer.status, answer.decision) == (503, "paused")
        assert gate.upstream.seen == []


async def test_a_token_that_is_shown_twice_stays_here(store_url: str, tmp_path: Path) -> None:
    """Observed or not: as an API key or a cookie beside itself it is dropped, and in the URL nothing is sent."""
    async with observing(store_url, tmp_path) as gate:
        await gate.lease("report/7")
        token = gate.tokens["agent-a"]
        shown = await gate.write("/reports/7", f"X-Api-Key: {token}", f"Cookie: t={token}")
        in_url = await gate.write(f"/reports/7?access_token={token}")

        assert (shown.decision, in_url.decision) == ("forwarded", "token-malformed")
        assert [token.encode() in seen.raw for seen in gate.upstream.seen] == [False]
