"""What agents are told while nobody can tell whether the policies have changed: the parent process is stopped."""

import asyncio
import json
from pathlib import Path

import pytest

from gateway.store.fence import FenceStore
from tests.proxy.reloading import Reloading, principal, reloading
from tests.proxy.test_lasting_reads import STREAM, Lasting, begun
from tests.proxy.test_pauses import waits
from tests.raw import RawAnswer, RawClient, ask
from tests.recording import OK, RecordingUpstream, Seen
from tests.stack import POLICY
from tests.until import until

KEY = "Fencegate-Key: ada"
ASK = json.dumps({"resource": "report/7", "holder": "a", "ttl_s": 60}).encode()
CALLS = {
    "a write": ("PUT", "/reports/7", b"{}"),
    "a write that no rule takes": ("PUT", "/reports", b"{}"),
    "a grant": ("POST", "/-/fence/leases", ASK),
    "a look-up": ("GET", "/-/fence/leases?resource=report/7", b""),
    "a read": ("GET", "/reports/7", b""),
}


async def token_of(gate: Reloading) -> str:
    granted = await ask(gate.port, "POST", "/-/fence/leases", KEY, body=ASK)
    return f"Fencing-Token: {json.loads(granted.body)['token']}"


async def put(gate: Reloading, token: str) -> RawAnswer:
    return await ask(gate.port, "PUT", "/reports/7", token, KEY, body=b"{}")


@pytest.mark.parametrize("lines", [(), (principal("ada"),)], ids=["anybody", "principals"])
async def test_nothing_is_done_by_policies_that_may_have_ended(
    lines: tuple[str, ...], store_url: str, tmp_path: Path
) -> None:
    """All are told to come back; reads pass where they need no key. Afterwards the same token goes on."""
    async with RecordingUpstream() as upstream:
        async with reloading(store_url, tmp_path, POLICY.format(port=upstream.port), *lines) as gate:
            token = await token_of(gate)
            gate.fall_silent()
            told = {
                name: await ask(gate.port, method, target, KEY, token, body=body)
                for name, (method, target, body) in CALLS.items()
            }
            gate.speak()
            assert (await put(gate, token)).decision == "forwarded"

        read = told.pop("a read")
        assert {(one.status, one.decision, one.value("Retry-After")) for one in told.values()} == {
            (503, "policies-unavailable", "2")
        }
        assert read.decision == ("policies-unavailable" if lines else "passed")
        assert len(upstream.seen) == (1 if lines else 2)


async def test_a_write_that_waits_is_not_sent(store_url: str, store: FenceStore, tmp_path: Path) -> None:
    """The write before it, which was admitted in time, goes on to its end."""
    may = asyncio.Event()

    async def answer(_: Seen, writer: asyncio.StreamWriter) -> None:
        await may.wait()
        writer.write(OK)

    async with (
        RecordingUpstream(answer) as upstream,
        reloading(store_url, tmp_path, POLICY.format(port=upstream.port)) as gate,
    ):
        token = await token_of(gate)
        first = asyncio.ensure_future(put(gate, token))
        await upstream.until(lambda: len(upstream.seen) == 1)
        second = asyncio.ensure_future(put(gate, token))
        await until(lambda: waits(store, "report/7"))

        gate.fall_silent()
        refused = await second
        may.set()

        assert refused.decision == "policies-unavailable"
        assert (await first).decision == "forwarded"
        assert len(upstream.seen) == 1


async def test_an_answer_that_lasts_breaks_off_where_its_key_may_be_withdrawn(store_url: str, tmp_path: Path) -> None:
    """As where it was."""
    async with Lasting(STREAM) as upstream:
        policy = POLICY.format(port=upstream.port)
        async with reloading(store_url, tmp_path, policy, principal("ada")) as gate, RawClient(gate.port) as client:
            await begun(client, "ada", upstream)
            gate.fall_silent()
            upstream.says.set()

            assert await client.line() == b""
