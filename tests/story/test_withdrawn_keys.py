"""A key that is withdrawn while its owner waits in a gateway that is stopped: nothing is done for it afterwards."""

import asyncio
import hashlib
import json
import os
from collections.abc import Awaitable
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
