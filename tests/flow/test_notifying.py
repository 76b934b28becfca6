"""Telling people: the real store and sender, in front of receivers that are down, slow, wrong or gone."""

import asyncio
import contextlib
import json
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from gateway.core.rule import NotifyEvent
from gateway.flow import notifying
from gateway.flow.clock import BootClock
from gateway.flow.notifying import Notifying, Result
from gateway.log import Log
from gateway.policy.ruleset import RuleSet
from gateway.store.embedded import find_server
from gateway.store.fence import FenceStore
from gateway.store.keys import notification, notifications
from gateway.store.outbox import Outbox
from gateway.store.views.letters import resend
from gateway.upstream.sender import HttpSender
from gateway.upstream.webhook import Webhooks
from tests.recording import RecordingUpstream
from tests.stack import rules_from
from tests.store.fences import INTENT, bare, keyed, opened, resolved
from tests.store.server import Server
from tests.telling import (
    SECRET,
    TOLD,
    UPSTREAM,
    Receiver,
    fields_of,
    intents_told,
    make_due,
    outbox_of,
    types,
    unknown,
)
from tests.until import until

POLICY = """
upstream: reports
url: http://localhost:9
{notify}
"""
NOTIFY = "notify: {{url: 'http://127.0.0.1:{port}/hook?team=1', secret: {secret}}}"


@pytest.fixture(autouse=True)
def every_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A turn does not wait two seconds for the next one."""
    monkeypatch.setattr(notifying, "_EVERY_S", 0.05)


@dataclass
class Gateway:
    """A parent's sending, what it counts, and what it logs. Implements `notifying.Counts`."""

    rules: RuleSet
    lines: Path
    counted: Counter[tuple[NotifyEvent, Result]]

    def notified(self, event: NotifyEvent, result: Result) -> None:
        self.counted[event, result] += 1

    def logged(self, event: str) -> list[dict[str, Any]]:
        whole = self.lines.read_text().rpartition("\n")[0]
        return [line for text in whole.splitlines() if (line := json.loads(text))["event"].startswith(event)]


def rules_for(directory: Path, port: int | None) -> RuleSet:
    """Policies whose receiver listens on `port`; that tell nobody, without one."""
    notify = "" if port is None else NOTIFY.format(port=port, secret=SECRET)
    return rules_from(directory / "policies", POLICY.format(notify=notify))


@contextlib.asynccontextmanager
async def sending(store: FenceStore, directory: Path, port: int | None) -> AsyncIterator[Gateway]:
    """What a parent does while this lasts."""
    sender, lines = HttpSender(BootClock()), directory / "log"
    gateway = Gateway(rules_for(directory, port), lines, Counter())
    with lines.open("ab") as log:
        writes = Log("json", descriptor=log.fileno())
        parent = Notifying(Outbox(store), Webhooks(sender).post, lambda: gateway.rules, gateway, writes)
        running = asyncio.get_running_loop().create_task(parent.run())
        try:
            yield gateway
        finally:
            running.cancel()
            await asyncio.wait({running})
            sender.close()


@contextlib.asynccontextmanager
async def receiving(*statuses: str) -> AsyncIterator[tuple[RecordingUpstream, Receiver]]:
    receiver = Receiver(list(statuses or ("200 OK",)))
    async with RecordingUpstream(receiver.answer) as there:
        yield there, receiver


def another(number: int) -> Any:
    return keyed(bare(42, of=TOLD), digest=f"{f'another-{number}':-<22}")


def waits_after(raw: Any, attempts: str) -> bool:
    """Whether the only notification waits for the attempt after this one."""
    (id,) = outbox_of(raw)
    kept, due_ms = fields_of(raw, id), raw.zscore(notifications(id[:3], "waiting"), f"{id} {UPSTREAM}")
    # A claim is for a minute; the delays of the schedule are others.
    return kept["attempts"] == attempts and kept["failure"] != "" and not 50_000 < due_ms - now_ms(raw) < 70_000


def now_ms(raw: Any) -> float:
    seconds, micros = raw.time()
    return float(seconds * 1000 + micros / 1000)


async def test_people_are_told_within_seconds(store: FenceStore, raw: Any, tmp_path: Path) -> None:
    """Signed, with the intent, its state and why; then nothing of it is left."""
    async with receiving() as (there, receiver), sending(store, tmp_path, there.port) as gateway:
        await unknown(store)
        await until(lambda: outbox_of(raw) == [] and len(receiver.told) == 1)

        assert there.seen[0].line == "POST /hook?team=1 HTTP/1.1"
        told = receiver.told[0]
        assert (told["type"], told["data"]["intent"]) == ("intent.unknown", INTENT)
        assert (told["data"]["state"], told["data"]["reason"]) == ("unknown", "no answer within 30 s")
        assert gateway.counted == {("unknown", "sent"): 1}


async def test_an_incident_is_told_of_its_own(store: FenceStore, tmp_path: Path) -> None:
    """Beside the unknown outcome that it began as."""
    async with receiving() as (there, receiver), sending(store, tmp_path, there.port) as gateway:
        await unknown(store)
        await resolved(store, "duplicated")
        await until(lambda: gateway.counted.total() == 2)

        assert sorted(types(receiver.told)) == ["incident.duplicate_effect", "intent.unknown"]


async def test_what_happened_while_no_gateway_ran_is_told(store: FenceStore, tmp_path: Path) -> None:
    """It was recorded with the step; whichever gateway comes next sends it."""
    await unknown(store)
    async with receiving() as (there, receiver), sending(store, tmp_path, there.port):
        await until(lambda: len(receiver.told) == 1)


async def test_a_receiver_that_is_down_is_told_later(store: FenceStore, raw: Any, tmp_path: Path) -> None:
    """By the schedule: here its first two delays have passed at once."""
    async with RecordingUpstream() as there:
        port = there.port
    receiver = Receiver(["200 OK"])
    async with sending(store, tmp_path, port) as gateway:
        await unknown(store)
        await until(lambda: waits_after(raw, "1"))
        make_due(raw, *outbox_of(raw))
        await until(lambda: waits_after(raw, "2"))
        async with RecordingUpstream(receiver.answer, port=port):
            make_due(raw, *outbox_of(raw))
            await until(lambda: gateway.counted["unknown", "sent"] == 1)

    first, second = gateway.logged("a notification was not received")
    assert first["again_in_s"] == 5 and 300 <= second["again_in_s"] <= 330
    assert intents_told(receiver.told) == [INTENT]


async def test_a_receiver_that_answered_500_gets_the_same_id_again(store: FenceStore, raw: Any, tmp_path: Path) -> None:
    """So that it can drop what it has seen, whatever it answered."""
    async with receiving("500 No", "200 OK") as (there, receiver), sending(store, tmp_path, there.port) as gateway:
        await unknown(store)
        await until(lambda: waits_after(raw, "1"))
        make_due(raw, *outbox_of(raw))
        await until(lambda: gateway.counted["unknown", "sent"] == 1)

        assert len(receiver.ids) == 2 and len(set(receiver.ids)) == 1
        assert receiver.told[0] == receiver.told[1]


async def test_a_slow_receiver_holds_up_no_other(store: FenceStore, raw: Any, tmp_path: Path) -> None:
    """And is sent no more than a few at a time."""
    async with receiving() as (there, receiver), sending(store, tmp_path, there.port) as gateway:
        receiver.hold.clear()
        for number in range(9):
            await unknown(store, another(number))
        await until(lambda: len(receiver.told) == 4)
        assert len(set(receiver.ids)) == there.connections == 4

        receiver.hold.set()
        await until(lambda: gateway.counted["unknown", "sent"] == 9)
        assert len(set(receiver.ids)) == len(receiver.ids) == 9


async def test_a_receiver_that_hangs_keeps_nobody_elses_from_being_seen(store: FenceStore, tmp_path: Path) -> None:
    """However many wait for it in the same shard, all of them longer."""
    slow_rule = replace(TOLD, upstream=replace(TOLD.upstream, name="slow"))
    for _ in range(150):
        await unknown(store, bare(42, of=slow_rule))
    async with receiving() as (slow, hangs), receiving() as (there, receiver):
        hangs.hold.clear()
        (tmp_path / "policies").mkdir()
        also = "mount: {path: /slow}" + POLICY.replace("reports", "slow").format(
            notify=NOTIFY.format(port=slow.port, secret=SECRET)
        )
        (tmp_path / "policies" / "slow.yaml").write_text(also)
        async with sending(store, tmp_path, there.port):
            await until(lambda: len(hangs.told) == 4)
            await unknown(store)
            await until(lambda: intents_told(receiver.told) == [INTENT])

            assert len(hangs.told) == 4
            hangs.hold.set()


async def test_two_gateways_do_not_both_send(store_url: str, tmp_path: Path) -> None:
    """Each notification is sent by one of them."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    async with receiving() as (there, receiver), opened(store_url) as one, opened(store_url) as other:
        async with sending(one, tmp_path / "a", there.port) as a, sending(other, tmp_path / "b", there.port) as b:
            for number in range(20):
                await unknown(one, another(number))
            await until(lambda: a.counted.total() + b.counted.total() == 20)

        assert len(set(receiver.ids)) == len(receiver.ids) == 20


async def test_an_attempt_that_a_dying_gateway_broke_off_is_made_again(
    store: FenceStore, raw: Any, tmp_path: Path
) -> None:
    """Once its claim has run out; the receiver knows it by its id."""
    async with receiving() as (there, receiver):
        receiver.hold.clear()
        async with sending(store, tmp_path, there.port):
            await unknown(store)
            await until(lambda: len(receiver.told) == 1)
        receiver.hold.set()
        assert len(outbox_of(raw)) == 1
        make_due(raw, *outbox_of(raw))
        async with sending(store, tmp_path, there.port):
            await until(lambda: outbox_of(raw) == [])

        assert len(receiver.ids) == 2 and len(set(receiver.ids)) == 1


async def test_a_receiver_that_is_gone_is_asked_no_more(store: FenceStore, raw: Any, tmp_path: Path) -> None:
    """410: what is for it is a dead letter at once, until the policies are read again."""
    async with receiving("410 Gone", "200 OK") as (there, receiver), sending(store, tmp_path, there.port) as gateway:
        await unknown(store, another(0))
        await until(lambda: len(outbox_of(raw, "dead")) == 1)
        await unknown(store, another(1))
        await until(lambda: len(outbox_of(raw, "dead")) == 2)
        assert (len(receiver.told), gateway.counted) == (1, {("unknown", "dead"): 2})

        gateway.rules = rules_for(tmp_path, there.port)
        for id in outbox_of(raw, "dead"):
            await resend(store, id)
        await until(lambda: gateway.counted["unknown", "sent"] == 2)
        await until(lambda: outbox_of(raw, "dead") == outbox_of(raw) == [])


async def test_the_last_attempt_ends_in_a_dead_letter(store: FenceStore, raw: Any, tmp_path: Path) -> None:
    """It stays where operators see it, and can be sent again."""
    await unknown(store)
    (id,) = outbox_of(raw)
    raw.hset(notification(id[:3], id), "attempts", 9)
    async with receiving("500 No", "200 OK") as (there, _), sending(store, tmp_path, there.port) as gateway:
        await until(lambda: outbox_of(raw, "dead") == [id])
        assert fields_of(raw, id)["failure"] == "it answered 500, at the last of 10 attempts"

        await resend(store, id)
        await until(lambda: gateway.counted == {("unknown", "dead"): 1, ("unknown", "sent"): 1})


async def test_nothing_is_asked_of_the_store_where_nobody_is_told(
    store: FenceStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A gateway whose policies have no `notify` pays nothing for it."""
    looks: list[int] = []

    def noted(_command: bytes) -> "asyncio.Future[list[object]]":
        looks.append(1)
        nothing = asyncio.get_running_loop().create_future()
        nothing.set_result([])
        return nothing

    async with sending(store, tmp_path, None) as gateway:
        monkeypatch.setattr(store.link, "send", noted)
        turns = 0

        def many_turns() -> bool:
            nonlocal turns
            turns += 1
            return turns > 20

        await until(many_turns)
        assert looks == []

        gateway.rules = rules_for(tmp_path, 9)
        await until(lambda: len(looks) >= 1024)


async def test_what_is_broken_keeps_no_other_from_being_sent(store: FenceStore, raw: Any, tmp_path: Path) -> None:
    """A list of the wrong type, in one shard; in another a record that is none, of which the log tells."""
    raw.set(notifications("000", "waiting"), "no list")
    raw.hset(notification("001", "0011-0"), "attempts", 0)
    raw.zadd(notifications("001", "waiting"), {f"0011-0 {UPSTREAM}": 1})
    async with receiving() as (there, receiver), sending(store, tmp_path, there.port) as gateway:
        await unknown(store)
        await until(lambda: len(receiver.told) == 1)
        await until(lambda: len(gateway.logged("sending a notification failed")) == 1)


async def test_a_store_that_was_away_is_asked_again(tmp_path: Path) -> None:
    """Nothing ends; what was recorded before is sent."""
    server = Server(find_server(), tmp_path, "--save", "", "--appendonly", "yes", "--appendfsync", "always")
    server.start()
    try:
        async with receiving() as (there, receiver), opened(server.url, timeout_s=0.5) as store:
            await unknown(store)
            server.kill()
            async with sending(store, tmp_path, there.port):
                await until(lambda: not store.healthy)
                server.start()
                await until(lambda: len(receiver.told) == 1)
    finally:
        server.kill()


async def test_a_bug_ends_no_turn_but_its_own(
    store: FenceStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is told, and the next turn comes."""
    async with receiving() as (there, receiver), sending(store, tmp_path, there.port) as gateway:
        await unknown(store)
        with monkeypatch.context() as broken:
            broken.setattr(store, "expected_ms", lambda: 1 // 0)
            await until(lambda: len(gateway.logged("sending notifications failed")) > 0)

        await until(lambda: len(receiver.told) == 1)


async def test_no_secret_leaves_the_policy(store: FenceStore, raw: Any, tmp_path: Path) -> None:
    """Neither the signing secret nor the endpoint's path is logged, kept or sent."""
    async with receiving("500 No", "200 OK") as (there, _), sending(store, tmp_path, there.port) as gateway:
        await unknown(store)
        await until(lambda: waits_after(raw, "1"))
        kept = repr([raw.dump(key) for key in raw.keys("*")]) + repr(gateway.rules)
        make_due(raw, *outbox_of(raw))
        await until(lambda: gateway.counted["unknown", "sent"] == 1)

        sent = "".join(repr(seen.raw) for seen in there.seen).replace("/hook?team=1", "")
        for place in (kept, sent, gateway.lines.read_text()):
            for secret in (SECRET, SECRET.removeprefix("whsec_"), "hook?team"):
                assert secret not in place
