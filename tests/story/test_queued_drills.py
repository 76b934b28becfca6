"""What operators practise with writes that wait: deliverers killed between any two steps, a pause before a hundred of
them, a receiver that is down, an answer that is lost, a budget of three gateways, and an approval before a backlog.
"""

import asyncio
import contextlib
import json
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import pytest

from gateway.core.record import IntentRecord
from gateway.core.write import ResourceKey
from gateway.store.deliveries import TAKE
from gateway.store.fence import DELIVER, SETTLE, FenceStore
from gateway.store.script import Script
from gateway.store.sweep import sweep, take_turn
from tests.raw import RawAnswer, ask
from tests.recording import RecordingUpstream, Seen, answering
from tests.stack import rules_from
from tests.store.fences import bare, keyed, opened
from tests.store.parked import REQUEST, id_of
from tests.store.server import Server
from tests.story.gateways import Gateway, write_policies
from tests.story.test_queued_delivery import decide, deliverer, received, send, states
from tests.until import STARTS_WITHIN_S, until

POLICY = """
upstream: mail
url: http://127.0.0.1:UPSTREAM
mount: {path: /mail}
timeouts: {connect: 1s, total: 2s, late: 1s}
notify: {url: "http://127.0.0.1:RECEIVER/hook", secret: whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw}
defaults: {authority: header, intent: {mode: required}}
writes:
  - name: queued
    match: POST /mail/queued/{box}
    resource: mail/{path.box}
    delivery: queued
    effect: {compensation: {request: "DELETE /mail/queued/{path.box}"}}
  - {name: approved, match: "POST /mail/approved/{box}", resource: "mail/{path.box}", approval: required}
  - name: counted
    match: POST /mail/counted/{box}
    resource: mail/{path.box}
    delivery: queued
    budget: [{per: tenant, window: 1h, count: 20}]
"""
ANSWERED = answering(b"HTTP/1.1 204 No Content\r\n\r\n")


def write_policy(directory: Path, upstream: int, receiver: int = 9) -> Path:
    return write_policies(directory, "mail.yaml", policy(upstream, receiver))


def policy(upstream: int, receiver: int = 9) -> str:
    return POLICY.replace("UPSTREAM", str(upstream)).replace("RECEIVER", str(receiver))


async def become(gateway: Gateway, answers: dict[str, RawAnswer], state: str) -> None:
    """All of them."""

    async def have_become() -> bool:
        return set((await states(gateway, answers)).values()) == {state}

    await until(have_become, within_s=60)


async def call(gateway: Gateway, method: str, target: str, **document: object) -> RawAnswer:
    """A call of the admin API."""
    body = json.dumps(document).encode()
    return await ask(gateway.admin, method, target, "Content-Type: application/json", body=body, host="localhost")


When = Literal["before", "after"]


@dataclass
class Trap:
    """A wire to the store that springs at a call of this name: before the store has it, or before its answer is back.

    Nothing passes any more then.
    """

    store: str
    named: bytes
    when: When
    path: Path

    @contextlib.asynccontextmanager
    async def laid(self) -> AsyncIterator[str]:
        """The URL of the wire. `sprung` is set when it has sprung."""
        self.sprung = asyncio.Event()
        server = await asyncio.start_unix_server(self._serve, self.path)
        try:
            yield f"unix://{self.path}?db=0"
        finally:
            server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        store = self.store.removeprefix("unix://").partition("?")[0]
        store_reader, store_writer = await asyncio.open_unix_connection(store)
        with contextlib.closing(writer), contextlib.closing(store_writer):
            back = asyncio.get_running_loop().create_task(self._pass(store_reader, writer))
            while data := await reader.read(65536):
                springs = self.named in data and not self.sprung.is_set()
                if self.sprung.is_set() or (springs and self.when == "before"):
                    self.sprung.set()
                    continue
                if springs:
                    self.sprung.set()
                store_writer.write(data)
            back.cancel()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            if not self.sprung.is_set():
                writer.write(data)


async def park(store: FenceStore, directory: Path, count: int, boxes: int) -> list[str]:
    """Writes that a gateway has taken, which is gone since; the ids."""
    rule = rules_from(directory, policy(9)).entries[0].rule

    async def one(number: int) -> str:
        box = number % boxes
        write = replace(keyed(bare(1, "a", rule), digest=f"{number:-<22}"), resource=ResourceKey(f"mail/{box}"))
        body = json.dumps({"key": str(number)}).encode()
        record = await store.park(write, replace(REQUEST, target=f"/mail/queued/{box}", body=body))
        assert isinstance(record, IntentRecord), record
        return id_of(write)

    ids: list[str] = []
    for begin in range(0, count, 500):
        ids += await asyncio.gather(*(one(number) for number in range(begin, min(begin + 500, count))))
    return ids


@pytest.mark.slow
@pytest.mark.promise("G4")
@pytest.mark.parametrize(
    ("script", "when", "unknown"),
    [
        (TAKE, "before", 0),
        (TAKE, "after", 0),
        (DELIVER, "before", 0),
        (DELIVER, "after", 1),
        (SETTLE, "before", 1),
        (SETTLE, "after", 0),
    ],
    ids=[
        "before it takes", "when it has taken", "before it is admitted", "when it is admitted", "before it settles",
        "when it has settled",
    ],
)  # fmt: skip
async def test_a_deliverer_that_is_killed_at_a_step(
    script: Script, when: When, unknown: int, shared_store: Server, tmp_path: Path
) -> None:
    """Whether or not the store has heard of the step: each write is sent once at most, and none is lost.

    Nobody knows only of one that was admitted and not settled.
    """
    assert script.function is not None
    trap = Trap(shared_store.url, script.function.encode(), when, tmp_path / "wire")
    async with RecordingUpstream(ANSWERED) as upstream, opened(shared_store.url) as store, trap.laid() as wire:
        policies = write_policy(tmp_path, upstream.port)
        ids = await park(store, tmp_path / "parking", 3, 1)
        async with killed_deliverer(policies, wire, tmp_path / "killed") as process:
            await asyncio.wait_for(trap.sprung.wait(), STARTS_WITHIN_S)
            process.kill()
            await process.wait()
        async with deliverer(policies, shared_store.url, tmp_path / "next"):
            await until(lambda: have_ended(store, ids), within_s=60)
        counts = received(upstream)
        ended = [record.state for record in [await store.recall(id) for id in ids] if record is not None]

    assert Counter(ended) == +Counter(applied=3 - unknown, unknown=unknown)
    assert max(counts.values()) == 1
    # What was admitted was not sent; what was not settled was.
    assert counts.total() == (2 if (script, when) == (DELIVER, "after") else 3)


@contextlib.asynccontextmanager
async def killed_deliverer(policies: Path, store: str, log: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    """As `deliverer`, for one that does not end by itself."""
    with contextlib.suppress(AssertionError):
        async with deliverer(policies, store, log) as process:
            yield process


async def have_ended(store: FenceStore, ids: list[str]) -> bool:
    """Whether all are applied or unknown; there is no gateway, so that tickets are swept here."""
    due = await take_turn(store)
    if due is not None:
        await sweep(store, due.tickets)
    records = [await store.recall(id) for id in ids]
    return all(record is not None and record.state in ("applied", "unknown") for record in records)


@pytest.mark.slow
@pytest.mark.promise("G4")
async def test_an_approver_who_answers_twice(shared_store: Server, tmp_path: Path) -> None:
    """The same word is answered alike, another one is refused; it is sent once."""
    async with RecordingUpstream(ANSWERED) as upstream:
        policies = write_policy(tmp_path, upstream.port)
        async with Gateway(policies, tmp_path / "one", shared_store.url) as gateway:
            waiting = await send(gateway, "k-1", rule="approved")
            same = await asyncio.gather(*(decide(gateway, waiting, "approve", "looks right") for _ in range(5)))
            await become(gateway, {"k-1": waiting}, "applied")
            later = [await decide(gateway, waiting, verdict, "looks right") for verdict in ("approve", "deny")]

    assert {answer.status for answer in same} <= {200, 409} and same[0].status == 200
    assert [answer.status for answer in later] == [409, 409]
    assert received(upstream) == Counter(["k-1"])


@pytest.mark.slow
@pytest.mark.promise("G4")
async def test_a_pause_while_a_hundred_writes_wait(shared_store: Server, tmp_path: Path) -> None:
    """Within a second nothing is sent any more; once it is over, all of them are, in order and once each."""

    async def slowly(_seen: Seen, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.05)
        writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")

    async with RecordingUpstream(slowly) as upstream:
        policies = write_policy(tmp_path, upstream.port)
        async with Gateway(policies, tmp_path / "one", shared_store.url) as gateway:
            keys = [f"k-{number:03}" for number in range(100)]
            taken = {key: await send(gateway, key, box=key[-1]) for key in keys}
            pause = await call(gateway, "POST", "/api/v1/pauses", upstream="mail", reason="a drill")
            # A second is what it may take, and one more is for a machine that is busy; then nothing comes.
            await asyncio.sleep(2.0)
            stopped_at = len(upstream.seen)
            await asyncio.sleep(2.0)
            assert len(upstream.seen) == stopped_at
            left = Counter((await states(gateway, taken)).values())

            await call(gateway, "DELETE", f"/api/v1/pauses/{json.loads(pause.body)['id']}")
            await become(gateway, taken, "applied")

    assert left["queued"] == 100 - stopped_at
    assert received(upstream) == Counter(keys)
    order = [str(json.loads(seen.body)["key"]) for seen in upstream.seen]
    for box in "0123456789":
        assert [key for key in order if key[-1] == box] == [key for key in keys if key[-1] == box]


@pytest.mark.slow
async def test_a_receiver_that_is_down_for_a_while(shared_store: Server, tmp_path: Path) -> None:
    """Whoever approves is told once it is back; what was approved meanwhile was sent."""
    async with RecordingUpstream(ANSWERED) as upstream, RecordingUpstream(ANSWERED) as probe:
        port = probe.port
    async with RecordingUpstream(ANSWERED) as upstream:
        policies = write_policy(tmp_path, upstream.port, port)
        async with Gateway(policies, tmp_path / "one", shared_store.url) as gateway:
            first = await send(gateway, "k-1", rule="approved")
            await until(lambda: "a notification was not received" in gateway.events(), within_s=60)
            await decide(gateway, first, "approve", "known from elsewhere")
            await become(gateway, {"k-1": first}, "applied")
            async with RecordingUpstream(ANSWERED, port=port) as receiver:
                await receiver.until(lambda: len(receiver.seen) > 0)
                told = json.loads(receiver.seen[0].body)

    assert (told["type"], told["data"]["intent"]) == ("intent.awaiting_approval", json.loads(first.body)["id"])
    assert received(upstream) == Counter(["k-1"])


@pytest.mark.slow
@pytest.mark.promise("G5")
async def test_a_compensation_whose_answer_is_lost(shared_store: Server, tmp_path: Path) -> None:
    """Nobody knows whether it was taken back: it is not tried again, and ends as somebody says who has looked."""

    async def lost(seen: Seen, writer: asyncio.StreamWriter) -> None:
        if seen.line.startswith("DELETE"):
            writer.close()
        else:
            writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")

    async with RecordingUpstream(lost) as upstream:
        policies = write_policy(tmp_path, upstream.port)
        async with Gateway(policies, tmp_path / "one", shared_store.url) as gateway:
            taken = {"k-1": await send(gateway, "k-1")}
            await become(gateway, taken, "applied")
            target = f"/api/v1/intents/{json.loads(taken['k-1'].body)['id']}"
            await call(gateway, "POST", f"{target}/compensate", note="sent by mistake")
            await become(gateway, taken, "compensating")
            again = await call(gateway, "POST", f"{target}/compensate", note="once more")
            [doubt] = await gateway.unknown()
            await gateway.resolve(str(doubt["id"]), "applied")
            await become(gateway, taken, "compensated")

    assert again.status == 409
    assert [seen.line.split()[0] for seen in upstream.seen] == ["POST", "DELETE"]


@pytest.mark.slow
async def test_a_budget_of_three_gateways(shared_store: Server, tmp_path: Path) -> None:
    """They share it, whichever takes a write and whichever delivers it: not one goes beyond it."""
    async with RecordingUpstream(ANSWERED) as upstream, contextlib.AsyncExitStack() as running:
        policies = write_policy(tmp_path, upstream.port)
        gateways = [Gateway(policies, tmp_path / str(number), shared_store.url) for number in range(3)]
        for gateway in gateways:
            await running.enter_async_context(gateway)
        keys = [f"k-{number:02}" for number in range(60)]
        sent = (send(gateways[at % 3], key, rule="counted", box=key[-2:]) for at, key in enumerate(keys))
        answers = dict(zip(keys, await asyncio.gather(*sent), strict=True))
        taken = {key: answer for key, answer in answers.items() if answer.status == 202}
        await become(gateways[0], taken, "applied")

    assert Counter(answer.status for answer in answers.values()) == {202: 20, 429: 40}
    assert received(upstream) == Counter(taken.keys())


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("count", [100_000])
async def test_an_approval_before_a_long_backlog(count: int, shared_store: Server, tmp_path: Path) -> None:
    """Of the same upstream, which takes a while for each: what was approved is among the next that are sent."""

    async def slowly(_seen: Seen, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.2)
        writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")

    async with RecordingUpstream(slowly) as upstream, opened(shared_store.url) as store:
        policies = write_policy(tmp_path, upstream.port)
        store.parked_bytes = 1 << 40
        await park(store, tmp_path / "parking", count, count)
        async with Gateway(policies, tmp_path / "one", shared_store.url, ("--queue-bytes", str(1 << 30))) as gateway:
            await upstream.until(lambda: len(upstream.seen) > 64)
            waiting = await send(gateway, "k-1", rule="approved", box="people")
            approved_at = len(upstream.seen)
            await decide(gateway, waiting, "approve", "looks right")
            await until(lambda: begun(upstream, "k-1"), within_s=60)
            place = next(at for at, seen in enumerate(upstream.seen) if b'"k-1"' in seen.body)

    # 32 at a time, five times a second: a second's worth, and what came between the two calls.
    assert place - approved_at < 400


def begun(upstream: RecordingUpstream, key: str) -> bool:
    return any(json.dumps(key).encode() in seen.body for seen in upstream.seen)
