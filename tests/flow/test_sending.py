"""One delivery: what is sent, what is concluded, and what follows where nothing was done."""

import asyncio

import pytest

from gateway.core.faults import BrokenAnswer, StoreUnavailable
from gateway.core.outcome import LateAnswer, NoReply, NotSent, Overdue
from gateway.core.write import Admitted, TicketId
from gateway.flow.clock import BootClock
from gateway.flow.sending import Sending
from tests.flow.queueing import ScriptedQueue, taken
from tests.playbook.caller import Counted
from tests.playbook.given import INTENT, INTENT_ID, RULE, request, write
from tests.playbook.script import STUCK, Transcript
from tests.playbook.store import SETTLED
from tests.playbook.upstream import ScriptedAnswer, ScriptedSender

AWAY = NotSent("unreachable", "connection refused")


async def sent(
    evidence: object, *, failures: int = 0, ends: tuple[object, ...] = (SETTLED,), said: Transcript | None = None
) -> tuple[Transcript, list[str]]:
    said = Transcript() if said is None else said
    counted, clock = Counted(), BootClock()
    queue = ScriptedQueue(said, end=list(ends))
    sending = Sending(queue, ScriptedSender(said, evidence), clock, counted, lambda: 0.0)
    admitted = Admitted(write(RULE, intent=INTENT), TicketId("t1"), None, INTENT_ID)
    try:
        await sending.run(taken(failures), admitted, clock.after(30), request())
    finally:
        await sending.close()
    return said, counted.said


def answered(status: int, *headers: tuple[bytes, bytes], said: Transcript) -> ScriptedAnswer:
    return ScriptedAnswer(said, status, headers=headers)


@pytest.mark.parametrize(
    ("status", "headers", "end"),
    [
        (200, (), "applied: answered 200, keeping 200; else never again"),
        (422, (), "not_applied: answered 422; else never again"),
        (429, (), "not_applied: answered 429; else again after 4 s"),
        (429, ((b"Retry-After", b"60"),), "not_applied: answered 429; else again after 60 s"),
        (503, (), "unknown: answered 503; else again after 4 s"),
    ],
)
async def test_an_answer_ends_a_delivery(status: int, headers: tuple[tuple[bytes, bytes], ...], end: str) -> None:
    """What follows is said in the same call, and counts only where nothing was done."""
    said = Transcript()
    await sent(answered(status, *headers, said=said), failures=2, said=said)

    assert said == ["send t1", "read small", f"end t1 {end}", "close"]


@pytest.mark.parametrize(
    ("evidence", "end"),
    [
        (AWAY, "not_applied: connection refused; else again after 1 s"),
        (NotSent("late", "too late"), "not_applied: too late; else again after 1 s"),
        (NoReply("timeout", "no answer"), "unknown: no answer; else again after 1 s"),
    ],
)
async def test_without_an_answer(evidence: object, end: str) -> None:
    """Not sent is queued again; sent and not answered is unknown."""
    said, counted = await sent(evidence)

    assert said == ["send t1", f"end t1 {end}"]
    assert counted == ["sent", "ended"]


async def test_a_large_answer_is_read_to_its_end() -> None:
    """Whether it is whole says what became of the write."""
    said = Transcript()
    await sent(ScriptedAnswer(said, small=(b"a", False), pieces=(b"b", b"")), said=said)
    assert "end t1 applied: answered 200, keeping 200; else never again" in said

    said = Transcript()
    await sent(ScriptedAnswer(said, small=(b"a", False), pieces=(BrokenAnswer("it broke off"),)), said=said)
    assert any(line.startswith("end t1 unknown: it broke off") for line in said)


async def test_an_answer_that_comes_after_all_is_told_too() -> None:
    """First unknown, then what it was."""

    async def listen(_keep: int) -> LateAnswer | None:
        return LateAnswer(200, (), b"ok")

    said, _ = await sent(Overdue(NoReply("timeout", "no answer"), listen), ends=(SETTLED, SETTLED, SETTLED))

    assert said[0] == "send t1"
    assert any("unknown: no answer" in line for line in said[1:])
    assert said[-1].startswith("end t1 applied: answered 200, late, keeping 200")


async def test_a_store_that_is_away_is_told_later() -> None:
    """The settling goes on by itself until it is back."""
    said, _ = await sent(AWAY, ends=(StoreUnavailable("away"), SETTLED))

    assert said.count("end t1 not_applied: connection refused; else again after 1 s") == 2


async def test_a_delivery_that_is_broken_off_is_unknown() -> None:
    """The gateway is stopped and can wait no longer."""
    said = Transcript()
    sending = asyncio.get_running_loop().create_task(sent(STUCK, said=said))
    await said.until("send t1")
    sending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sending

    assert said[-1].startswith("end t1 unknown: the gateway was stopped")
