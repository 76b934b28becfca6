"""Reloading: all or nothing, in every worker, whoever asks for it."""

import asyncio
import contextlib
import json
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gateway.flow.clock import BootClock
from gateway.log import Log
from gateway.metrics.parent import ParentMetrics
from gateway.policy import load
from gateway.policy.compile.file import compile_policy
from gateway.policy.reload import PolicyHolder
from gateway.serve import policies as policies_of_parent
from gateway.serve.edition import SILENT_AFTER_S, Editions
from gateway.serve.policies import Policies
from gateway.serve.snapshot import Snapshot
from tests.gateway_process import GatewayProcess, call, running, write_policy
from tests.recording import RecordingUpstream
from tests.serve.test_edition import SetClock
from tests.until import until


@contextlib.contextmanager
def reloading(tmp_path: Path) -> Iterator[tuple[Path, Policies]]:
    """A directory of policies, and what reloads them; it logs to `log`."""
    (tmp_path / "in-force").mkdir()
    policies = write_policy(tmp_path, 9)
    holder = PolicyHolder.open(policies, {})
    assert isinstance(holder, PolicyHolder)
    with (tmp_path / "log").open("ab") as lines:
        log = Log("json", descriptor=lines.fileno())
        snapshot, editions = Snapshot(policies, tmp_path / "in-force"), Editions(tmp_path / "edition", BootClock())
        yield policies, Policies(holder, snapshot, log, ParentMetrics(tmp_path), lambda _: None, editions)
        editions.close()


async def decision(gateway: GatewayProcess, method: str) -> str | None:
    return (await call(gateway.proxy, method, "/reports/7", body=b"{}")).decision


async def test_sighup_puts_good_files_in_force(tmp_path: Path) -> None:
    """A rule that was added takes effect in the worker, and the reload is counted."""
    policies = write_policy(tmp_path, 9)
    async with running(tmp_path) as gateway:
        assert await decision(gateway, "DELETE") == "no-policy"

        allow_delete(policies)
        gateway.tell(signal.SIGHUP)
        await until(lambda: takes_effect(gateway))

        told = (await gateway.operate("GET", "/metrics")).body.decode()
        assert 'policy_reloads_total{result="loaded"} 1.0' in told
        assert "fencegate_policies_current 1.0" in told


async def test_bad_files_leave_the_running_set_in_force(tmp_path: Path) -> None:
    """The failure is counted and logged with its place; requests are judged as before, also by a worker that starts
    meanwhile. Whoever reloads through the admin API sees the findings."""
    policies = write_policy(tmp_path, 9)
    async with running(tmp_path) as gateway:
        good = await gateway.operate("POST", "/api/v1/policies/reload")
        (policies / "reports.yaml").write_text("upstream: reports\nurll: x\n")
        gateway.tell(signal.SIGHUP)
        await until(lambda: bool(gateway.logged("the policies were not reloaded")))

        assert "reports.yaml:" in str(gateway.logged("policy finding")[0]["finding"])
        assert await decision(gateway, "PUT") == "token-required"
        assert (await gateway.operate("GET", "/readyz")).status == 200
        told = (await gateway.operate("GET", "/metrics")).body.decode()
        assert 'policy_reloads_total{result="failed"}' in told
        assert "fencegate_policies_current 0.0" in told

        bad = await gateway.operate("POST", "/api/v1/policies/reload")
        os.kill(gateway.workers()[0], signal.SIGKILL)
        await until(lambda: len(gateway.workers()) == 2)

        assert await decision(gateway, "PUT") == "token-required"

    assert (good.status, json.loads(good.body)) == (200, {"status": "loaded"})
    assert (bad.status, bad.problem["type"]) == (422, "urn:fencegate:policies-invalid")
    findings = bad.problem["findings"]
    assert isinstance(findings, list)
    assert {(Path(finding["file"]).name, finding["line"]) for finding in findings} >= {("reports.yaml", 2)}


async def test_changed_files_are_read_without_a_signal(tmp_path: Path) -> None:
    """Saving a file is enough."""
    policies = write_policy(tmp_path, 9)
    async with running(tmp_path) as gateway:
        allow_delete(policies)

        await until(lambda: takes_effect(gateway))


async def test_a_tenant_that_is_gone_is_told(tmp_path: Path) -> None:
    """Its unknown intents hold nothing any more: somebody should resolve them first."""
    with reloading(tmp_path) as (policies, taken):
        (policies / "principals.yaml").write_text(
            f'principals: [{{name: ada, key: "sha256:{"a" * 64}", tenant: north, resources: ["**"]}}]\n'
        )

        assert await taken.reload() == ()

    _, told = map(json.loads, (tmp_path / "log").read_text().splitlines())
    assert (told["level"], told["tenants"]) == ("warning", "default")


async def test_a_rule_that_finds_another_resource_is_told(tmp_path: Path) -> None:
    """What the old name still guards is in nobody's way under the new one."""
    with reloading(tmp_path) as (policies, taken):
        file = policies / "reports.yaml"
        file.write_text(file.read_text().replace("resource: report/", "resource: paper/"))

        assert await taken.reload() == ()
        assert await taken.reload() == ()

    _, told, _ = map(json.loads, (tmp_path / "log").read_text().splitlines())
    assert (told["level"], told["rules"]) == ("warning", "reports/write")


async def test_workers_that_cannot_be_given_the_policies_are_given_them_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as on a full disk: whoever reloads is told, nothing ends, and no change of the files is needed.

    They refuse meanwhile, once it lasts: what they have may have been withdrawn.
    """
    clock = SetClock()
    in_force = tmp_path / "in-force"
    in_force.mkdir()
    holder = PolicyHolder.open(write_policy(tmp_path, 9), {})
    assert isinstance(holder, PolicyHolder)
    monkeypatch.setattr(policies_of_parent, "_AGAIN_AFTER_S", 0.0)
    with (tmp_path / "log").open("ab") as lines:
        log, loaded = Log("json", descriptor=lines.fileno()), list[float]()
        snapshot = Snapshot(tmp_path / "policies", in_force)
        (in_force / "1").touch()
        editions = Editions(tmp_path / "edition", clock)
        policies = Policies(holder, snapshot, log, ParentMetrics(tmp_path), loaded.append, editions)

        (finding,) = await policies.reload()
        assert (finding.file, loaded) == (str(snapshot.current), [])
        clock.now += SILENT_AFTER_S - 1
        watching = asyncio.ensure_future(policies.watch())
        failures = (tmp_path / "log").read_text().count("the policies were not reloaded")
        await until(lambda: (tmp_path / "log").read_text().count("the policies were not reloaded") > failures + 1)
        clock.now += 1
        assert editions.are_silent()
        (in_force / "1").unlink()
        await until(lambda: not editions.are_silent())
        assert len(loaded) == 1
        watching.cancel()
        editions.close()

    assert [path.name for path in snapshot.current.iterdir()] == ["reports.yaml"]


async def test_others_go_on_while_files_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of rules take seconds, in which the parent answers operators and probes."""
    reading, go_on = threading.Event(), threading.Event()

    def compile_slowly(*given: Any) -> object:
        reading.set()
        assert go_on.wait(30)
        return compile_policy(*given)

    monkeypatch.setattr(load, "compile_policy", compile_slowly)
    go_on.set()
    with reloading(tmp_path) as (policies, taken):
        reading.clear()
        go_on.clear()
        allow_delete(policies)
        reloaded = asyncio.ensure_future(taken.reload())
        await until(reading.is_set)
        assert not reloaded.done()
        go_on.set()

        assert await reloaded == ()


async def test_after_a_silence_a_change_is_read_before_anybody_writes(tmp_path: Path) -> None:
    """It takes two looks, and the first one would let what was withdrawn meanwhile pass once more."""
    (tmp_path / "in-force").mkdir()
    policies, clock = write_policy(tmp_path, 9), SetClock()
    holder = PolicyHolder.open(policies, {})
    assert isinstance(holder, PolicyHolder)
    with (tmp_path / "log").open("ab") as lines:
        log, silent = Log("json", descriptor=lines.fileno()), list[bool]()
        snapshot, editions = Snapshot(policies, tmp_path / "in-force"), Editions(tmp_path / "edition", clock)
        clock.now += SILENT_AFTER_S
        allow_delete(policies)
        taken = Policies(
            *(holder, snapshot, log, ParentMetrics(tmp_path), lambda _: silent.append(editions.are_silent())), editions
        )
        watching = asyncio.ensure_future(taken.watch())
        await until(lambda: not editions.are_silent())
        watching.cancel()
        editions.close()

    assert [entry.rule.name for entry in holder.current.entries] == ["write", "delete"]
    assert silent == [True]


async def test_a_rotated_credential_is_in_force_and_none_is_ever_shown(tmp_path: Path) -> None:
    """Without a signal, no request is lost. A file that is gone leaves the last one in force, in new workers too."""
    secret = tmp_path / "secret"
    secret.write_text("s3cret-first\n")
    async with RecordingUpstream() as upstream:
        policies = write_policy(tmp_path, upstream.port)
        policy = policies / "reports.yaml"
        policy.write_text(policy.read_text() + f"credentials: [{{header: X-Key, value: 'Key ${{file:{secret}}}'}}]\n")
        async with running(tmp_path) as gateway:
            assert await key_sent(gateway, upstream) == "Key s3cret-first"

            rotated = secret.with_suffix(".new")
            rotated.write_text("s3cret-second\n")
            rotated.replace(secret)
            await until(lambda: sends(gateway, upstream, "Key s3cret-second"))

            secret.unlink()
            await until(lambda: bool(gateway.logged("the policies were not reloaded")))
            os.kill(gateway.workers()[0], signal.SIGKILL)
            await until(lambda: len(gateway.workers()) == 2)
            told = [await gateway.operate("GET", "/api/v1/policies"), await gateway.operate("GET", "/metrics")]
            told.append(await gateway.operate("POST", "/api/v1/policies/reload"))

            assert await key_sent(gateway, upstream) == "Key s3cret-second"
            assert [answer.status for answer in told] == [200, 200, 422]
            assert f"{secret} cannot be read" in str(gateway.logged("policy finding")[0]["finding"])
            assert not any(b"s3cret" in answer.body for answer in told)
            assert "s3cret" not in gateway.log.read_text()


async def key_sent(gateway: GatewayProcess, upstream: RecordingUpstream) -> str:
    """Forward a read; the credential that the upstream got."""
    assert (await call(gateway.proxy, "GET", "/reports/7", "X-Key: mine")).status == 200
    (key,) = upstream.seen[-1].values("x-key")
    return key


async def sends(gateway: GatewayProcess, upstream: RecordingUpstream, key: str) -> bool:
    return await key_sent(gateway, upstream) == key


def allow_delete(policies: Path) -> None:
    """Add a rule, in one step: what is half written is not the point here."""
    changed = policies / "reports.new"
    changed.write_text(
        (policies / "reports.yaml").read_text()
        + "  - name: delete\n    match: DELETE /reports/{id}\n    resource: report/{path.id}\n"
    )
    changed.replace(policies / "reports.yaml")


async def takes_effect(gateway: GatewayProcess) -> bool:
    return await decision(gateway, "DELETE") == "token-required"
