"""What bounds writes, leases and what waits holds exactly, whatever comes at once to two gateways of two workers."""

import asyncio
import contextlib
import hashlib
import json
import os
import secrets
import signal
from collections import Counter
from collections.abc import AsyncIterator, Awaitable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.raw import RawAnswer, ask
from tests.recording import OK, Answer, RecordingUpstream, Seen, answer_ok
from tests.store.server import Server
from tests.story.gateways import Gateway, write_policies
from tests.until import until

pytestmark = pytest.mark.slow

POLICY = """
upstream: reports
url: http://127.0.0.1:{port}
mount: {{path: /reports}}
timeouts: {{connect: 1s, total: 5s, late: 1s}}
defaults: {{fence: {{concurrency: parallel}}}}
writes:
  - name: write
    match: PUT /reports/{{id}}
    resource: report/{{path.id}}
  - name: pay
    match: POST /reports/{{id}}
    resource: payment/{{path.id}}
    intent: {{mode: required}}
    budget: [{{per: tenant, window: 1h, value: "json:/amount", total: 100}}]
  - name: mail
    match: PATCH /reports/{{id}}
    resource: mail/{{path.id}}
    delivery: queued
    fence: {{concurrency: serial}}
    intent: {{mode: required}}
"""
LIMITED, FREE = "ada", "root"
QUEUE_BYTES = 1 << 20


def principals() -> str:
    """Both may take over; one has quotas."""
    each = [
        f"  - {{name: {name}, key: 'sha256:{hashlib.sha256(name.encode()).hexdigest()}', resources: ['**'], "
        f"takeover: true, quota: {{{quota}}}}}"
        for name, quota in ((LIMITED, "leases: 3, writes_per_minute: 20"), (FREE, ""))
    ]
    return "\n".join(["principals:", *each]) + "\n"


@dataclass
class Two:
    """Two gateways on one store, and the API behind them. What is asked `number`th goes to each in turn."""

    gateways: tuple[Gateway, Gateway]
    api: RecordingUpstream

    def ask(self, number: int, who: str, call: str, *fields: str, body: bytes = b"{}") -> Awaitable[RawAnswer]:
        method, _, target = call.partition(" ")
        port = self.gateways[number % 2].port
        return ask(port, method, target, f"Fencegate-Key: {who}", *fields, body=body)

    def grant(self, number: int, who: str, resource: str, *fields: str, **more: object) -> Awaitable[RawAnswer]:
        asked = json.dumps({"resource": resource, "holder": who, "ttl_s": 600, **more}).encode()
        return self.ask(number, who, "POST /-/fence/leases", *fields, body=asked)

    async def token(self, resource: str) -> str:
        answer = await self.grant(0, FREE, resource)
        return f"Fencing-Token: {json.loads(answer.body)['token']}"

    def executed(self, method: str) -> list[bytes]:
        return [seen.body for seen in self.api.seen if seen.line.startswith(f"{method} ")]


@contextlib.asynccontextmanager
async def two(store: Server, directory: Path, answer: Answer = answer_ok) -> AsyncIterator[Two]:
    options = ("--workers", "2", "--queue-bytes", str(QUEUE_BYTES))
    async with RecordingUpstream(answer) as api:
        policies = write_policies(directory, "reports.yaml", POLICY.format(port=api.port))
        (policies / "principals.yaml").write_text(principals())
        async with (
            Gateway(policies, directory / "one", store.url, options) as one,
            Gateway(policies, directory / "other", store.url, options) as other,
        ):
            yield Two((one, other), api)


async def decisions(*asked: Awaitable[RawAnswer]) -> Counter[str | None]:
    return Counter(answer.decision for answer in await asyncio.gather(*asked))


async def test_eighty_writes_of_twenty_a_minute(shared_store: Server, tmp_path: Path) -> None:
    """As many are sent as the quota says, through whichever worker they come."""
    async with two(shared_store, tmp_path) as both:
        token = await both.token("report/7")
        told = await decisions(*(both.ask(number, LIMITED, "PUT /reports/7", token) for number in range(80)))

        assert told == {"forwarded": 20, "quota-exceeded": 60}
        assert len(both.api.seen) == 20


async def test_forty_grants_of_three_leases(shared_store: Server, tmp_path: Path) -> None:
    """However the principal takes its own leases over, never more than three live; once they are taken from it, it may
    have three others.
    """
    async with two(shared_store, tmp_path) as both:
        names = [f"report/{number % 5}" for number in range(40)]
        asked = (both.grant(at, LIMITED, name, takeover=bool(at % 3)) for at, name in enumerate(names))
        told = await decisions(*asked)
        lookups = [both.ask(0, FREE, f"GET /-/fence/leases?resource=report/{number}") for number in range(5)]
        live = [answer.status for answer in await asyncio.gather(*lookups)].count(200)
        for number in range(5):
            await both.grant(number, FREE, f"report/{number}", takeover=True)
        again = await decisions(*(both.grant(at, LIMITED, f"report/1{at}") for at in range(5)))

        assert set(told) <= {"granted", "quota-exceeded", "lease-held"}
        assert 1 <= live <= 3
        assert again == {"granted": 3, "quota-exceeded": 2}


async def test_sixty_takeovers_under_three_keys(shared_store: Server, tmp_path: Path) -> None:
    """A key is granted one lease, whichever worker hears its repeats, and however often it is overtaken meanwhile."""
    async with two(shared_store, tmp_path) as both:
        asked = [both.grant(at, FREE, "report/7", f"Idempotency-Key: k{at % 3}", takeover=True) for at in range(60)]
        answers = await asyncio.gather(*asked)

        tokens = {
            (at % 3, json.loads(answer.body)["token"]) for at, answer in enumerate(answers) if answer.status == 201
        }
        assert Counter(key for key, _ in tokens) == {0: 1, 1: 1, 2: 1}
        assert {answer.decision for answer in answers} <= {"granted", "lease-lost", "lease-held", "lease-in-progress"}


async def test_a_budget_while_workers_are_stopped_and_killed(shared_store: Server, tmp_path: Path) -> None:
    """What is executed never adds up to more than the budget, and nothing is executed twice."""

    async def slowly(seen: Seen, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.1)  # as an API takes its time: workers end in the middle of it
        writer.write(OK)

    async with two(shared_store, tmp_path, slowly) as both:
        token = await both.token("payment/7")

        async def pay(number: int) -> str | None:
            body = json.dumps({"amount": 7, "n": number % 40}).encode()
            with contextlib.suppress(OSError):
                fields = (token, f"Idempotency-Key: k{number % 40}", "Content-Type: application/json")
                return (await both.ask(number, FREE, "POST /reports/7", *fields, body=body)).decision
            return None

        paying = [asyncio.ensure_future(pay(number)) for number in range(120)]
        await until(lambda: len(both.api.seen) >= 2)
        stopped, killed = (gateway.worker_pids()[0] for gateway in both.gateways)
        os.kill(stopped, signal.SIGSTOP)
        os.kill(killed, signal.SIGKILL)
        await until(lambda: sum(call.done() for call in paying) > 30)
        os.kill(stopped, signal.SIGCONT)
        told = Counter(await asyncio.gather(*paying))

        executed = Counter(json.loads(body)["n"] for body in both.executed("POST"))
        assert set(executed.values()) == {1}
        assert 2 <= len(executed) <= 100 // 7
        assert told["quota-exceeded"] > 0


async def test_a_queue_that_is_full(shared_store: Server, tmp_path: Path) -> None:
    """Sixty at once take no more than a principal may have of it, and none of what was taken is lost."""
    go_on = asyncio.Event()

    async def once_told(_: Seen, writer: asyncio.StreamWriter) -> None:
        await go_on.wait()
        writer.write(OK)

    async with two(shared_store, tmp_path, once_told) as both:
        token = await both.token("mail/7")
        size = 45_000
        bodies = [secrets.token_bytes(size) for _ in range(60)]
        told = await decisions(
            *(
                both.ask(at, FREE, "PATCH /reports/7", token, f"Idempotency-Key: k{at}", body=body)
                for at, body in enumerate(bodies)
            )
        )
        go_on.set()
        await until(lambda: len(both.executed("PATCH")) == told["queued"])

        assert told["queued"] + told["no-room"] == 60
        assert 1 <= told["queued"] <= QUEUE_BYTES // 4 // size
        assert len(set(both.executed("PATCH"))) == told["queued"]


async def test_a_pause_before_a_queue(shared_store: Server, tmp_path: Path) -> None:
    """While it lasts nothing is taken and nothing is sent; what waited is sent afterwards, each once and in order."""
    async with two(shared_store, tmp_path) as both:
        token = await both.token("mail/7")
        held = asyncio.Event()

        async def hold(_: Seen, writer: asyncio.StreamWriter) -> None:
            await held.wait()
            writer.write(OK)

        both.api.answer = hold

        def mail(number: int) -> Awaitable[RawAnswer]:
            fields = (token, f"Idempotency-Key: k{number}")
            return both.ask(number, FREE, "PATCH /reports/7", *fields, body=str(number).encode())

        taken = [(await mail(number)).decision for number in range(10)]
        pause = await operate(both.gateways[0], "POST /api/v1/pauses", {"resource": "mail/7", "reason": "looking"})
        held.set()

        async def is_first_applied() -> bool:
            return len(await both.gateways[0].intents("applied")) == 1

        await until(is_first_applied)
        refused = [(await mail(10 + number)).decision for number in range(10)]
        sent_before = len(both.executed("PATCH"))
        await operate(both.gateways[1], f"DELETE /api/v1/pauses/{json.loads(pause.body)['id']}")
        await until(lambda: len(both.executed("PATCH")) == 10)

        assert (taken, refused) == (["queued"] * 10, ["paused"] * 10)
        assert sent_before == 1
        assert both.executed("PATCH") == [str(number).encode() for number in range(10)]


async def operate(gateway: Gateway, call: str, document: dict[str, str] | None = None) -> RawAnswer:
    method, _, target = call.partition(" ")
    body = None if document is None else json.dumps(document).encode()
    return await ask(gateway.admin, method, target, "Content-Type: application/json", body=body, host="localhost")
