"""Quotas under a race: what is asked of two gateways at the same instant passes exactly as often as the quota says."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable
from pathlib import Path

import pytest

from tests.raw import RawAnswer, ask
from tests.stack import Stack, stack

POLICY = """
upstream: reports
url: http://localhost:{port}
mount: {{path: /}}
timeouts: {{connect: 1s, total: 5s}}
writes:
  - name: write
    match: PUT /reports/{{id}}
    resource: report/{{path.id}}
  - name: tell
    match: PUT /told/{{id}}
    resource: told/{{path.id}}
    authority: header
"""
KEY = "a-key-of-some-length"
EPOCH = ("Fencing-Token: 1", "Fencing-Holder: h")
AT_ONCE = 40


@contextlib.asynccontextmanager
async def two_gateways(store_url: str, directory: Path, quota: str) -> AsyncIterator[tuple[Stack, Stack]]:
    """On one store, with one principal and its quota."""
    (directory / "key").write_text(KEY)
    (directory / "policies").mkdir()
    (directory / "policies" / "principals.yaml").write_text(
        f"principals: [{{name: dan, key: '${{file:{directory}/key}}', resources: ['**'], quota: {{{quota}}}}}]\n"
    )
    async with stack(store_url, directory, POLICY) as one, stack(store_url, directory, POLICY) as other:
        yield one, other


def lease(gate: Stack, resource: str) -> Awaitable[RawAnswer]:
    body = json.dumps({"resource": resource, "holder": "h", "ttl_s": 60}).encode()
    return ask(gate.port, "POST", "/-/fence/leases", f"Fencegate-Key: {KEY}", body=body)


def tell(gate: Stack, number: int) -> Awaitable[RawAnswer]:
    return ask(gate.port, "PUT", f"/told/{number}", f"Fencegate-Key: {KEY}", *EPOCH, body=b"{}")


async def decisions(calls: list[Awaitable[RawAnswer]]) -> list[str | None]:
    """What each was told, in order of the alphabet."""
    return sorted([answer.decision or "" for answer in await asyncio.gather(*calls)])


async def test_writes_of_a_minute_are_not_overrun(store_url: str, tmp_path: Path) -> None:
    """The upstreams get as many as the quota allows, not one more for each gateway."""
    async with two_gateways(store_url, tmp_path, "writes_per_minute: 7") as gates:
        told = await decisions([tell(gates[number % 2], number) for number in range(AT_ONCE)])

        assert told == ["forwarded"] * 7 + ["quota-exceeded"] * (AT_ONCE - 7)
        assert sum(len(gate.upstream.seen) for gate in gates) == 7


async def test_live_leases_are_not_overrun(store_url: str, tmp_path: Path) -> None:
    """Each grant counts before it is granted; what is released meanwhile makes room for as many."""
    async with two_gateways(store_url, tmp_path, "leases: 5") as gates:
        told = await decisions([lease(gates[number % 2], f"report/{number}") for number in range(AT_ONCE)])

        assert told == ["granted"] * 5 + ["quota-exceeded"] * (AT_ONCE - 5)


async def test_a_lease_that_many_ask_for_takes_one_place(store_url: str, tmp_path: Path) -> None:
    """Who finds it held gives the place back, whatever the order of the calls."""
    async with two_gateways(store_url, tmp_path, f"leases: {AT_ONCE}") as gates:
        told = await decisions([lease(gates[number % 2], "report/0") for number in range(AT_ONCE)])
        more = await decisions([lease(gates[number % 2], f"report/{number}") for number in range(1, AT_ONCE)])
        beyond = await lease(gates[0], f"report/{AT_ONCE}")

        assert told == ["granted"] + ["lease-held"] * (AT_ONCE - 1)
        assert more == ["granted"] * (AT_ONCE - 1)
        assert beyond.decision == "quota-exceeded"


@pytest.mark.parametrize("how", ["leases", "writes", "both"])
async def test_new_resources_are_not_overrun(store_url: str, tmp_path: Path, how: str) -> None:
    """By leases, by writes, and by both at once; each resource is asked for at both gateways."""
    async with two_gateways(store_url, tmp_path, "resources: 6") as gates:
        calls = []
        for number in range(AT_ONCE // 2):
            by_lease = how == "leases" or (how == "both" and number % 2)
            calls += [lease(gate, f"report/{number}") if by_lease else tell(gate, number) for gate in gates]
        told = await asyncio.gather(*calls)

        passed = {at // 2 for at, answer in enumerate(told) if answer.decision != "quota-exceeded"}
        assert len(passed) == 6
