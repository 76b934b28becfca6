"""Upstreams over TLS whose certificates are renewed while agents write."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.core.address import Address
from gateway.log import Log
from gateway.policy.reload import PolicyHolder, Reloaded
from gateway.serve.assignment import Assignment
from gateway.serve.worker import proxy
from tests.certificates import Authority
from tests.raw import ask
from tests.recording import OK, RecordingUpstream, Seen, answering
from tests.stack import POLICY, Stack


@contextlib.asynccontextmanager
async def reloading(
    store_url: str, directory: Path, upstream: RecordingUpstream, more: str
) -> AsyncIterator[tuple[Stack, PolicyHolder]]:
    """A gateway before a TLS upstream, and its policies, which the test reads again when it likes."""
    policies, log = directory / "policies", directory / "gateway.log"
    policies.mkdir()
    text = POLICY.format(port=upstream.port).replace("http://", "https://")
    (policies / "policy.yaml").write_text(f"{text}{more}\n")
    holder = PolicyHolder.open(policies, {})
    assert isinstance(holder, PolicyHolder), holder
    assignment = Assignment(Address("0.0.0.0", 0), "", store_url, 2.0, 5.0, "json", "info")
    with log.open("ab") as lines:
        async with proxy(assignment, lambda: holder.current, Log("json", descriptor=lines.fileno())) as server:
            listening = await asyncio.get_running_loop().create_server(server, "127.0.0.1", 0)
            try:
                yield Stack(listening.sockets[0].getsockname()[1], upstream, log), holder
            finally:
                listening.close()
                await server.finish(5.0)


async def test_a_renewed_authority_counts_from_the_reload_on(store_url: str, tmp_path: Path) -> None:
    """Connections are made anew then; before, an upstream with the new certificate is not trusted, and sent nothing."""
    old = Authority(tmp_path / "tls")
    context = old.server("upstream")
    async with (
        RecordingUpstream(answering(OK, close=True), tls=context) as upstream,
        reloading(store_url, tmp_path, upstream, f"tls: {{ca: {old.ca}}}") as (gate, holder),
    ):
        await gate.lease("report/7")
        first = await gate.write("/reports/7")
        Authority(tmp_path / "tls").renew(context, "upstream")
        untrusted = await gate.write("/reports/7")
        reloaded = holder.reload()
        trusted = await gate.write("/reports/7")

        assert [answer.decision for answer in (first, untrusted, trusted)] == [
            "forwarded",
            "upstream-unreachable",
            "forwarded",
        ]
        assert isinstance(reloaded, Reloaded)
        assert len(upstream.seen) == 2


async def test_an_idle_connection_is_not_kept_over_a_renewal(store_url: str, tmp_path: Path) -> None:
    """Who was trusted under the old files is asked again under the new ones."""
    authority = Authority(tmp_path / "tls")
    async with (
        RecordingUpstream(tls=authority.server("upstream")) as upstream,
        reloading(store_url, tmp_path, upstream, f"tls: {{ca: {authority.ca}}}") as (gate, holder),
    ):
        await ask(gate.port, "GET", "/reports/7")
        holder.reload()
        await ask(gate.port, "GET", "/reports/7")
        kept = upstream.connections
        authority.ca.write_bytes(authority.ca.read_bytes() + b"\n")
        holder.reload()
        await ask(gate.port, "GET", "/reports/7")

        assert (kept, upstream.connections) == (1, 2)
        assert [json.loads(line)["decision"] for line in gate.log.read_text().splitlines()] == ["passed"] * 3


@pytest.mark.slow
async def test_an_upstream_that_stops_reading_leaves_its_write_unknown(store_url: str, tmp_path: Path) -> None:
    """After `total`; the same key sends it no second time."""
    authority = Authority(tmp_path / "tls")
    stalled = asyncio.Event()

    async def stall(_: Seen, __: asyncio.StreamWriter) -> None:
        await stalled.wait()

    async with (
        RecordingUpstream(before_body=stall, tls=authority.server("upstream")) as upstream,
        reloading(store_url, tmp_path, upstream, f"    intent: {{mode: optional}}\ntls: {{ca: {authority.ca}}}") as (
            gate,
            _,
        ),
    ):
        await gate.lease("report/7")
        body = b"x" * (8 << 20)
        told = [await gate.write("/reports/7", "Idempotency-Key: one", body=body) for _ in range(2)]

        assert [(answer.status, answer.decision) for answer in told] == [
            (504, "outcome-unknown"),
            (409, "outcome-unknown"),
        ]
        assert upstream.receiving == 1
        stalled.set()
