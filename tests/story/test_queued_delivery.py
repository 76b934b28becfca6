"""Queued writes over deliverers of their own: killed at every step, shared, and overtaken."""

import asyncio
import contextlib
import json
import sys
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.raw import RawAnswer, ask
from tests.recording import RecordingUpstream, Seen
from tests.store.server import Server
from tests.story.gateways import Gateway, two_gateways, write_policies
from tests.until import STARTS_WITHIN_S, until

POLICY = """
upstream: mail
url: http://127.0.0.1:{port}
mount: {{path: /mail}}
timeouts: {{connect: 1s, total: 2s, late: 1s}}
defaults: {{authority: header, intent: {{mode: required}}}}
writes:
  - {{name: queued, match: "POST /mail/queued/{{box}}", resource: "mail/{{path.box}}", delivery: queued}}
  - {{name: approved, match: "POST /mail/approved/{{box}}", resource: "mail/{{path.box}}", approval: required}}
  - {{name: inline, match: "POST /mail/inline/{{box}}", resource: "mail/{{path.box}}"}}
"""
_JSON = "Content-Type: application/json"


def write_policy(directory: Path, port: int) -> Path:
    return write_policies(directory, "mail.yaml", POLICY.format(port=port))


async def send(gateway: Gateway, key: str, *, rule: str = "queued", box: str = "7", epoch: int = 1) -> RawAnswer:
    proof = (f"Fencing-Token: {epoch}", f"Fencing-Holder: agent-{epoch}", f"Idempotency-Key: {key}")
    body = json.dumps({"key": key}).encode()
    return await ask(gateway.port, "POST", f"/mail/{rule}/{box}", *proof, _JSON, body=body)


async def decide(gateway: Gateway, answer: RawAnswer, verdict: str, note: str) -> RawAnswer:
    """An operator's word on what is shown, by the admin API of a gateway."""
    target = f"/api/v1/intents/{json.loads(answer.body)['id']}"
    shown = await ask(gateway.admin, "GET", target, host="localhost")
    document = json.dumps({"note": note, "digest": json.loads(shown.body)["digest"]}).encode()
    return await ask(gateway.admin, "POST", f"{target}/{verdict}", _JSON, body=document, host="localhost")


async def states(gateway: Gateway, answers: dict[str, RawAnswer]) -> dict[str, str]:
    """What has become of each, by the gateway's word."""
    found = {}
    for key, answer in answers.items():
        shown = await ask(gateway.port, "GET", f"/-/fence/intents/{json.loads(answer.body)['id']}")
        found[key] = str(json.loads(shown.body)["state"])
    return found


def received(upstream: RecordingUpstream) -> Counter[str]:
    """How often each mail came to the API, whether or not it was answered."""
    return Counter(str(json.loads(seen.body)["key"]) for seen in upstream.seen)


@contextlib.asynccontextmanager
async def deliverer(policies: Path, store: str, log: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    """`fencegate deliver`, once it delivers; ended as an operator does."""
    with log.open("wb") as lines:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "gateway", "deliver", "--policies", str(policies), "--store", store),
            *("--log-format", "json"),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=lines,
            stderr=lines,
        )
    try:
        await until(lambda: '"delivering"' in log.read_text(), within_s=STARTS_WITHIN_S)
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        assert await process.wait() == 0, log.read_text()


@pytest.mark.promise("G4")
async def test_a_deliverer_that_is_killed_again_and_again(shared_store: Server, tmp_path: Path) -> None:
    """kill -9 whenever a mail is on its way: each came at most once, none is lost, and what is unknown says so."""
    beginning = asyncio.Semaphore(0)

    async def answer(_seen: Seen, writer: asyncio.StreamWriter) -> None:
        beginning.release()
        await asyncio.sleep(0.03)
        writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")

    async with RecordingUpstream(answer) as upstream:
        policies = write_policy(tmp_path, upstream.port)
        async with Gateway(policies, tmp_path / "one", shared_store.url) as gateway:
            taken = {f"k-{n}": await send(gateway, f"k-{n}", box=str(n % 3)) for n in range(18)}
            for _ in range(3):
                await beginning.acquire()
                gateway.kill_workers()
                await until(lambda: len(gateway.worker_pids()) > 0, within_s=STARTS_WITHIN_S)

            async def all_have_ended() -> bool:
                try:
                    return set((await states(gateway, taken)).values()) <= {"applied", "unknown"}
                except OSError:
                    return False

            await until(all_have_ended, within_s=60)
            found, counts = await states(gateway, taken), received(upstream)

    assert all(answer.status == 202 for answer in taken.values())
    assert max(counts.values()) == 1
    assert all(counts[key] == 1 for key, state in found.items() if state == "applied")
    assert sum(state == "applied" for state in found.values()) >= 12


@pytest.mark.promise("G4")
async def test_two_deliverers_share_the_work(shared_store: Server, tmp_path: Path) -> None:
    """A gateway and one that only delivers: each mail is sent once, and those of one box in their order."""
    async with RecordingUpstream() as upstream:
        policies = write_policy(tmp_path, upstream.port)
        async with (
            Gateway(policies, tmp_path / "one", shared_store.url) as gateway,
            deliverer(policies, shared_store.url, tmp_path / "deliverer"),
        ):
            keys = [f"k-{n:02}" for n in range(40)]
            taken = {key: await send(gateway, key, box=key[-1]) for key in keys}

            async def all_are_applied() -> bool:
                return set((await states(gateway, taken)).values()) == {"applied"}

            await until(all_are_applied)

    assert received(upstream) == Counter(keys)
    order = [str(json.loads(seen.body)["key"]) for seen in upstream.seen]
    for box in "0123456789":
        assert [key for key in order if key[-1] == box] == [key for key in keys if key[-1] == box]


@pytest.mark.promise("G1")
async def test_an_approval_after_a_takeover(shared_store: Server, tmp_path: Path) -> None:
    """Through another gateway than the one that took the request: nothing is sent, and the intent is superseded."""
    async with RecordingUpstream() as upstream:
        policies = write_policy(tmp_path, upstream.port)
        async with two_gateways(policies, tmp_path, shared_store.url) as (one, two):
            waiting = await send(one, "k-1", rule="approved", epoch=1)
            newer = await send(two, "k-2", rule="inline", epoch=2)
            late = await decide(two, waiting, "approve", "looks right")
            found = await states(one, {"k-1": waiting})

    assert (waiting.decision, newer.status) == ("awaiting-approval", 200)
    assert (late.status, late.problem["intent"]) == (409, {"id": json.loads(waiting.body)["id"], "state": "superseded"})
    assert found == {"k-1": "superseded"}
    assert received(upstream) == Counter(["k-2"])


@pytest.mark.promise("G4")
async def test_two_approvers_at_two_gateways(shared_store: Server, tmp_path: Path) -> None:
    """One wins; what was approved is sent within a second, once, whichever gateway does it."""
    async with RecordingUpstream() as upstream:
        policies = write_policy(tmp_path, upstream.port)
        async with two_gateways(policies, tmp_path, shared_store.url) as (one, two):
            taken = {f"k-{n}": await send(one, f"k-{n}", rule="approved", box=str(n)) for n in range(5)}
            for key, answer in taken.items():
                verdicts = await asyncio.gather(
                    decide(one, answer, "approve", f"by one {key}"), decide(two, answer, "approve", f"by two {key}")
                )
                assert sorted(verdict.status for verdict in verdicts) == [200, 409]
            await upstream.until(lambda: len(upstream.seen) >= 5)

            async def all_are_applied() -> bool:
                return set((await states(two, taken)).values()) == {"applied"}

            await until(all_are_applied)

    assert received(upstream) == Counter(taken.keys())
