"""A key that is withdrawn while its owner waits in a gateway that is stopped: nothing is done for it afterwards."""

import asyncio
import hashlib
import json
import os
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests.proxy.test_pauses import waits
from tests.raw import RawAnswer, ask
from tests.recording import OK, RecordingUpstream, Seen
from tests.store.fences import opened
from tests.store.server import Server
from tests.story.gateways import Gateway, two_gateways, write_policies
from tests.until import until

pytestmark = pytest.mark.slow

POLICY = """
upstream: reports
url: http://127.0.0.1:{port}
mount: {{path: /reports}}
timeouts: {{connect: 1s, total: 60s}}
defaults: {{authority: header, fence: {{queue_timeout: 60s}}}}
writes:
  - {{name: write, match: "PUT /reports/{{id}}", resource: "report/{{path.id}}"}}
  - {{name: leased, match: "PUT /reports/leased/{{id}}", resource: "leased/{{path.id}}", authority: lease}}
  - name: later
    match: POST /reports/{{id}}
    resource: later/{{path.id}}
    delivery: queued
    intent: {{mode: required}}
"""
# Policies that are in force in the parent are used by no worker's request any more after a second.
DUE_S = 1.5
PROOF = ("Fencing-Token: 5", "Fencing-Holder: team")


def name(policies: Path, *names: str) -> None:
    """These are the principals, from one instant to the next."""
    lines = [
        f'  - {{name: {name}, key: "sha256:{hashlib.sha256(name.encode()).hexdigest()}", resources: ["**"]}}\n'
        for name in names
    ]
    (policies / "new").write_text("principals:\n" + "".join(lines))
    (policies / "new").replace(policies / "principals.yaml")


def put(gateway: Gateway, who: str) -> Awaitable[RawAnswer]:
    return ask(gateway.port, "PUT", "/reports/7", f"Fencegate-Key: {who}", *PROOF, body=f'"{who}"'.encode())


def call(gateway: Gateway, who: str, call: str, *fields: str, **asked: object) -> Awaitable[RawAnswer]:
    said = json.dumps({"resource": "leased/7", **asked}).encode()
    return ask(gateway.port, "POST", f"/-/fence/{call}", f"Fencegate-Key: {who}", *fields, body=said)


async def test_who_waited_in_a_stopped_worker_is_nobody_when_it_goes_on(shared_store: Server, tmp_path: Path) -> None:
    """Its turn and its lease are free by then. At another gateway its requests, reads too, are refused at once."""
    may = asyncio.Event()

    async def answer(seen: Seen, writer: asyncio.StreamWriter) -> None:
        if seen.body:
            await may.wait()
        writer.write(OK)

    async with RecordingUpstream(answer) as upstream:
        policies = write_policies(tmp_path, "reports.yaml", POLICY.format(port=upstream.port))
        name(policies, "ada", "bob")
        async with two_gateways(policies, tmp_path, shared_store.url) as (one, two), opened(shared_store.url) as store:
            held = json.loads((await call(two, "bob", "leases", holder="bob", ttl_s=60)).body)
            first = asyncio.ensure_future(put(two, "bob"))
            await upstream.until(lambda: len(upstream.seen) == 1)
            waiting = [put(one, "ada"), call(one, "ada", "leases", holder="ada", ttl_s=60, wait_s=50)]
            asked = [asyncio.ensure_future(each) for each in waiting]
            await until(lambda: waits(store, "report/7"))
            await until(lambda: waits(store, "leased/7"))

            one.pause()
            try:
                name(policies, "bob")

                async def is_nobody() -> bool:
                    return (await ask(two.port, "GET", "/reports/7", "Fencegate-Key: ada")).status == 401

                await until(is_nobody)
                await until(lambda: "the policies were reloaded" in one.events())
                await asyncio.sleep(DUE_S)
                elsewhere = [await put(two, "ada"), await call(two, "ada", "leases", holder="ada", ttl_s=60)]
                may.set()
                ended = await first
                released = await call(two, "bob", "leases/release", f"Fencing-Token: {held['token']}")
            finally:
                one.go_on()
            told = await asyncio.gather(*asked)
            after = [await put(one, "ada"), await ask(one.port, "GET", "/reports/7", "Fencegate-Key: ada")]
            free = await ask(two.port, "GET", "/-/fence/leases?resource=leased/7", "Fencegate-Key: bob")

        refused = {(each.status, each.decision) for each in (*elsewhere, *told, *after)}
        assert (ended.decision, released.status) == ("forwarded", 204)
        assert refused == {(401, "unauthenticated")}
        assert free.status == 404
        assert [seen.body for seen in upstream.seen if seen.body] == [b'"bob"']


async def test_nor_is_anything_taken_that_was_being_taken(shared_store: Server, tmp_path: Path) -> None:
    """Large writes are queued; the worker is stopped once the first of them is, and the others are on their way."""
    body = os.urandom(5 << 20)
    async with RecordingUpstream() as upstream:
        policies = write_policies(tmp_path, "reports.yaml", POLICY.format(port=upstream.port))
        name(policies, "ada", "bob")
        async with two_gateways(policies, tmp_path, shared_store.url) as (one, two):

            def later(number: int) -> Awaitable[RawAnswer]:
                fields = "Fencegate-Key: ada", "Idempotency-Key: k", *PROOF
                return ask(one.port, "POST", f"/reports/{number}", *fields, body=body)

            async def taken() -> set[object]:
                found = [await two.intents(state) for state in ("queued", "applied")]
                return {intent["id"] for intents in found for intent in intents}

            asked = [asyncio.ensure_future(later(number)) for number in range(8)]
            await until(taken)
            one.pause()
            try:
                name(policies, "bob")
                await until(lambda: "the policies were reloaded" in one.events())
                await asyncio.sleep(DUE_S)
                before = await taken()
            finally:
                one.go_on()
            told = await asyncio.gather(*asked)

            assert {answer.status for answer in told} <= {202, 401, 503}
            assert await taken() == before


# What shows something that others have done: who has no key by now is not shown it.
SHOWS = {"a repeat", "a read", "an intent", "a look-up"}
AT_ONCE = 3


async def steps(gateway: Gateway) -> list[dict[str, object]]:
    """All that was granted, registered or taken of what is asked for, by the trail."""
    return [event for resource in ("leased/8", "report/9", "later/7") for event in await gateway.trail(resource)]


async def test_nor_for_those_that_go_on_asking(shared_store: Server, tmp_path: Path) -> None:
    """Calls of all kinds under way in each step: nothing is sent, granted, taken, replayed or shown afterwards."""
    async with RecordingUpstream() as upstream:
        policies = write_policies(tmp_path, "reports.yaml", POLICY.format(port=upstream.port))
        name(policies, "ada", "bob")
        async with two_gateways(policies, tmp_path, shared_store.url) as (one, two):
            lease = json.loads((await call(one, "ada", "leases", holder="ada", ttl_s=600)).body)
            token = f"Fencing-Token: {lease['token']}"

            def later(*fields: str) -> Awaitable[RawAnswer]:
                keyed = "Fencegate-Key: ada", "Idempotency-Key: k", *PROOF, *fields
                return ask(one.port, "POST", "/reports/7", *keyed, body=b"{}")

            def get(target: str) -> Awaitable[RawAnswer]:
                return ask(one.port, "GET", target, "Fencegate-Key: ada")

            intent = str((await later()).value("Location"))
            asks: dict[str, Callable[[], Awaitable[RawAnswer]]] = {
                "a write": lambda: put(one, "ada"),
                "a leased write": lambda: ask(
                    one.port, "PUT", "/reports/leased/7", "Fencegate-Key: ada", token, body=b"{}"
                ),
                "a repeat": lambda: later("Prefer: wait=5"),
                "a read": lambda: get("/reports/7"),
                "an intent": lambda: get(intent),
                "a look-up": lambda: get("/-/fence/leases?resource=leased/7"),
                "a grant": lambda: call(
                    one, "ada", "leases", "Idempotency-Key: k", resource="leased/8", holder="ada", ttl_s=60
                ),
                "a renewal": lambda: call(one, "ada", "leases/renew", token),
                "an epoch": lambda: call(one, "ada", "epochs", *PROOF, resource="report/9"),
            }
            before, since, goes_on, is_over = Counter[str](), list[tuple[str, RawAnswer]](), False, False

            async def go_on_asking(what: str) -> None:
                while not is_over:
                    answer = await asks[what]()
                    if goes_on:
                        since.append((what, answer))
                    else:
                        before[what] += answer.status in (200, 201)

            asking = [asyncio.ensure_future(go_on_asking(what)) for what in asks for _ in range(AT_ONCE)]
            await until(lambda: all(before[what] > AT_ONCE for what in asks))
            one.pause()
            try:
                name(policies, "bob")
                await until(lambda: "the policies were reloaded" in one.events())
                await asyncio.sleep(DUE_S)
                sent, moved = len(upstream.seen), await steps(two)
            finally:
                goes_on = True
                one.go_on()
            await until(lambda: all(Counter(what for what, _ in since)[what] > 2 * AT_ONCE for what in asks))
            is_over = True
            await asyncio.gather(*asking)

            # What was sent or done before is told; a process is stopped in the middle of one answer at most.
            assert {answer.status for _, answer in since} <= {200, 201, 401, 503}
            assert sum(what in SHOWS and answer.status == 200 for what, answer in since) <= 1
            assert max(Counter(what for what, answer in since if answer.status < 300).values(), default=0) <= AT_ONCE
            assert len(upstream.seen) == sent
            assert await steps(two) == moved
