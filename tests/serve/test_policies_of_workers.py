"""Workers that were stopped, or were started anew, judge by the policies in force."""

import asyncio
import hashlib
import json
import os
import signal
from pathlib import Path

import pytest

from gateway.serve.edition import SILENT_AFTER_S
from tests.certificates import Authority
from tests.gateway_process import GatewayProcess, call, running, starting, write_policy
from tests.recording import RecordingUpstream
from tests.until import until

pytestmark = pytest.mark.slow
# Policies that are in force in the parent are used by no worker's request any more after a second.
_DUE_S = 1.5
# Of a machine that others keep busy.
_SLACK_S = 30.0


def principals(*names: str) -> str:
    lines = [
        f'  - {{name: {name}, key: "sha256:{hashlib.sha256(name.encode()).hexdigest()}", resources: ["**"]}}\n'
        for name in names
    ]
    return "principals:\n" + "".join(lines)


async def leased(gateway: GatewayProcess, *fields: str) -> str:
    asked = json.dumps({"resource": "report/7", "holder": "a", "ttl_s": 60}).encode()
    answer = await call(gateway.proxy, "POST", "/-/fence/leases", *fields, body=asked)
    return f"Fencing-Token: {json.loads(answer.body)['token']}"


async def test_a_worker_that_was_stopped_over_a_reload_lets_no_revoked_principal_write(tmp_path: Path) -> None:
    """What was sent after it is the first that the worker takes up, before it has heard of the reload."""
    async with RecordingUpstream() as upstream:
        policies = write_policy(tmp_path, upstream.port)
        (policies / "principals.yaml").write_text(principals("ada", "bob"))
        async with running(tmp_path) as gateway:
            token = await leased(gateway, "Fencegate-Key: ada")
            (worker,) = gateway.workers()
            os.kill(worker, signal.SIGSTOP)
            (policies / "principals.yaml").write_text(principals("bob"))
            await until(lambda: bool(gateway.logged("the policies were reloaded")))
            writing = asyncio.ensure_future(
                call(gateway.proxy, "PUT", "/reports/7", "Fencegate-Key: ada", token, body=b"{}")
            )
            await asyncio.sleep(_DUE_S)
            os.kill(worker, signal.SIGCONT)

            assert (await writing).decision == "unauthenticated"
        assert upstream.seen == []


async def test_while_the_parent_is_stopped_a_withdrawn_key_writes_no_more(tmp_path: Path) -> None:
    """Nobody hears of the withdrawal: after some seconds nobody writes, and not in the moment in which it goes on."""
    async with RecordingUpstream() as upstream:
        policies = write_policy(tmp_path, upstream.port)
        (policies / "principals.yaml").write_text(principals("ada", "bob"))
        async with running(tmp_path) as gateway:
            token = await leased(gateway, "Fencegate-Key: ada")
            gateway.tell(signal.SIGSTOP)
            try:
                (policies / "principals.yaml").write_text(principals("bob"))
                told, sent = set[str | None](), 0

                async def is_told(decision: str) -> bool:
                    answer = await call(gateway.proxy, "PUT", "/reports/7", "Fencegate-Key: ada", token, body=b"{}")
                    told.add(answer.decision)
                    return answer.decision == decision

                await until(lambda: is_told("policies-unavailable"), within_s=SILENT_AFTER_S + _SLACK_S)
                sent = len(upstream.seen)
                refused = [
                    await call(gateway.proxy, "GET", "/reports/7", "Fencegate-Key: bob"),
                    await call(gateway.proxy, "POST", "/-/fence/leases", "Fencegate-Key: bob", body=b"{}"),
                ]
                assert told == {"forwarded", "policies-unavailable"}
            finally:
                gateway.tell(signal.SIGCONT)
            told.clear()
            await until(lambda: is_told("unauthenticated"))

            assert told <= {"policies-unavailable", "unauthenticated"}
            assert len(upstream.seen) == sent
            assert [(answer.status, answer.decision) for answer in refused] == [(503, "policies-unavailable")] * 2
            assert (await call(gateway.proxy, "GET", "/reports/7", "Fencegate-Key: bob")).decision == "passed"
            assert (await gateway.operate("GET", "/readyz")).status == 200
            assert len(gateway.logged("the parent process does not say")) == 1
            assert len(gateway.logged("the policies are known to be in force again")) == 1


async def test_while_workers_cannot_be_given_the_policies_a_withdrawn_key_writes_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as on a full disk: after some seconds nobody writes, until there is room and everybody has them."""
    own = tmp_path / "own"
    own.mkdir()
    monkeypatch.setenv("TMPDIR", str(own))
    async with RecordingUpstream() as upstream:
        policies = write_policy(tmp_path, upstream.port)
        (policies / "principals.yaml").write_text(principals("ada", "bob"))
        async with running(tmp_path) as gateway:
            token = await leased(gateway, "Fencegate-Key: ada")
            (copies,) = own.glob("fencegate-*/policies")
            in_the_way = copies / "2"
            in_the_way.touch()
            (policies / "principals.yaml").write_text(principals("bob"))

            async def is_told(decision: str) -> bool:
                answer = await call(gateway.proxy, "PUT", "/reports/7", "Fencegate-Key: ada", token, body=b"{}")
                return answer.decision == decision

            await until(lambda: is_told("policies-unavailable"), within_s=SILENT_AFTER_S + _SLACK_S)
            sent = len(upstream.seen)
            assert (await gateway.operate("GET", "/readyz")).status == 503
            in_the_way.unlink()
            await until(lambda: is_told("unauthenticated"))

            assert len(upstream.seen) == sent
            assert (await call(gateway.proxy, "GET", "/reports/7", "Fencegate-Key: bob")).decision == "passed"
            assert (await gateway.operate("GET", "/readyz")).status == 200


async def test_a_worker_that_is_started_while_tls_files_are_broken_serves(tmp_path: Path) -> None:
    """Every upstream: one broken file must not take all others with it."""
    authority = Authority(tmp_path / "tls")
    async with RecordingUpstream(tls=authority.server("upstream")) as upstream:
        policies = write_policy(tmp_path, upstream.port)
        text = (policies / "reports.yaml").read_text().replace("http://", "https://")
        (policies / "reports.yaml").write_text(f"{text}tls: {{ca: {authority.ca}}}\n")
        async with running(tmp_path) as gateway:
            token = await leased(gateway)
            authority.ca.write_bytes(authority.ca.read_bytes()[:200])
            assert (await call(gateway.proxy, "PUT", "/reports/7", token, body=b"{}")).decision == "forwarded"
            await until(lambda: bool(gateway.logged("the policies were not reloaded")))

            os.kill(gateway.workers()[0], signal.SIGKILL)
            await until(lambda: len(gateway.workers()) == 2)

            assert (await call(gateway.proxy, "PUT", "/reports/7", token, body=b"{}")).decision == "forwarded"
        assert len(upstream.seen) == 2


async def test_a_gateway_is_no_upstream_of_its_own(tmp_path: Path) -> None:
    """Agents would reach the operators' calls through it, as the operator's own machine."""
    policies = write_policy(tmp_path, 9)
    async with running(tmp_path, "--admin", "127.0.0.1:0") as gateway:
        port = gateway.admin
    own = (policies / "reports.yaml").read_text().replace(":9\n", f":{port}\n")
    (policies / "reports.yaml").write_text(own)

    async with starting(tmp_path, "--admin", f"127.0.0.1:{port}") as refused:
        assert await refused.process.wait() == 1
        assert "this gateway itself listens" in refused.log.read_text()
