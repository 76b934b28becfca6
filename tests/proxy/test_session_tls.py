"""Sessions with an upstream over TLS that no longer reads."""

import asyncio
import contextlib
from pathlib import Path

import pytest

from tests.certificates import Authority
from tests.proxy.rooms import put
from tests.sessions import POLICY, Agent, SessionUpstream, cut, frame, lease
from tests.stack import stack

LIVE, ROOM = "/rooms/7/live", "room/7"


@pytest.mark.slow
async def test_a_session_that_its_upstream_does_not_read_is_cut_for_a_newer_write(
    store_url: str, tmp_path: Path
) -> None:
    """G3 over TLS too: of what the old holder had sent, nothing is passed on once the newer write has begun."""
    authority = Authority(tmp_path / "tls")
    upstream = SessionUpstream(reads=False)
    upstream.tls = authority.server("upstream")
    policy = POLICY.replace("http://", "https://") + f"tls: {{{{ca: {authority.ca}}}}}\n"
    async with stack(store_url, tmp_path, policy, upstream) as gate:
        token = await lease(gate.port, ROOM)
        async with Agent(gate.port) as agent:
            await agent.open(LIVE, token)

            async def flood() -> None:
                with contextlib.suppress(ConnectionError):
                    while True:
                        await agent.send(frame(b"x" * 100) * 500)

            flooding = asyncio.ensure_future(flood())
            # Until the agent itself cannot send any more: its bytes fill every buffer on the way.
            _, stuck = await asyncio.wait((flooding,), timeout=2)
            assert stuck
            newer = await lease(gate.port, ROOM, "agent-b", takeover=True)
            answer = await put(gate.port, newer)
            assert (await agent.rest()).endswith(cut(1008, "stale-epoch"))
            flooding.cancel()

        assert answer.status == 200
        assert upstream.order[-1].startswith("PUT")
        assert upstream.received == b""
