"""The admin listener in the test's own process, before a real store: what it is given of workers is said here."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from aiohttp import web

from gateway.admin.listener import build_admin
from gateway.admin.running import Running
from gateway.core.check import Check
from gateway.flow.clock import BootClock
from gateway.flow.compensating import Compensating
from gateway.log import Log
from gateway.metrics.parent import ParentMetrics
from gateway.policy.finding import Finding
from gateway.serve.inforce import NOBODY_LOOKS
from gateway.store.compensations import Compensations
from gateway.store.connect import open_store
from gateway.store.fence import FenceStore
from gateway.store.views.census import Counting
from gateway.upstream.sender import HttpSender
from tests.admin.description import check_described
from tests.raw import RawAnswer, RawClient
from tests.stack import POLICY, rules_from
from tests.store.fences import PATIENCE_S


@dataclass
class Admin:
    """A listener, and what it is told of the gateway that it stands for."""

    port: int
    store: FenceStore
    workers_ready: int = 1
    stopping: bool = False
    policies_are_known: bool = True
    unfit: tuple[Check, ...] = ()
    findings: tuple[Finding, ...] = ()
    reloads: list[str] = field(default_factory=list)

    async def call(
        self, method: str, target: str, *fields: str, body: bytes | None = None, host: str = "localhost"
    ) -> RawAnswer:
        """One request; a JSON one unless `fields` say otherwise. What is answered is what the OpenAPI document says."""
        kind = [] if any(line.startswith("Content-Type") for line in fields) else ["Content-Type: application/json"]
        lines = [f"{method} {target} HTTP/1.1", f"Host: {host}", *kind, *fields]
        if body is not None:
            lines.append(f"Content-Length: {len(body)}")
        async with RawClient(self.port) as client:
            await client.send("\r\n".join(lines).encode() + b"\r\n\r\n" + (body or b""))
            answer = await client.answer(method)
        check_described(method, target, answer)
        return answer


@contextlib.asynccontextmanager
async def listening(
    store_url: str,
    directory: Path,
    *,
    token: str | None = None,
    on_loopback: bool = True,
    known_as: str | None = None,
    store_timeout_s: float = PATIENCE_S,
    policy: str = POLICY.format(port=9),
) -> AsyncIterator[Admin]:
    (directory / "metrics").mkdir()
    rules = rules_from(directory / "policies", policy)
    store = await open_store(store_url, on_wake=lambda _: None, timeout_s=store_timeout_s, clock=BootClock())
    admin = Admin(0, store)

    async def reload() -> tuple[Finding, ...]:
        admin.reloads.append("reload")
        return admin.findings

    sender = HttpSender(BootClock())
    with Path(os.devnull).open("wb") as nowhere:
        metrics, log = ParentMetrics(directory / "metrics"), Log("json", descriptor=nowhere.fileno())
        compensating = Compensating(Compensations(store), sender, lambda: rules, BootClock(), metrics, log)
        running = Running(
            store,
            lambda: rules if admin.policies_are_known else rules.refusing(NOBODY_LOOKS),
            reload,
            lambda: admin.workers_ready,
            lambda: admin.stopping,
            metrics,
            log,
            compensating,
            lambda: admin.unfit,
            counting=Counting(store, asyncio.get_running_loop().time),
            policies_are_known=lambda: admin.policies_are_known,
        )
        app = build_admin(running, token=token, on_loopback=on_loopback, known_as=known_as)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            admin.port = runner.addresses[0][1]
            yield admin
        finally:
            await runner.cleanup()
            await compensating.close(PATIENCE_S)
            sender.close()
            await store.close()


@pytest.fixture
async def admin(store_url: str, tmp_path: Path) -> AsyncIterator[Admin]:
    """On loopback, without a token."""
    async with listening(store_url, tmp_path) as listener:
        yield listener
