"""Order within an epoch under a race: what comes at the same instant is let through as often as if it came in turn."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.proxy.mail import proof
from tests.raw import RawAnswer, ask
from tests.recording import RecordingUpstream, Seen, answer_ok, answering
from tests.stack import POLICY, Stack, stack

STRICT = POLICY + "    fence: {{order: strict}}\n"
STRICT_IN_PARALLEL = POLICY + "    fence: {{order: strict, concurrency: parallel}}\n"
CONTIGUOUS = POLICY + "    authority: header\n    fence: {{sequence: contiguous, concurrency: parallel}}\n"
INCREASING = CONTIGUOUS.replace("contiguous", "increasing")


@pytest.mark.parametrize("policy", [STRICT, STRICT_IN_PARALLEL], ids=["serial", "parallel"])
async def test_of_many_writes_of_one_strict_epoch_one_is_sent(store_url: str, tmp_path: Path, policy: str) -> None:
    """Twenty at once: nineteen are stale. One that the API refuses gives the epoch back, to one more."""
    async with stack(store_url, tmp_path, policy) as gate:
        await gate.lease("report/7")
        told = [answer.decision for answer in await asyncio.gather(*(gate.write("/reports/7") for _ in range(20)))]
        await gate.lease("report/8")
        gate.upstream.answer = answering(b"HTTP/1.1 409 Conflict\r\nContent-Length: 0\r\n\r\n")
        refused = await gate.write("/reports/8")
        gate.upstream.answer = answering(b"HTTP/1.1 204 No Content\r\n\r\n")
        after = [(await gate.write("/reports/8")).decision for _ in range(2)]

        assert sorted(map(str, told)) == ["forwarded"] + ["stale-epoch"] * 19
        assert (refused.status, refused.decision, refused.value("Fencing-Outcome")) == (409, "forwarded", "not_applied")
        assert after == ["forwarded", "stale-epoch"]
        assert len(gate.upstream.seen) == 3


async def test_of_many_writes_that_are_based_on_one_revision_one_is_sent(store_url: str, tmp_path: Path) -> None:
    """Twelve at once, time and again: the others are told the one that counts by then."""
    async with stack(store_url, tmp_path, POLICY + "    revision: gateway\n") as gate:
        await gate.lease("report/7")
        for revision in range(3):
            field = f"Fencing-If-Revision: {revision}"
            answers = await asyncio.gather(*(gate.write("/reports/7", field) for _ in range(12)))
            refused = [answer.problem["revision"] for answer in answers if answer.decision == "revision-mismatch"]

            assert sorted(str(answer.decision) for answer in answers) == ["forwarded"] + ["revision-mismatch"] * 11
            assert refused == [str(revision + 1)] * 11
        assert len(gate.upstream.seen) == 3


async def test_of_a_queue_each_key_is_delivered_once(store_url: str, tmp_path: Path) -> None:
    """Five keys, each asked for twice at once by who waits for the answer."""
    policy = POLICY + "    delivery: queued\n    intent: {{mode: required}}\n"
    async with stack(store_url, tmp_path, policy) as gate:
        await gate.lease("report/7")
        asked = [
            gate.write("/reports/7", f"Idempotency-Key: k{at}", "Prefer: wait=10", body=b"%d" % at)
            for at in (0, 0, 1, 1, 2, 2, 3, 3, 4, 4)
        ]
        answers = await asyncio.gather(*asked)
        told = json.loads((await ask(gate.port, "GET", "/-/fence/leases?resource=report/7")).body)

        assert {answer.status for answer in answers} == {200}
        assert sorted(seen.body for seen in gate.upstream.seen) == [b"0", b"1", b"2", b"3", b"4"]
        assert told["in_flight"] == 0


async def place(gate: Stack, at: int) -> RawAnswer:
    """A write at a place of epoch 5."""
    return await ask(gate.port, "PUT", "/reports/7", *proof(5), f"Fencing-Sequence: {at}", body=b"%d" % at)


async def test_places_that_come_twice_at_once_are_taken_once(store_url: str, tmp_path: Path) -> None:
    """1, 1, 2, 2, 3 and 3 over two gateways: each place once, none before the one in front of it; the others are out
    of sequence."""
    (tmp_path / "other").mkdir()
    async with stack(store_url, tmp_path, CONTIGUOUS) as one, stack(store_url, tmp_path / "other", CONTIGUOUS) as other:
        at_once = await asyncio.gather(*(place(gate, at) for at in (1, 2, 3) for gate in (one, other)))
        passed = len(taken(one, other))
        in_turn = [
            answer for at in range(passed + 1, 4) for answer in await asyncio.gather(place(one, at), place(other, at))
        ]

        told = [answer.decision for answer in (*at_once, *in_turn)]
        assert (told.count("forwarded"), set(told)) == (3, {"forwarded", "out-of-sequence"})
        assert passed >= 1 and [answer.decision for answer in at_once].count("forwarded") == passed
        assert taken(one, other) == [1, 2, 3]


@pytest.mark.parametrize("policy", [INCREASING, CONTIGUOUS], ids=["increasing", "contiguous"])
async def test_later_places_pass_while_an_earlier_one_is_in_flight(store_url: str, tmp_path: Path, policy: str) -> None:
    """In parallel; a place that comes again or too late is out of sequence, also once the earlier one has ended. One
    that others came behind is not given back when the API refuses it.
    """
    go_on = asyncio.Event()

    async def answer(seen: Seen, writer: asyncio.StreamWriter) -> None:
        if seen.body == b"2":
            await go_on.wait()
            writer.write(b"HTTP/1.1 409 Conflict\r\nContent-Length: 0\r\n\r\n")
        else:
            await answer_ok(seen, writer)

    async with stack(store_url, tmp_path, policy, RecordingUpstream(answer)) as gate:
        first = await place(gate, 1)
        slow = asyncio.get_running_loop().create_task(place(gate, 2))
        await gate.upstream.until(lambda: len(gate.upstream.seen) == 2)
        meanwhile = [(await place(gate, at)).decision for at in (3, 4, 3, 2, 1)]
        go_on.set()
        refused = await slow
        after = [(await place(gate, at)).decision for at in (2, 4, 5)]

        assert (first.status, refused.status, refused.value("Fencing-Outcome")) == (200, 409, "not_applied")
        assert meanwhile == ["forwarded"] * 2 + ["out-of-sequence"] * 3
        assert after == ["out-of-sequence"] * 2 + ["forwarded"]
        assert [seen.body for seen in gate.upstream.seen] == [b"1", b"2", b"3", b"4", b"5"]


def taken(*gates: Stack) -> list[int]:
    """The places that were sent. Those of two gateways come in any order: they were let through in parallel."""
    return sorted(int(seen.body) for gate in gates for seen in gate.upstream.seen)
