"""How soon an operator's word takes effect: an approval at the upstream, a pause at every gateway."""

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

from tests.bench.figure import Figure, at_most, percentile
from tests.bench.gateway import Setting, gateway
from tests.bench.process import Failed
from tests.bench.stage import Stage
from tests.bench.subject import Subject
from tests.raw import RawAnswer, ask
from tests.recording import RecordingUpstream, Seen, answer_ok

_POLICY = """
upstream: api
url: http://127.0.0.1:{port}
defaults: {{authority: header, intent: {{mode: required}}}}
writes:
  - {{name: approved, match: "POST /approved/{{id}}", resource: "approved/{{path.id}}", approval: required}}
  - {{name: now, match: "POST /now/{{id}}", resource: "now/{{path.id}}"}}
"""
_PROMPT = at_most(1_000)
_APPROVALS = 20
_PAUSES = 10
# Between two writes of one caller, each of which finds out whether it is paused by now.
_EVERY_S = 0.005
_WITHIN_S = 30.0


def measure_promptness(stage: Stage) -> Iterator[Figure]:
    stage.store.empty()
    approvals_ms, pauses_ms = asyncio.run(_measured(stage))
    yield Figure("from an approval to its request at the upstream, median", "ms").of(approvals_ms)
    yield Figure("the same, the slowest", "ms", _PROMPT, f"of {_APPROVALS}, two gateways").of([max(approvals_ms)])
    median = percentile(pauses_ms, 50)
    yield Figure("from a pause to the last write that passes either gateway, median", "ms").of([median])
    yield Figure("the same, the slowest", "ms", _PROMPT, f"of {_PAUSES}, two gateways").of([max(pauses_ms)])


async def _measured(stage: Stage) -> tuple[list[float], list[float]]:
    async with _Api() as api:
        setting = Setting({"api": _POLICY.format(port=api.port)})
        async with _running(stage, setting) as one, _running(stage, setting) as other:
            callers = _Callers()
            approvals = [await _approved_ms(callers, api, one, other) for _ in range(_APPROVALS)]
            return approvals, [await _paused_ms(callers, one, other) for _ in range(_PAUSES)]


@contextlib.asynccontextmanager
async def _running(stage: Stage, setting: Setting) -> AsyncIterator[Subject]:
    # Nothing else is to be done here while it starts.
    with gateway("a gateway", stage.directory, stage.store, setting) as subject:
        yield subject


class _Api(RecordingUpstream):
    """Knows when a request came, by the path of it."""

    def __init__(self) -> None:
        super().__init__(self._note)
        self._came: dict[str, asyncio.Future[float]] = {}

    def awaited(self, target: str) -> "asyncio.Future[float]":
        return self._came.setdefault(target, asyncio.get_running_loop().create_future())

    async def _note(self, seen: Seen, writer: asyncio.StreamWriter) -> None:
        target = seen.line.split()[1]
        if (awaited := self._came.pop(target, None)) is not None:
            awaited.set_result(time.monotonic())
        await answer_ok(seen, writer)


@dataclass(slots=True)
class _Callers:
    """Each write is an intent of its own, and has a resource of its own."""

    sent: int = 0

    async def write(self, to: Subject, rule: str) -> tuple[str, RawAnswer]:
        self.sent += 1
        target = f"/{rule}/{self.sent}"
        proof = ("Fencing-Token: 7", "Fencing-Holder: agent-a", f"Idempotency-Key: k-{self.sent}")
        return target, await ask(to.port, "POST", target, *proof, body=b"{}")


async def _approved_ms(callers: _Callers, api: _Api, one: Subject, other: Subject) -> float:
    """Asked for at one gateway, approved at the other, sent by whichever is first."""
    target, taken = await callers.write(one, "approved")
    intent = f"/api/v1/intents/{json.loads(taken.body)['id']}"
    digest = json.loads((await _tell(other, "GET", intent)).body)["digest"]
    came, asked_at = api.awaited(target), time.monotonic()
    said = await _tell(other, "POST", f"{intent}/approve", {"note": "looks right", "digest": digest})
    if said.status != 200:
        raise Failed(f"an approval was answered {said.status}: {said.body!r}")
    async with asyncio.timeout(_WITHIN_S):
        return (await came - asked_at) * 1000


async def _paused_ms(callers: _Callers, one: Subject, other: Subject) -> float:
    watching = [asyncio.ensure_future(_last_passed(callers, to)) for to in (one, other)]
    await asyncio.sleep(4 * _EVERY_S)
    asked_at = time.monotonic()
    said = await _tell(one, "POST", "/api/v1/pauses", {"all": True, "reason": "a measurement"})
    try:
        async with asyncio.timeout(_WITHIN_S):
            last_at = max(await asyncio.gather(*watching))
    finally:
        await _tell(one, "DELETE", f"/api/v1/pauses/{json.loads(said.body)['id']}")
    for to in (one, other):
        await _passes_again(callers, to)
    return max(0.0, last_at - asked_at) * 1000


async def _last_passed(callers: _Callers, to: Subject) -> float:
    """When the last write was begun that still passed."""
    last_at = 0.0
    while True:
        began_at = time.monotonic()
        _, answer = await callers.write(to, "now")
        if answer.decision == "paused":
            return last_at
        last_at = began_at
        await asyncio.sleep(_EVERY_S)


async def _passes_again(callers: _Callers, to: Subject) -> None:
    async with asyncio.timeout(_WITHIN_S):
        while (await callers.write(to, "now"))[1].decision == "paused":
            await asyncio.sleep(_EVERY_S)


async def _tell(to: Subject, method: str, target: str, document: dict[str, object] | None = None) -> RawAnswer:
    body = b"" if document is None else json.dumps(document).encode()
    return await ask(to.admin, method, target, "Content-Type: application/json", body=body, host="localhost")
