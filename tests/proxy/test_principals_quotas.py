"""What a principal may use: writes of a minute, new resources, live leases."""

import json
from pathlib import Path
from typing import Any

import pytest

from gateway.core.write import ResourceKey
from gateway.store.keys import resource_keys
from tests.proxy.principals import gateway, key_of, records
from tests.raw import RawClient, request


async def test_writes_of_a_minute_are_counted_through_every_gateway(store_url: str, tmp_path: Path, raw: Any) -> None:
    """The first one too many is refused before the fence, in whichever gateway it comes."""
    async with gateway(store_url, tmp_path) as one, gateway(store_url, tmp_path) as other:
        told = [
            await gate.by("dan", "PUT", "/told/7", f"Fencing-Token: {epoch}", "Fencing-Holder: h")
            for epoch, gate in enumerate((one, other, one, other, one), 1)
        ]

        assert [answer.decision for answer in told] == ["forwarded"] * 3 + ["quota-exceeded"] * 2
        assert told[3].status == 429
        assert 0 < int(told[3].value("Retry-After") or 0) <= 60
        assert raw.hget(resource_keys(ResourceKey("told/7"))[0], "e") == b"3"
        assert (await one.by("ada", "PUT", "/told/7", "Fencing-Token: 9", "Fencing-Holder: h")).decision == "forwarded"


async def test_new_resources_are_counted(store_url: str, tmp_path: Path, raw: Any) -> None:
    """By a write, a lease or a registered epoch alike; what was there before is free."""
    async with gateway(store_url, tmp_path) as gate:
        epoch = ("Fencing-Token: 5", "Fencing-Holder: h")
        await gate.by("ada", "PUT", "/told/0", *epoch)
        told = [
            await gate.by("dan", "PUT", "/told/0", *epoch),
            await gate.grant("dan", "report/1"),
            await gate.by("dan", "POST", "/-/fence/epochs", *epoch, body={"resource": "told/2"}),
            await gate.grant("dan", "report/3"),
            await gate.by("dan", "POST", "/-/fence/epochs", *epoch, body={"resource": "told/4"}),
            await gate.by("dan", "PUT", "/told/5", *epoch),
            await gate.by("dan", "PUT", "/told/2", *epoch),
        ]

        decisions = ["forwarded", "granted", "registered", *["quota-exceeded"] * 3, "forwarded"]
        assert [answer.decision for answer in told] == decisions
        assert len(records(raw)) == 3


async def test_what_never_comes_to_the_fence_costs_no_quota(store_url: str, tmp_path: Path) -> None:
    """No token, one of another form, no holder, a key that is none: however often, the good writes that follow have
    all of their quota, of the minute and of the day."""
    async with gateway(store_url, tmp_path) as gate:
        epoch = ("Fencing-Token: 5", "Fencing-Holder: h")
        refused = [
            await gate.by("dan", "PUT", "/told/1"),
            await gate.by("dan", "PUT", "/told/2", "Fencing-Token: 5.x"),
            await gate.by("dan", "PUT", "/told/3", "Fencing-Token: 5"),
            await gate.by("dan", "PUT", "/told/4", *epoch, "Fencing-If-Revision: 7"),
            await gate.by("dan", "PUT", "/reports/5", "Fencing-Token: 5"),
            await gate.by("dan", "PUT", "/reports/6", f"Fencing-Token: 5.{'x' * 22}", "Idempotency-Key: k k"),
        ]
        good = [await gate.by("dan", "PUT", f"/told/{number}", *epoch) for number in (8, 9, 9)]
        beyond = await gate.by("dan", "PUT", "/told/9", *epoch)

        forms = ["token-required", "token-malformed", "token-malformed", "header-malformed", "token-malformed"]
        assert [answer.decision for answer in refused] == [*forms, "header-malformed"]
        assert [answer.decision for answer in good] == ["forwarded"] * 3
        assert beyond.decision == "quota-exceeded"


async def test_what_the_fence_refuses_is_a_write_of_the_minute(store_url: str, tmp_path: Path) -> None:
    """A loop of dead tokens asks the store each time: it is limited as good writes are."""
    async with gateway(store_url, tmp_path) as gate:
        dead = f"Fencing-Token: 5.{'x' * 22}"
        told = [(await gate.by("dan", "PUT", "/reports/1", dead)).decision for _ in range(4)]

        assert told == ["token-invalid"] * 3 + ["quota-exceeded"]


async def test_live_leases_are_counted(store_url: str, tmp_path: Path) -> None:
    """Renewals keep a place, a release gives it back, and a lease that was not granted has none."""
    async with gateway(store_url, tmp_path) as gate:
        await gate.grant("ada", "report/c0")
        held = await gate.grant("cyd", "report/c0")
        first, second = await gate.grant("cyd", "report/c1"), await gate.grant("cyd", "report/c2")
        token = f"Fencing-Token: {gate.tokens['cyd']}"
        renewed = await gate.by("cyd", "POST", "/-/fence/leases/renew", token, body={"resource": "report/c2"})
        third = await gate.grant("cyd", "report/c3")
        await gate.end("cyd", "report/c2")
        again = await gate.grant("cyd", "report/c3")

        assert (held.decision, first.status, second.status, renewed.status) == ("lease-held", 201, 201, 200)
        assert (third.status, third.decision, again.status) == (429, "quota-exceeded", 201)


async def test_a_lease_whose_answer_was_lost_counts_once(store_url: str, tmp_path: Path) -> None:
    """Its repeat under the same key is the same lease."""
    async with gateway(store_url, tmp_path) as gate:
        asked = {"resource": "report/c1", "holder": "cyd", "ttl_s": 60}
        for _ in range(3):
            answer = await gate.by("cyd", "POST", "/-/fence/leases", "Idempotency-Key: k", body=asked)
            assert answer.status == 201

        assert (await gate.grant("cyd", "report/c2")).status == 201
        assert (await gate.grant("cyd", "report/c3")).decision == "quota-exceeded"
        assert (await gate.by("cyd", "POST", "/-/fence/leases", "Idempotency-Key: k", body=asked)).status == 201


@pytest.mark.parametrize("call", ["renew", "release"])
async def test_no_call_but_its_own_end_stops_a_lease_from_counting(store_url: str, tmp_path: Path, call: str) -> None:
    """Its token shown for another resource, for another's lease, or with an older epoch gives no place back."""
    async with gateway(store_url, tmp_path) as gate:
        await gate.grant("cyd", "report/c1")
        await gate.grant("cyd", "report/c2")
        for _ in range(2):
            # Taken over, its epoch is a larger one even within the same millisecond.
            await gate.grant("ada", "report/c3", takeover=True)
        token = gate.tokens["cyd"]
        older = "1." + token.partition(".")[2]
        shown = [(token, "report/c3"), (token, "report/c4"), (older, "report/c2")]
        told = [
            await gate.by("cyd", "POST", f"/-/fence/leases/{call}", f"Fencing-Token: {text}", body={"resource": name})
            for text, name in shown
        ]
        more = await gate.grant("cyd", "report/c5")

        assert [answer.status for answer in told] == [412, 401, 412]
        assert more.decision == "quota-exceeded"


async def test_a_repeat_that_is_reset_gives_no_place_back(store_url: str, tmp_path: Path) -> None:
    """The lease lives on, and counts."""
    async with gateway(store_url, tmp_path) as gate:
        asked = {"resource": "report/c1", "holder": "cyd", "ttl_s": 60}
        await gate.by("cyd", "POST", "/-/fence/leases", "Idempotency-Key: k", body=asked)
        await gate.grant("cyd", "report/c2")
        fields = (f"Fencegate-Key: {key_of('cyd')}", "Idempotency-Key: k")
        for _ in range(10):
            async with RawClient(gate.port) as client:
                await client.send(request("POST", "/-/fence/leases", *fields, body=json.dumps(asked).encode()))
                client.writer.transport.abort()
            assert (await gate.grant("cyd", "report/c3")).decision == "quota-exceeded"


async def test_a_lease_that_was_taken_over_counts_no_longer(store_url: str, tmp_path: Path) -> None:
    """From the taker's answer on; what its former holder still asks for with the dead token gives nothing more back."""
    async with gateway(store_url, tmp_path) as one, gateway(store_url, tmp_path) as other:
        for name in ("report/c1", "report/c2"):
            await one.grant("cyd", name)
        dead = f"Fencing-Token: {one.tokens['cyd']}"
        full = await one.grant("cyd", "report/c3")
        await other.grant("ada", "report/c2", takeover=True)
        third = await one.grant("cyd", "report/c3")
        lost = await one.by("cyd", "POST", "/-/fence/leases/renew", dead, body={"resource": "report/c2"})
        fourth = await one.grant("cyd", "report/c4")

        assert (full.decision, third.status, lost.decision, fourth.decision) == (
            *("quota-exceeded", 201, "lease-lost", "quota-exceeded"),
        )
