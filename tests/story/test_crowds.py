"""Crowds that ask for all at once, or never listen, cost one worker a bounded amount of memory, and nobody else the
service.
"""

import asyncio
import contextlib
import json
import re
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.raw import RawAnswer, RawClient, ask, request
from tests.recording import Answer, RecordingUpstream, Seen, answer_ok, answering
from tests.store.server import Server
from tests.story.gateways import Gateway, write_policies
from tests.until import until

pytestmark = pytest.mark.slow

POLICY = """
upstream: reports
url: http://127.0.0.1:{port}
mount: {{path: /reports}}
timeouts: {{connect: 1s, total: 5s, late: 1s}}
writes:
  - name: write
    match: PUT /reports/{{id}}
    resource: report/{{path.id}}
    intent: {{mode: optional}}
    effect: {{compensation: {{request: "DELETE /reports/{{path.id}}"}}}}
"""
LARGE = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n" + bytes(1_000_000)


@contextlib.asynccontextmanager
async def one(
    store: Server, directory: Path, answer: Answer = answer_ok, workers: int = 1
) -> AsyncIterator[tuple[Gateway, RecordingUpstream]]:
    async with RecordingUpstream(answer) as api:
        policies = write_policies(directory, "reports.yaml", POLICY.format(port=api.port))
        async with Gateway(policies, directory / "one", store.url, ("--workers", str(workers))) as gateway:
            yield gateway, api


def memory_mib(pid: int) -> int:
    """What is resident of a process."""
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1]) >> 10


async def test_callers_who_send_on_and_read_nothing(shared_store: Server, tmp_path: Path) -> None:
    """Twenty of them, each with thousands of reads of a large answer in a row: each is read as slowly as it reads."""
    row = request("GET", "/reports/7") * 500
    async with one(shared_store, tmp_path, answering(LARGE)) as (gateway, api):
        (pid,) = gateway.worker_pids()
        before = memory_mib(pid)
        async with contextlib.AsyncExitStack() as opened:
            for _ in range(20):
                client = await opened.enter_async_context(RawClient(gateway.port))
                client.writer.write(row * 10)
            await until(lambda: len(api.seen) >= 20)
            # Whoever is served meanwhile shows that the loop has gone round.
            for _ in range(20):
                served = await ask(gateway.port, "GET", "/reports/8")
                assert (served.status, len(served.body)) == (200, 1_000_000)
            after = memory_mib(pid)

        assert after - before < 150
        # Of each some: what fits into the buffers between.
        assert len(api.seen) < 20 * 50


async def test_thousands_that_wait_for_one_lease(shared_store: Server, tmp_path: Path) -> None:
    """Five hundred at a time; each is told that the lease is held, or that there is no place to wait. Meanwhile a read
    and a renewal are served.
    """
    asked = json.dumps({"resource": "report/7", "holder": "b", "ttl_s": 5, "wait_s": 1}).encode()
    async with one(shared_store, tmp_path) as (gateway, _):
        await gateway.lease("report/7", "a")
        crowd = asyncio.Semaphore(500)

        async def wait_for_it() -> str | None:
            async with crowd:
                return (await ask(gateway.port, "POST", "/-/fence/leases", body=asked)).decision

        waiting = [asyncio.ensure_future(wait_for_it()) for _ in range(2_500)]
        await until(lambda: any(each.done() for each in waiting))
        read = await ask(gateway.port, "GET", "/reports/7")
        token = f"Fencing-Token: {gateway.tokens['a']}"
        renewed = await ask(gateway.port, "POST", "/-/fence/leases/renew", token, body=b'{"resource": "report/7"}')
        told = Counter(await asyncio.gather(*waiting))

        assert (read.status, renewed.status) == (200, 200)
        assert set(told) <= {"lease-held", "overloaded"}
        assert told["lease-held"] > 0


async def test_twenty_operators_take_one_write_back(shared_store: Server, tmp_path: Path) -> None:
    """Through two workers at once: the API is asked once, and the others are told so while it is."""
    told = list[int]()

    async def slowly(seen: Seen, writer: asyncio.StreamWriter) -> None:
        if seen.line.startswith("DELETE"):
            await until(lambda: len(told) == 19)
        await answer_ok(seen, writer)

    async with one(shared_store, tmp_path, slowly, workers=2) as (gateway, api):
        await gateway.lease("report/7", "a")
        fields = (f"Fencing-Token: {gateway.tokens['a']}", "Idempotency-Key: k")
        await ask(gateway.port, "PUT", "/reports/7", *fields, body=b"{}")
        (applied,) = await gateway.intents("applied")

        async def take_back(number: int) -> RawAnswer:
            target, note = f"/api/v1/intents/{applied['id']}/compensate", json.dumps({"note": f"n{number}"}).encode()
            kind = "Content-Type: application/json"
            answer = await ask(gateway.admin, "POST", target, kind, body=note, host="localhost")
            told.append(answer.status)
            return answer

        answers = await asyncio.gather(*(take_back(number) for number in range(20)))

        assert [seen.line.split()[0] for seen in api.seen] == ["PUT", "DELETE"]
        assert Counter(answer.status for answer in answers)[200] >= 1
        assert {answer.status for answer in answers} <= {200, 409}
        assert (await gateway.intents("compensated"))[0]["id"] == applied["id"]
