"""Policies that change under load: each request is judged by the old set or the new, and bad files change nothing."""

import asyncio
import contextlib
import json
import shutil
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.gateway_process import POLICY, GatewayProcess, call, running, write_policy
from tests.recording import RecordingUpstream
from tests.until import until

pytestmark = pytest.mark.slow

MORE_RULES = "".join(
    f"  - {{name: more-{number}, match: 'POST /reports/{{id}}/more-{number}', resource: 'report/{{path.id}}'}}\n"
    for number in range(8)
)
DELETING = "  - {name: delete, match: 'DELETE /reports/{id}', resource: 'report/{path.id}'}\n"
# What each set says to a DELETE without a token.
WITHOUT, WITH = "no-policy", "token-required"


def text(file: Path, changed: str) -> None:
    """In one step, as editors save."""
    beside = file.with_suffix(".new")
    beside.write_text(changed)
    beside.replace(file)


def unreadable(file: Path) -> None:
    """Whoever runs the test may be allowed to read any file: but no directory as a file."""
    file.unlink()
    file.mkdir()


BAD: dict[str, Callable[[Path, str], object]] = {
    "a syntax error": lambda file, good: text(file, good.replace("writes:", "writes: [")),
    "an unknown field": lambda file, good: text(file, good.replace("mount:", "mounted:")),
    "one bad rule of ten": lambda file, good: text(file, good.replace("more-7, match: 'POST", "more-7, match: 'PO ST")),
    "an empty file": lambda file, good: text(file, ""),
    "a file that is half written": lambda file, good: file.write_text(good[: good.index("resource")]),
    "a file that cannot be read": lambda file, good: unreadable(file),
    "no file": lambda file, good: file.unlink(),
}


@dataclass
class Load:
    """Callers that write, and ask for what only one of the sets allows, one after the other and without end."""

    gateway: GatewayProcess
    writes: list[tuple[int, str | None]] = field(default_factory=list)
    deletes: list[str | None] = field(default_factory=list)

    async def call(self, number: int) -> None:
        token = await self.gateway.lease(f"report/{number}")
        while True:
            wrote = await call(self.gateway.proxy, "PUT", f"/reports/{number}", f"Fencing-Token: {token}", body=b"{}")
            self.writes.append((wrote.status, wrote.decision))
            self.deletes.append((await call(self.gateway.proxy, "DELETE", f"/reports/{number}")).decision)

    async def says(self, decision: str) -> bool:
        """Whether all that is asked from now on is judged so."""
        return (await call(self.gateway.proxy, "DELETE", "/reports/1")).decision == decision


@contextlib.asynccontextmanager
async def loaded(gateway: GatewayProcess) -> AsyncIterator[Load]:
    load = Load(gateway)
    calling = [asyncio.ensure_future(load.call(number)) for number in range(8)]
    try:
        yield load
    finally:
        for each in calling:
            each.cancel()
        ended = await asyncio.gather(*calling, return_exceptions=True)
        assert {type(each) for each in ended} == {asyncio.CancelledError}, ended


async def test_no_request_is_lost_or_judged_by_half_a_set(tmp_path: Path) -> None:
    """Of each bad state the reload fails, with its reason, and the set before stays in force for every request."""
    async with RecordingUpstream() as upstream:
        policies = write_policy(tmp_path, upstream.port)
        file = policies / "reports.yaml"
        sets = {WITHOUT: POLICY.format(port=upstream.port) + MORE_RULES}
        sets[WITH] = sets[WITHOUT] + DELETING
        text(file, sets[WITHOUT])
        async with running(tmp_path) as gateway, loaded(gateway) as load:
            for at, (name, spoil) in enumerate(BAD.items()):
                in_force = (WITHOUT, WITH)[at % 2]
                await until(lambda: len(load.deletes) >= 8)
                seen = len(load.deletes)
                spoil(file, sets[in_force])
                failed = await gateway.operate("POST", "/api/v1/policies/reload")
                await until(lambda seen=seen: len(load.deletes) >= seen + 80)

                assert (failed.status, bool(failed.problem["findings"])) == (422, True), name
                assert set(load.deletes[seen:]) == {in_force}, name

                after = (WITH, WITHOUT)[at % 2]
                if file.is_dir():
                    shutil.rmtree(file)
                text(file, sets[after])
                again = await gateway.operate("POST", "/api/v1/policies/reload")
                await until(lambda after=after: load.says(after))
                assert (again.status, json.loads(again.body)) == (200, {"status": "loaded"}), name
                load.deletes.clear()
            metrics = (await gateway.operate("GET", "/metrics")).body.decode()
            reasons = [line["finding"] for line in gateway.logged("policy finding")]

        assert set(load.writes) == {(200, "forwarded")}
        # Callers that were ended in the middle have not seen their answers.
        assert 0 <= len(upstream.seen) - len(load.writes) <= 8
        count = next(
            line for line in metrics.splitlines() if line.startswith('fencegate_policy_reloads_total{result="f')
        )
        assert float(count.split()[-1]) >= len(BAD)
        assert len(reasons) >= len(BAD)
