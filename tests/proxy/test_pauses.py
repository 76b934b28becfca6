"""The emergency stop, through two gateways on one store: what is paused is refused by both, and nothing has moved."""

import asyncio
import contextlib
import hashlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gateway.core.pause import Scope, WidePause
from gateway.core.write import ResourceKey
from gateway.store.fence import FenceStore
from gateway.store.keys import PAUSES_SHARD, WIDE_PAUSES, resource_keys
from gateway.store.pauses import begin_pause, end_pause, new_pause_id
from tests.proxy.mail import proof
from tests.raw import RawAnswer, RawClient, ask
from tests.recording import OK, RecordingUpstream, Seen
from tests.stack import Stack, stack
from tests.until import until

POLICY = """
upstream: reports
url: http://localhost:{port}
timeouts: {{connect: 1s, total: 5s}}
writes:
  - name: leased
    match: PUT /report/{{id}}
    resource: report/{{path.id}}
    fence: {{queue_timeout: 30s}}
  - name: by-epoch
    match: PUT /epoch/{{id}}
    resource: epoch/{{path.id}}
    authority: header
  - name: tried-out
    match: PUT /tried/{{id}}
    resource: tried/{{path.id}}
    authority: header
    mode: observe
  - name: tried-by-header
    match: PUT /tried
    resource: tried-by-header/{{header.x-id}}
    mode: observe
  - name: tried-by-body
    match: POST /tried
    resource: tried-by-body/{{json:/id}}
    mode: observe
"""
QUEUED = """
  - name: queued
    match: PUT /queued/{{id}}
    resource: queued/{{path.id}}
    delivery: queued
    intent: {{mode: required}}
"""
KEYS = ("ada-has-a-key-of-some-length", "bob-has-a-key-of-some-length")
REASON = "the upstream sends everything twice"


PRINCIPALS = """
principals:
  - {name: ada, key: "sha256:%s", tenant: north, resources: [epoch/7]}
  - {name: bob, key: "sha256:%s", tenant: south, resources: ["**"]}
"""


async def stop(store: FenceStore, scope: Scope) -> WidePause:
    begun = await begin_pause(store, scope, id=new_pause_id(), reason=REASON, by="operator")
    assert isinstance(begun, WidePause)
    return begun


async def waits(store: FenceStore, resource: str) -> bool:
    """Whether a gateway waits for the resource."""
    return bool(await store.link.call("EXISTS", resource_keys(ResourceKey(resource))[3]))


@dataclass(frozen=True)
class Two:
    """Two gateways before one upstream, and an operator's connection to their store."""

    one: Stack
    two: Stack
    store: FenceStore

    async def pause(self, scope: Scope) -> WidePause:
        return await stop(self.store, scope)


@pytest.fixture
async def two(store_url: str, tmp_path: Path, store: FenceStore) -> AsyncIterator[Two]:
    async with contextlib.AsyncExitStack() as ending:
        gateways = []
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
            gateways.append(await ending.enter_async_context(stack(store_url, tmp_path / name, POLICY)))
        yield Two(*gateways, store)


async def tell(gate: Stack, target: str = "/epoch/7", epoch: int = 42, holder: str = "a") -> RawAnswer:
    return await ask(gate.port, "PUT", target, *proof(epoch, holder), body=b"{}")


async def becomes(gate: Stack, decision: str, target: str = "/epoch/7") -> RawAnswer:
    """The first answer with this decision."""
    answer = await tell(gate, target)
    async with asyncio.timeout(2):
        while answer.decision != decision:
            answer = await tell(gate, target)
    return answer


async def test_every_gateway_obeys_until_the_pause_ends(two: Two) -> None:
    """Whichever gateway an agent comes through. Reads go on."""
    begun = await two.pause(Scope("upstream", "reports"))
    for gate in (two.one, two.two):
        answer = await becomes(gate, "paused")
        assert (answer.status, answer.problem["action"], answer.problem["resource"]) == (503, "wait", "epoch/7")
        assert "all writes of upstream reports are stopped" in str(answer.problem["detail"])
        assert REASON not in str(answer.problem)
        assert (await ask(gate.port, "GET", "/epoch/7")).decision == "passed"

    await end_pause(two.store, begun, "operator")

    for gate in (two.one, two.two):
        await becomes(gate, "forwarded")


@pytest.mark.parametrize(
    ("scope", "stopped"),
    [
        (Scope("all"), {"epoch", "tried"}),
        (Scope("rule", "by-epoch"), {"epoch"}),
        (Scope("rule", "by-epoch", "reports"), {"epoch"}),
        (Scope("rule", "tried-out"), {"tried"}),
        (Scope("tenant", "default"), {"epoch", "tried"}),
        (Scope("holder", "a"), {"epoch", "tried"}),
        (Scope("holder", "b"), set()),
        (Scope("upstream", "another"), set()),
    ],
    ids=lambda value: f"{value.kind} {value.name} {value.upstream or ''}".strip() if isinstance(value, Scope) else "",
)
async def test_what_is_in_the_scope_is_refused_and_moves_nothing(
    store_url: str, tmp_path: Path, store: FenceStore, raw: Any, scope: Scope, stopped: set[str]
) -> None:
    """From a gateway's first request on. A rule that only observes is stopped too; no refused epoch is recorded."""
    await stop(store, scope)
    async with stack(store_url, tmp_path, POLICY) as gate:
        answers = {name: await tell(gate, f"/{name}/7") for name in ("epoch", "tried")}

        assert {name for name, answer in answers.items() if answer.decision == "paused"} == stopped
        recorded = {name for name in answers if raw.exists(resource_keys(ResourceKey(f"{name}/7"))[0])}
        assert recorded == answers.keys() - stopped
        assert len(gate.upstream.seen) == len(recorded)


async def test_a_holder_is_stopped_by_its_lease(store_url: str, tmp_path: Path, store: FenceStore) -> None:
    """Who writes with a lease's secret names nobody. Its lease is granted and renewed all the same."""
    await stop(store, Scope("holder", "agent-a"))
    async with stack(store_url, tmp_path, POLICY) as gate:
        assert (await gate.lease("report/7", "agent-a")).status == 201
        assert (await gate.lease("report/8", "agent-b")).status == 201

        answers = [await gate.write("/report/7", holder="agent-a"), await gate.write("/report/8", holder="agent-b")]
        renewed = await ask(
            gate.port,
            "POST",
            "/-/fence/leases/renew",
            f"Fencing-Token: {gate.tokens['agent-a']}",
            body=b'{"resource": "report/7"}',
        )

        assert [answer.decision for answer in (*answers, renewed)] == ["paused", "forwarded", "renewed"]


async def test_a_holder_is_stopped_in_the_queue_too(store_url: str, tmp_path: Path, store: FenceStore) -> None:
    """What it queues names nobody either: nothing of it is taken, nor sent; another holder's is."""
    await stop(store, Scope("holder", "agent-a"))
    async with stack(store_url, tmp_path, POLICY + QUEUED) as gate:
        decisions = []
        for holder, target in (("agent-a", "7"), ("agent-b", "8")):
            await gate.lease(f"queued/{target}", holder)
            answer = await gate.write(f"/queued/{target}", "Idempotency-Key: k", holder=holder)
            decisions.append(answer.decision)
        await gate.upstream.until(lambda: len(gate.upstream.seen) == 1)

        assert decisions == ["paused", "queued"]
        assert [seen.line for seen in gate.upstream.seen] == ["PUT /queued/8 HTTP/1.1"]


async def test_a_tenant_is_stopped_and_others_are_not(store_url: str, tmp_path: Path, store: FenceStore) -> None:
    """Tenants are those of principals; who has no right learns nothing of a pause."""
    (tmp_path / "policies").mkdir()
    digests = tuple(hashlib.sha256(key.encode()).hexdigest() for key in KEYS)
    (tmp_path / "policies" / "principals.yaml").write_text(PRINCIPALS % digests)
    await stop(store, Scope("tenant", "north"))
    async with stack(store_url, tmp_path, POLICY) as gate:
        decisions = {}
        for key, target in ((KEYS[0], "/epoch/7"), (KEYS[0], "/epoch/8"), (KEYS[1], "/epoch/8")):
            answer = await ask(gate.port, "PUT", target, *proof(), f"Fencegate-Key: {key}", body=b"{}")
            decisions[key, target] = answer.decision

    assert list(decisions.values()) == ["paused", "forbidden", "forwarded"]


@pytest.mark.parametrize(
    ("target", "scope"),
    [
        ("/tried", Scope("upstream", "reports")),
        ("/tried", Scope("rule", "tried-by-header")),
        ("/tried/7", Scope("all")),
    ],
    ids=["no resource, an upstream", "no resource, a rule", "no token"],
)
async def test_an_observed_write_that_never_comes_before_the_fence_is_stopped(
    store_url: str, tmp_path: Path, store: FenceStore, target: str, scope: Scope
) -> None:
    """Its rule would pass on what has no token, and what has no resource."""
    for name in ("open", "paused"):
        (tmp_path / name).mkdir()
    async with stack(store_url, tmp_path / "open", POLICY) as gate:
        assert (await ask(gate.port, "PUT", target, body=b"{}")).decision == "observed"
    await stop(store, scope)
    async with stack(store_url, tmp_path / "paused", POLICY) as gate:
        assert (await ask(gate.port, "PUT", target, body=b"{}")).decision == "paused"
        assert gate.upstream.seen == []


@pytest.mark.parametrize("is_stopped", [True, False], ids=["the gateway was stopped", "its gateway knows of it"])
async def test_nor_is_one_passed_on_whose_body_comes_after_the_stop(
    store_url: str, tmp_path: Path, store: FenceStore, monkeypatch: pytest.MonkeyPatch, *, is_stopped: bool
) -> None:
    """However slow it is; also where the gateway has read no pauses meanwhile."""
    if is_stopped:
        monkeypatch.setattr("gateway.flow.pauses._FRESH_S", 0.0)
        monkeypatch.setattr("gateway.flow.pauses.Pauses.watch", _stopped)
    async with stack(store_url, tmp_path, POLICY) as gate, RawClient(gate.port) as client:
        head = "POST /tried HTTP/1.1", "Host: gateway", "Content-Type: application/json", "Content-Length: 11"
        await client.send("\r\n".join((*head, "Expect: 100-continue", "", "")).encode())
        assert (await client.line()).startswith(b"HTTP/1.1 100 ")
        await client.line()
        await client.send(b'{"id"')
        await stop(store, Scope("all"))
        if not is_stopped:
            await becomes(gate, "paused")
        sent = len(gate.upstream.seen)
        await client.send(b': "7"}')

        assert (await client.answer()).decision == "paused"
        assert len(gate.upstream.seen) == sent


@pytest.mark.parametrize("scope", [Scope("rule", "leased"), Scope("holder", "agent-a")], ids=["a rule", "a holder"])
async def test_a_pause_lets_none_of_those_through_that_wait(
    store_url: str, tmp_path: Path, store: FenceStore, scope: Scope
) -> None:
    """A hundred wait behind a slow one: it ends as it would, and they are refused within a second."""
    release = asyncio.Event()

    async def slow(_: Seen, writer: asyncio.StreamWriter) -> None:
        await release.wait()
        writer.write(OK)

    async with stack(store_url, tmp_path, POLICY, RecordingUpstream(answer=slow)) as gate:
        await gate.lease("report/7")
        first = asyncio.ensure_future(gate.write("/report/7"))
        await gate.upstream.until(lambda: len(gate.upstream.seen) == 1)
        waiting = [asyncio.ensure_future(gate.write("/report/7")) for _ in range(100)]
        await until(lambda: waits(store, "report/7"))

        await stop(store, scope)
        async with asyncio.timeout(1):
            answers = await asyncio.gather(*waiting)

        assert {answer.decision for answer in answers} == {"paused"}
        release.set()
        assert (await first).decision == "forwarded"
        assert len(gate.upstream.seen) == 1


async def test_a_message_that_is_lost_costs_half_a_second(two: Two, raw: Any) -> None:
    """What the store says is read again whatever is heard: here, that a pause was ended."""
    pause = await two.pause(Scope("all"))
    await becomes(two.one, "paused")

    raw.zadd(f"fg:{{{PAUSES_SHARD}}}:unpaused", {pause.id: pause.created_at_ms})
    raw.hdel(WIDE_PAUSES, pause.id)

    await becomes(two.one, "forwarded")


async def test_a_store_that_is_emptied_does_not_let_writes_pass(two: Two, raw: Any) -> None:
    """Every gateway goes on stopping what it stopped, and whoever looks at the pauses sees it still."""
    pause = await two.pause(Scope("all"))
    await becomes(two.one, "paused")
    await becomes(two.two, "paused")

    raw.flushall()

    await until(lambda: raw.hkeys(WIDE_PAUSES) == [pause.id.encode()])
    await becomes(two.one, "paused")
    await becomes(two.two, "paused")


async def test_the_log_says_which_pause_it_was(store_url: str, tmp_path: Path, store: FenceStore) -> None:
    """With the operators' reason."""
    pause = await stop(store, Scope("all"))
    async with stack(store_url, tmp_path, POLICY) as gate:
        await tell(gate)

        line = json.loads(gate.log.read_text().splitlines()[-1])
        assert (line["decision"], line["rule"], line["why"]) == ("paused", "by-epoch", f"pause {pause.id}: {REASON}")


async def test_while_a_bug_keeps_pauses_from_being_read_no_write_passes(
    store_url: str, tmp_path: Path, store: FenceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once what was read is too old. Whoever watches goes on, the log says so, and then the pause holds."""
    monkeypatch.setattr("gateway.flow.pauses._FRESH_S", 0.1)
    async with stack(store_url, tmp_path, POLICY) as gate:
        with monkeypatch.context() as broken:
            broken.setattr("gateway.store.pauses.PauseRecords.in_force", _fail)
            await until(lambda: _is_refused(gate, "internal-error"))
            forwarded = len(gate.upstream.seen)
            await stop(store, Scope("all"))
            assert await _is_refused(gate, "internal-error")
            assert (await ask(gate.port, "GET", "/epoch/7")).decision == "passed"

        await until(lambda: _is_refused(gate, "paused"))
        assert [seen for seen in gate.upstream.seen[forwarded:] if seen.head.startswith(b"PUT")] == []
        lines = [json.loads(line) for line in gate.log.read_text().splitlines()]

    told = {(line["task"], line["kind"]) for line in lines if line["event"].startswith("background work failed")}
    assert told == {("watching pauses", "ZeroDivisionError")}


async def _stopped(_pauses: object) -> None:
    await asyncio.Event().wait()


async def _fail(_records: object) -> None:
    raise ZeroDivisionError


async def _is_refused(gate: Stack, decision: str) -> bool:
    return (await tell(gate)).decision == decision
