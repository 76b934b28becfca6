"""Several writes in a row on one connection, sent before the first is answered: each is fenced when its turn comes."""

import asyncio
from pathlib import Path

import pytest

from tests.raw import RawClient, ask, request
from tests.recording import RecordingUpstream, Seen, answer_ok
from tests.stack import POLICY, Stack, stack
from tests.until import until

BARE = f"{POLICY}    authority: header\n"


def write(epoch: int, body: str, *fields: str, version: str = "1.1") -> bytes:
    """One write by a holder of this epoch."""
    proof = (f"Fencing-Token: {epoch}", f"Fencing-Holder: agent-{epoch}", f"Content-Length: {len(body)}")
    lines = (f"PUT /reports/7 HTTP/{version}", "Host: localhost", *proof, *fields)
    return ("\r\n".join(lines) + f"\r\n\r\n{body}").encode()


class Held(RecordingUpstream):
    """Answers a body of `slow` only once it is let go."""

    def __init__(self) -> None:
        super().__init__(self._answer)
        self.goes = asyncio.Event()

    async def _answer(self, seen: Seen, writer: asyncio.StreamWriter) -> None:
        if seen.body == b"slow":
            await self.goes.wait()
        await answer_ok(seen, writer)

    @property
    def bodies(self) -> list[bytes]:
        return [seen.body for seen in self.seen]


async def rules(gate: Stack, epoch: int) -> bool:
    """Whether this epoch is the highest: it is no stale one, and the one before it is."""
    fields = (f"Fencing-Token: {epoch}", f"Fencing-Holder: agent-{epoch}")
    told = await ask(gate.port, "POST", "/-/fence/epochs", *fields, body=b'{"resource": "report/7"}')
    older = (f"Fencing-Token: {epoch - 1}", f"Fencing-Holder: agent-{epoch - 1}")
    before = await ask(gate.port, "POST", "/-/fence/epochs", *older, body=b'{"resource": "report/7"}')
    return (told.decision, before.decision) == ("registered", "stale-epoch")


async def test_each_write_of_a_row_is_fenced_in_its_turn(store_url: str, tmp_path: Path) -> None:
    """An older epoch behind a newer one is stale, and the next of the newest passes."""
    upstream = Held()
    async with stack(store_url, tmp_path, BARE, upstream) as gate, RawClient(gate.port) as client:
        row = ((10, "slow"), (9, "stale"), (11, "two"), (10, "again"), (11, "three"))
        await client.send(b"".join(write(epoch, body) for epoch, body in row))
        await until(lambda: upstream.receiving == 1)
        upstream.goes.set()
        told = [(await client.answer()).decision for _ in row]

        assert told == ["forwarded", "stale-epoch", "forwarded", "stale-epoch", "forwarded"]
        assert upstream.bodies == [b"slow", b"two", b"three"]


@pytest.mark.parametrize(
    ("version", "fields"), [("1.0", ()), ("1.1", ("Connection: close",))], ids=["HTTP/1.0", "it says close"]
)
async def test_what_follows_the_last_request_of_a_connection_is_refused(
    store_url: str, tmp_path: Path, version: str, fields: tuple[str, ...]
) -> None:
    """Its sender counts on no answer: neither of the two is sent, and no epoch moves."""
    async with stack(store_url, tmp_path, BARE) as gate, RawClient(gate.port) as client:
        await client.send(write(18, "x", *fields, version=version) + write(19, "y", version=version))
        answer = await client.answer()

        assert answer.status == 400
        assert gate.upstream.seen == []
        # None was ever seen: the smallest there is comes first.
        assert (await ask(gate.port, "PUT", "/reports/7", "Fencing-Token: 1", "Fencing-Holder: a")).status == 200


async def test_a_caller_that_leaves_sends_no_second_write(store_url: str, tmp_path: Path) -> None:
    """The first is settled as it ends; the second is never sent and moves no epoch."""
    upstream = Held()
    async with stack(store_url, tmp_path, BARE, upstream) as gate:
        async with RawClient(gate.port) as client:
            await client.send(write(30, "slow") + write(31, "two"))
            await until(lambda: upstream.receiving == 1)
        upstream.goes.set()
        await until(lambda: '"outcome":"applied"' in gate.log.read_text().replace(" ", ""))

        assert await rules(gate, 30)
        assert upstream.bodies == [b"slow"]


async def test_no_write_of_a_row_comes_behind_a_newer_holders(store_url: str, tmp_path: Path) -> None:
    """An overtaken holder that goes on sending on the connection that it has: many takeovers, at any moment of it."""
    async with stack(store_url, tmp_path) as gate:
        for round in range(20):
            resource, target = f"report/{round}", f"/reports/{round}"
            await gate.lease(resource)
            old = request("PUT", target, f"Fencing-Token: {gate.tokens['agent-a']}", body=b"old")
            async with RawClient(gate.port) as client:
                await client.send(old * 4)
                await gate.upstream.until(lambda: gate.upstream.receiving > 0)
                await client.send(old * (round % 5))
                await gate.lease(resource, "agent-b", takeover=True)
                newer = await gate.write(target, holder="agent-b", body=b"new")
                await client.send(old * 4)
                told = [(await client.answer()).decision for _ in range(8 + round % 5)]
            bodies = [seen.body for seen in gate.upstream.seen if f" {target} " in seen.line]

            assert newer.decision == "forwarded"
            assert bodies == [b"old"] * (len(bodies) - 1) + [b"new"]
            assert told == ["forwarded"] * (len(bodies) - 1) + ["stale-epoch"] * (9 + round % 5 - len(bodies))
