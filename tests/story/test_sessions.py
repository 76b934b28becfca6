"""WebSocket sessions over gateways of their own: overtaken, asleep and killed."""

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import redis

from gateway.core.session import LIFE_S
from tests.raw import ask
from tests.sessions import Agent, SessionUpstream, cut, frame
from tests.store.server import Server
from tests.story.gateways import Gateway, two_gateways, write_policies

POLICY = """
upstream: rooms
url: http://127.0.0.1:{port}
mount: {{path: /rooms}}
timeouts: {{connect: 1s, total: 30s}}
defaults:
  authority: header
  fence: {{drain_timeout: 20s}}
writes:
  - name: live
    match: GET /rooms/{{id}}/live
    upgrade: websocket
    resource: room/{{path.id}}
  - name: write
    match: PUT /rooms/{{id}}
    resource: room/{{path.id}}
"""
LIVE = "/rooms/7/live"


@contextlib.asynccontextmanager
async def session(directory: Path, store: str) -> AsyncIterator[tuple[Gateway, Gateway, Agent, SessionUpstream]]:
    """Gateways one and two, and the session that A has begun at one."""
    async with SessionUpstream() as upstream:
        policies = write_policies(directory, "rooms.yaml", POLICY.format(port=upstream.port))
        async with two_gateways(policies, directory, store) as (one, two), Agent(one.port) as a:
            await a.open(LIVE, "41", "Fencing-Holder: a")
            with redis.Redis.from_url(store) as client:
                # Not for `timeouts.total`: a gateway may be killed as soon as the agent has its 101.
                assert _lives_s(client) <= LIFE_S
            yield one, two, a, upstream


def _lives_s(store: redis.Redis) -> float:
    """The only ticket."""
    [key] = store.keys("fg:{*}:d")
    [(_, deadline_ms)] = store.zrange(key, 0, -1, withscores=True)
    seconds, micros = store.time()
    return deadline_ms / 1000 - seconds - micros / 1_000_000


async def put(gateway: Gateway, epoch: int) -> int:
    """A write of B's."""
    shown = (f"Fencing-Token: {epoch}", "Fencing-Holder: b")
    return (await ask(gateway.port, "PUT", "/rooms/7", *shown, body=b"b")).status


@pytest.mark.promise("G3")
async def test_a_session_is_cut_by_a_write_at_another_gateway(shared_store: Server, tmp_path: Path) -> None:
    """B's epoch comes through gateway two: the session at gateway one ends at once, then B's write begins."""
    async with session(tmp_path, shared_store.url) as (_one, two, a, upstream):
        await a.send(frame(b"a"))
        await upstream.until(lambda: bool(upstream.received))
        status = await put(two, 42)
        told = await a.rest()

    assert (status, told) == (200, cut(1008, "stale-epoch"))
    assert upstream.order == ["asked", "began", "got 7", "reset", "PUT b"]


@pytest.mark.slow  # a ticket's life of five seconds has to pass
@pytest.mark.promise("G7")
async def test_a_gateway_that_was_stopped_sends_nothing_of_its_sessions_late(
    shared_store: Server, tmp_path: Path
) -> None:
    """A's gateway is stopped in the middle of a session, and A goes on sending; B writes once the ticket has lapsed;
    the gateway goes on, has A's bytes at hand, and sends none of them."""
    async with session(tmp_path, shared_store.url) as (one, two, a, upstream):
        await a.send(frame(b"a"))
        await upstream.until(lambda: bool(upstream.received))
        one.pause()
        await a.send(frame(b"late"))
        status = await put(two, 42)
        one.go_on()
        await a.rest()
        await upstream.until(lambda: upstream.order[-1] == "reset")

    assert (status, upstream.received) == (200, frame(b"a"))
    assert upstream.order == ["asked", "began", "got 7", "PUT b", "reset"]


@pytest.mark.slow  # a ticket's life of five seconds has to pass
@pytest.mark.promise("G5")
async def test_the_session_of_a_killed_gateway_lapses(shared_store: Server, tmp_path: Path) -> None:
    """Its ticket ends as unknown, where an operator sees it, and whoever waited for it writes."""
    async with session(tmp_path, shared_store.url) as (one, two, _a, upstream):
        await upstream.until(lambda: upstream.order[-1] == "began")
        await one.kill()
        status = await put(two, 42)
        unknown = await two.unknown()

    assert (status, [item["rule"] for item in unknown]) == (200, ["live"])
