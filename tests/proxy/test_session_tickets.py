"""What a session leaves in the store, should its gateway be killed."""

from pathlib import Path
from typing import Any

from gateway.flow.session import LIFE_S
from tests.proxy.rooms import LIVE, ROOM
from tests.sessions import POLICY, Agent, SessionUpstream, lease
from tests.stack import stack


async def test_an_agent_that_has_its_101_has_a_ticket_of_a_few_seconds(
    store_url: str, raw: Any, tmp_path: Path
) -> None:
    """The handshake's own lived for `timeouts.total`; whoever waits for a killed gateway's session waits no longer."""
    policy = POLICY.replace("total: 5s", "total: 1h")
    async with stack(store_url, tmp_path, policy, SessionUpstream()) as gate, Agent(gate.port) as agent:
        answer = await agent.open(LIVE, await lease(gate.port, ROOM))

        [key] = raw.keys("fg:{*}:d")
        [(_, deadline_ms)] = raw.zrange(key, 0, -1, withscores=True)
        seconds, micros = raw.time()
        assert answer.status == 101
        assert deadline_ms / 1000 - seconds - micros / 1_000_000 <= LIFE_S
