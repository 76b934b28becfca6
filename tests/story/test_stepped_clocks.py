"""A store whose clock is set: no write in flight is taken for ended, and no unknown write for one that never was."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import redis

from gateway.store.embedded import find_server
from tests.faked_clock import LIBRARY, faking
from tests.raw import RawAnswer, RawClient, ask, request
from tests.recording import OK, RecordingUpstream, Seen
from tests.store.server import Server
from tests.story.gateways import two_gateways, write_policies
from tests.until import until

# The bundled store cannot be told another time in any other way.
pytestmark = [pytest.mark.slow, pytest.mark.skipif(LIBRARY is None, reason="libfaketime is not installed")]

POLICY = """
upstream: mail
url: http://127.0.0.1:{port}
mount: {{path: /mail}}
timeouts: {{connect: 1s, total: {total}, late: 1s}}
writes:
  - name: write
    match: PUT /mail/{{id}}
    resource: mail/{{path.id}}
    fence: {{drain_timeout: 1s}}
    intent: {{mode: optional}}
"""
HOUR_S = 3600
# A lease, and how long it is before the next step: each lease lives through one or two.
TTL_S, BETWEEN_S = 12, 2.0
# A step is believed after a minute by whoever knows of no longer writes; then it sweeps.
BELIEVED_AFTER_S, SWEPT_WITHIN_S = 60, 10
# Two records of the test: what outlives a step of 25 hours, and what it ends.
KEPT_S, GONE_S = 48 * HOUR_S, 24 * HOUR_S


@dataclass
class SteppedStore:
    """A server that reads how far its clock is off in a file."""

    server: Server
    clock: Path

    def step(self, seconds: int) -> None:
        self.clock.write_text(f"{seconds:+d}s\n")

    async def stepped(self, raw: Any, seconds: int) -> None:
        """Step, and wait until the server's own cycle has looked at what it keeps by the new time."""
        raw.set("kept", 1, ex=KEPT_S)
        raw.set("gone", 1, ex=GONE_S)
        expired = raw.info("stats")["expired_keys"]
        self.step(seconds)
        await until(lambda: raw.info("stats")["expired_keys"] > expired)
        assert raw.exists("kept", "gone") == 1


@pytest.fixture
def stepped_store(tmp_path: Path) -> Iterator[SteppedStore]:
    """Started through libfaketime, which is told of a step by a file."""
    directory, clock = tmp_path / "store", tmp_path / "clock"
    directory.mkdir()
    told = " ".join(f"{name}={value}" for name, value in faking(clock).items())
    start = tmp_path / "store-server"
    start.write_text(f'#!/bin/sh\nexec env {told} {find_server()} "$@"\n')
    start.chmod(0o755)
    server = Server(str(start), directory, "--save", "", "--appendonly", "yes")
    server.start()
    try:
        yield SteppedStore(server, clock)
    finally:
        server.kill()


@pytest.fixture
async def held() -> AsyncIterator[tuple[RecordingUpstream, asyncio.Event]]:
    """An upstream whose first answer waits for the event."""
    release = asyncio.Event()

    async def answer(_: Seen, writer: asyncio.StreamWriter) -> None:
        if len(upstream.seen) == 1:
            await release.wait()
        writer.write(OK)

    async with RecordingUpstream(answer) as upstream:
        yield upstream, release
        release.set()


async def put(port: int, token: object, body: str, *fields: str) -> RawAnswer:
    fields = (f"Fencing-Token: {token}", "Content-Type: application/json", *fields)
    return await ask(port, "PUT", "/mail/7", *fields, body=json.dumps(body).encode())


@pytest.mark.promise("G3")
async def test_an_hour_forward_ends_no_write_in_flight(
    stepped_store: SteppedStore, held: tuple[RecordingUpstream, asyncio.Event], tmp_path: Path
) -> None:
    """Two gateways saw the store before the step: the newer holder's write begins once the older one's has ended."""
    upstream, release = held
    policies = write_policies(tmp_path, "mail.yaml", POLICY.format(port=upstream.port, total="30s"))
    async with two_gateways(policies, tmp_path, stepped_store.server.url) as (one, two):
        old = await one.lease("mail/7", "A")
        first = asyncio.ensure_future(put(one.port, old["token"], "A"))
        await until(lambda: len(upstream.seen) == 1)

        stepped_store.step(HOUR_S)
        new = await two.lease("mail/7", "B", takeover=True)
        early = await put(two.port, new["token"], "B")
        seen = [each.body for each in upstream.seen]
        release.set()
        ended = await first
        late = await put(two.port, new["token"], "B")

        assert int(str(new["epoch"])) - int(str(old["epoch"])) >= HOUR_S
        assert (early.status, early.decision) == (503, "takeover-pending")
        assert seen == [b'"A"']
        assert (ended.status, late.status) == (200, 200)
        assert [each.body for each in upstream.seen] == [b'"A"', b'"B"']


@pytest.mark.promise("G3")
@pytest.mark.parametrize("by_now", ["5m", "5s"])
async def test_nor_does_it_end_one_that_lasts_for_more_than_a_minute(
    by_now: str, stepped_store: SteppedStore, held: tuple[RecordingUpstream, asyncio.Event], tmp_path: Path
) -> None:
    """Who sweeps what nobody settled is another process than the one that sent it; it knows how long writes last, and
    lasted before a reload.
    """
    upstream, release = held
    policies = write_policies(tmp_path, "mail.yaml", POLICY.format(port=upstream.port, total="5m"))
    async with (
        two_gateways(policies, tmp_path, stepped_store.server.url) as (one, two),
        RawClient(one.port) as first,
    ):
        old = await one.lease("mail/7", "A", ttl_s=600)
        await first.send(request("PUT", "/mail/7", f"Fencing-Token: {old['token']}", body=b'"A"'))
        await until(lambda: len(upstream.seen) == 1)
        if by_now != "5m":
            (policies / "mail.yaml").write_text(POLICY.format(port=upstream.port, total=by_now))
            await until(lambda: all("the policies were reloaded" in each.events() for each in (one, two)))

        stepped_store.step(HOUR_S)
        new = await two.lease("mail/7", "B", takeover=True, ttl_s=600)
        begun, told = time.monotonic(), set[tuple[int, str | None]]()
        while time.monotonic() < begun + BELIEVED_AFTER_S + SWEPT_WITHIN_S:
            early = await put(two.port, new["token"], "B")
            told.add((early.status, early.decision))
        seen = [each.body for each in upstream.seen]
        release.set()

        assert told == {(503, "takeover-pending")}
        assert seen == [b'"A"']
        assert (await first.answer("PUT")).status == 200
        assert (await put(two.port, new["token"], "B")).status == 200


@pytest.mark.promise("G4")
async def test_a_wrong_day_makes_no_unknown_write_a_new_one(
    stepped_store: SteppedStore, held: tuple[RecordingUpstream, asyncio.Event], tmp_path: Path
) -> None:
    """The clock is 25 hours ahead, and right again: the key is still taken, by its holder and under a new lease."""
    upstream, _ = held
    policies = write_policies(tmp_path, "mail.yaml", POLICY.format(port=upstream.port, total="2s"))
    key = "Idempotency-Key: order-17"
    async with two_gateways(policies, tmp_path, stepped_store.server.url) as (one, two):
        lease = await one.lease("mail/7", "A", ttl_s=3600)
        unknown = await put(one.port, lease["token"], "A", key)

        with redis.Redis.from_url(stepped_store.server.url) as raw:
            await stepped_store.stepped(raw, 25 * HOUR_S)
            stepped_store.step(0)
            await until(lambda: raw.time()[0] < raw.expiretime("kept") - GONE_S)
        again = await put(one.port, lease["token"], "A", key)
        newer = await two.lease("mail/7", "B", takeover=True)
        others = await put(two.port, newer["token"], "A", key)

        assert (unknown.status, unknown.decision) == (504, "outcome-unknown")
        assert [(answer.status, answer.decision) for answer in (again, others)] == [(409, "outcome-unknown")] * 2
        assert len(upstream.seen) == 1


async def test_who_calls_right_behind_a_step_is_served(stepped_store: SteppedStore, tmp_path: Path) -> None:
    """Forward or back, by however much: with its first call of each kind a gateway learns what the clock says."""
    async with RecordingUpstream() as upstream:
        policies = write_policies(tmp_path, "mail.yaml", POLICY.format(port=upstream.port, total="5s"))
        steps = (600, 7200, 300, 4000, -3000, 25 * HOUR_S)
        async with two_gateways(policies, tmp_path, stepped_store.server.url) as (one, two):
            told = []
            for number, step in enumerate(steps):
                resource = f"mail/{number}"
                stepped_store.step(step)
                lease = await one.lease(resource, "A")
                proof = f"Fencing-Token: {lease['token']}"
                about = json.dumps({"resource": resource}).encode()
                renewed = await ask(two.port, "POST", "/-/fence/leases/renew", proof, body=about)
                wrote = await ask(two.port, "PUT", f"/mail/{number}", proof, "Idempotency-Key: k", body=b'"A"')
                told.append((renewed.decision, wrote.decision))
                await two.command("resources", "advance", resource)

            assert told == [("renewed", "forwarded")] * len(steps)
            assert len(upstream.seen) == len(steps)


@pytest.mark.promise("G2")
async def test_a_lease_ends_in_its_time_however_often_the_clock_is_set_back(
    stepped_store: SteppedStore, tmp_path: Path
) -> None:
    """Its holder writes all the time, through a gateway that saw the steps. None ends sooner by one before its grant,
    and none lives on for as much longer.
    """
    async with RecordingUpstream() as upstream:
        policies = write_policies(tmp_path, "mail.yaml", POLICY.format(port=upstream.port, total="5s"))
        async with two_gateways(policies, tmp_path, stepped_store.server.url) as (one, two):
            told, is_over = dict[str, list[str | None]](), False

            async def go_on_writing(resource: str, token: object) -> None:
                while not is_over:
                    written = await ask(one.port, "PUT", f"/{resource}", f"Fencing-Token: {token}", body=b'"A"')
                    told.setdefault(resource, []).append(written.decision)
                    # A pace, not a wait: without one the holder's writes take the machine from everybody else.
                    await asyncio.sleep(0.02)

            writing = []
            for resource, offset_s in (("mail/7", -30), ("mail/8", -40)):
                lease = await one.lease(resource, "A", ttl_s=TTL_S)
                writing.append(asyncio.ensure_future(go_on_writing(resource, lease["token"])))
                await asyncio.sleep(BETWEEN_S)
                stepped_store.step(offset_s)
                await asyncio.sleep(BETWEEN_S)
            assert set().union(*told.values()) == {"forwarded"}

            async with asyncio.timeout(2 * TTL_S):
                await until(
                    lambda: all(decisions[-1] != "forwarded" for decisions in told.values()), within_s=2 * TTL_S
                )
                new = [await two.lease(resource, "B") for resource in told]
            is_over = True
            await asyncio.gather(*writing)

        assert len(new) == 2
        assert set().union(*told.values()) <= {"forwarded", "lease-expired", "stale-epoch"}
