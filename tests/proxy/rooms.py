"""A room behind a whole gate: an agent whose WebSocket session in it has begun, and what is known of it."""

import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from gateway.core.write import ResourceKey
from gateway.store.keys import resource_keys
from tests.raw import RawAnswer, ask
from tests.sessions import POLICY, Agent, SessionUpstream, lease
from tests.stack import Stack, stack

ROOM = ResourceKey("room/7")
LIVE = "/rooms/7/live"


@contextlib.asynccontextmanager
async def in_session(
    store_url: str, directory: Path, upstream: SessionUpstream | None = None
) -> AsyncIterator[tuple[Stack, Agent, SessionUpstream, str]]:
    """A gate, an agent whose session in the room has begun, the upstream, and the agent's token."""
    upstream = upstream or SessionUpstream()
    async with stack(store_url, directory, POLICY, upstream) as gate:
        token = await lease(gate.port, ROOM)
        async with Agent(gate.port) as agent:
            await agent.open(LIVE, token)
            yield gate, agent, upstream, token


async def put(port: int, token: str) -> RawAnswer:
    return await ask(port, "PUT", "/rooms/7", f"Fencing-Token: {token}", body=b"new")


def logged(log: Path) -> list[dict[str, Any]]:
    """What was logged of sessions that have ended."""
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    return [line for line in lines if line.get("status") == 101]


def hurry(raw: Any) -> None:
    """Wake the gateway that holds the room's session, as a change of the resource does."""
    (watcher,) = {field.decode().partition("/")[0] for field in raw.hkeys(resource_keys(ROOM)[3])}
    raw.publish(f"fg:wake:{watcher}", ROOM)
