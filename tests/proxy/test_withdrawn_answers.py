"""Answers that are waited for, of a read or of a queued write: who has lost its right meanwhile does not get them."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.core.decision import Refused
from gateway.core.request import Headers
from gateway.flow.standing import Standing
from tests.proxy.reloading import Reloading, principal, reloading
from tests.raw import RawAnswer, RawClient, ask, request
from tests.recording import OK, RecordingUpstream, Seen
from tests.until import until

POLICY = """
upstream: docs
url: http://localhost:{port}
mount: {{path: /docs}}
timeouts: {{connect: 1s, total: 60s}}
writes:
  - name: write
    match: PUT /docs/{{id}}
    resource: doc/{{path.id}}
    authority: header
    delivery: queued
    intent: {{mode: required}}
"""
ADA, BOB = principal("ada"), principal("bob")
WAITS = "Prefer: wait=50"


class Held(RecordingUpstream):
    """Answers once it may."""

    def __init__(self) -> None:
        super().__init__(self._held)
        self.may = asyncio.Event()

    async def _held(self, _: Seen, writer: asyncio.StreamWriter) -> None:
        await self.may.wait()
        writer.write(OK)


@contextlib.asynccontextmanager
async def holding(store_url: str, directory: Path, *lines: str) -> AsyncIterator[tuple[Reloading, Held]]:
    async with Held() as upstream, reloading(store_url, directory, POLICY.format(port=upstream.port), *lines) as gate:
        try:
            yield gate, upstream
        finally:
            upstream.may.set()


async def put(gate: Reloading, who: str, epoch: int, *fields: str) -> RawAnswer:
    said = (f"Fencegate-Key: {who}", f"Fencing-Token: {epoch}", f"Fencing-Holder: {who}", "Idempotency-Key: one")
    return await ask(gate.port, "PUT", "/docs/7", *said, *fields, body=b'{"a": 1}')


@contextlib.asynccontextmanager
async def waiting(gate: Reloading, upstream: Held) -> AsyncIterator[asyncio.Task[RawAnswer]]:
    """Ada waits for what she has queued, and it is on its way."""
    answer = asyncio.ensure_future(put(gate, "ada", 5, WAITS))
    try:
        await upstream.until(lambda: len(upstream.seen) == 1)
        yield answer
    finally:
        answer.cancel()


LOST = {
    "its principal is gone": ((BOB,), "unauthenticated"),
    "its key is withdrawn": ((principal("ada", key="another"), BOB), "unauthenticated"),
    "its principal has another name": ((principal("eve", key="ada"), BOB), "unauthenticated"),
    "its principal is of another tenant": ((principal("ada", tenant="south"), BOB), "unauthenticated"),
    "its principal has lost the resource": ((principal("ada", resources='["other/*"]'), BOB), "forbidden"),
}


@pytest.mark.parametrize(("lines", "decision"), LOST.values(), ids=LOST.keys())
async def test_who_waits_for_a_queued_write_is_refused_with_its_right(
    lines: tuple[str, ...], decision: str, store_url: str, tmp_path: Path
) -> None:
    """At once, while the write is on its way; it goes on, and who still has a right to it gets the answer."""
    async with holding(store_url, tmp_path, ADA, BOB) as (gate, upstream), waiting(gate, upstream) as answer:
        gate.principals(*lines)
        refused = await answer
        again = await put(gate, "bob", 6)
        upstream.may.set()
        replayed = await put(gate, "bob", 6, WAITS)

    assert refused.decision == decision
    assert str(refused.problem["detail"]).startswith("What was taken is not ended by this")
    assert again.decision == "queued"
    assert (replayed.decision, replayed.body) == ("replayed", b'{"ok":true}')
    assert len(upstream.seen) == 1


async def test_who_waits_is_refused_where_its_key_may_be_withdrawn(store_url: str, tmp_path: Path) -> None:
    """Nobody can tell; once somebody can, the same request gets the answer."""
    async with holding(store_url, tmp_path, ADA) as (gate, upstream), waiting(gate, upstream) as answer:
        gate.fall_silent()
        refused = await answer
        upstream.may.set()
        gate.speak()
        replayed = await put(gate, "ada", 5, WAITS)

    assert (refused.decision, refused.value("Retry-After")) == ("policies-unavailable", "2")
    assert (replayed.decision, replayed.body) == ("replayed", b'{"ok":true}')


async def test_a_wait_outlives_what_changes_for_others(store_url: str, tmp_path: Path) -> None:
    """Other principals come and go, ada's rights are written otherwise, and her rule has another name."""
    async with holding(store_url, tmp_path, ADA, BOB) as (gate, upstream), waiting(gate, upstream) as answer:
        gate.principals(principal("ada", resources='["doc/7"]'), principal("cyd"))
        gate.policy(POLICY.format(port=upstream.port).replace("name: write", "name: rewrite"))
        upstream.may.set()

        assert ((await answer).decision, (await answer).body) == ("replayed", b'{"ok":true}')


@contextlib.asynccontextmanager
async def reading(gate: Reloading, upstream: Held, *fields: str) -> AsyncIterator[RawClient]:
    """A read that the upstream has, and does not answer."""
    async with RawClient(gate.port) as client:
        await client.send(request("GET", "/docs/7", *fields))
        await upstream.until(lambda: len(upstream.seen) == 1)
        yield client


@pytest.mark.parametrize("is_silent", [False, True], ids=["its key is withdrawn", "nobody can tell"])
async def test_a_read_that_is_not_answered_ends_with_its_callers_key(
    is_silent: bool, store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is refused as its next one, on the same connection, and the upstream is not waited for."""
    monkeypatch.setattr("gateway.flow.read._LOOK_EVERY_S", 0.05)
    async with (
        holding(store_url, tmp_path, ADA) as (gate, upstream),
        reading(gate, upstream, "Fencegate-Key: ada") as client,
    ):
        if is_silent:
            gate.fall_silent()
        else:
            gate.principals(BOB)
        told = [(await client.answer()).decision]
        await client.send(request("GET", "/docs/7", "Fencegate-Key: ada"))
        told.append((await client.answer()).decision)

    assert told == ["policies-unavailable" if is_silent else "unauthenticated"] * 2
    assert len(upstream.seen) == 1


async def test_an_answer_that_is_whole_at_once_reaches_nobody_who_has_no_key(store_url: str, tmp_path: Path) -> None:
    """Though it came before anybody had looked."""
    async with (
        holding(store_url, tmp_path, ADA) as (gate, upstream),
        reading(gate, upstream, "Fencegate-Key: ada") as client,
    ):
        gate.principals(BOB)
        upstream.may.set()
        answer = await client.answer()

    assert answer.decision == "unauthenticated"
    assert b"ok" not in answer.body


@pytest.mark.parametrize("lines", [(), (ADA,)], ids=["anybody's", "a principal's"])
async def test_a_read_outlives_what_changes_for_others(
    lines: tuple[str, ...], store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Looked after again and again, it gets its answer; what needs no key also while nobody can tell the policies."""
    looks, unknown = [], Standing.unknown

    def counted(standing: Standing, headers: Headers) -> Refused | None:
        looks.append(headers)
        return unknown(standing, headers)

    monkeypatch.setattr(Standing, "unknown", counted)
    monkeypatch.setattr("gateway.flow.read._LOOK_EVERY_S", 0.01)
    async with (
        holding(store_url, tmp_path, *lines) as (gate, upstream),
        reading(gate, upstream, "Fencegate-Key: ada") as client,
    ):
        assert looks == []
        gate.policy(POLICY.format(port=upstream.port).replace("name: write", "name: rewrite"))
        if not lines:
            gate.fall_silent()
        await until(lambda: len(looks) > 2)
        upstream.may.set()

        assert (await client.answer()).decision == "passed"
