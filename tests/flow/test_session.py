"""A session between scripts: what the store is asked, in which order the ends break off, when nothing more goes."""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from gateway.core.clock import Deadline
from gateway.core.decision import PAUSED, STALE_EPOCH, Refused
from gateway.core.faults import StoreUnavailable
from gateway.core.outcome import NoReply, NotSent
from gateway.core.pause import PausesInForce
from gateway.core.rule import Rule
from gateway.core.session import Switched
from gateway.core.websocket import close_frame
from gateway.core.write import Extended, Lapsed, Write
from gateway.flow.admission import Admission
from gateway.flow.clock import BootClock
from gateway.flow.inline import Inline
from gateway.flow.marks import Marks
from gateway.flow.pauses import Pauses
from gateway.flow.session import Lifetime
from gateway.flow.tasks import Tasks
from gateway.flow.waiting import Wakes
from tests.playbook.caller import Counted, NoBody, ScriptedCaller
from tests.playbook.given import RESOURCE, RULE, request, write
from tests.playbook.script import STUCK, Transcript
from tests.playbook.store import ADMIT, SETTLED, ScriptedStore, Settle
from tests.playbook.upstream import ScriptedAnswer, ScriptedSender

LIVE: Rule = replace(RULE, upgrade="websocket")
WRITE = write(LIVE)
LIVES = Extended()


class TurnedClock(BootClock):
    """A clock that the test turns on: by so many seconds the process has slept. No session takes any time else."""

    slept_s = 0.0

    def boot(self) -> float:
        return self.slept_s

    def after(self, seconds: float) -> Deadline:
        return super().after(seconds + self.slept_s)

    def left(self, deadline: Deadline) -> float:
        return super().left(deadline) - self.slept_s


class Unpaused:
    """Implements `ports.PauseStore`: nothing is stopped."""

    async def in_force(self) -> PausesInForce:
        return {}


class ScriptedEnd:
    """Both ends of a session: `pieces` are what they say, and then they fall silent, or end with an empty piece."""

    def __init__(self, said: Transcript, name: str, *pieces: bytes) -> None:
        self._said = said
        self._name = name
        self._pieces = deque(pieces)
        self.takes = True

    async def read(self) -> bytes:
        if not self._pieces:
            await asyncio.Event().wait()
        return self._pieces.popleft()

    async def send(self, piece: bytes, may_go: Callable[[], bool]) -> bool:
        goes = self.takes and may_go()
        self._said.say(f"{self._name} gets {piece.decode()}" if goes else f"{self._name} gets nothing")
        return goes

    async def write(self, piece: bytes) -> bool:
        return await self.send(piece, lambda: True)

    def finish(self) -> None:
        self._said.say(f"{self._name} finishes")

    def abort(self) -> None:
        self._said.say(f"{self._name} aborts")

    def close(self, frame: bytes) -> None:
        self._said.say(f"{self._name} closes {frame[4:].decode()}".rstrip())

    async def closed(self, within_s: float) -> None:
        self._said.say(f"{self._name} is gone")


@dataclass
class Play:
    """One session under scripts; `said` is the conversation without its first three lines, which are always alike."""

    said: Transcript
    store: ScriptedStore
    caller: ScriptedCaller
    far: ScriptedEnd
    near: ScriptedEnd
    evidence: object = None
    write: Write = WRITE

    def __post_init__(self) -> None:
        self.counted, self.tasks, self.clock, self.wakes = Counted(), Tasks(), TurnedClock(), Wakes()
        switched = Switched(101, b"Switching Protocols", (), self.far)
        sender = ScriptedSender(self.said, self.evidence or switched)
        pauses = Pauses(self.store, Unpaused(), self.clock, self.wakes)
        admission = Admission(self.store, self.clock, self.wakes, self.tasks, pauses)
        self.inline = Inline(admission, self.store, sender, self.clock, self.tasks, self.counted)
        self.caller.near = self.near

    async def run(self) -> Marks | Refused:
        try:
            return await self.inline.run(self.write, request("GET"), NoBody(), self.caller)
        finally:
            assert await self.tasks.drain(5) == 0
            assert self.said[:2] == ["admit t1", "proceed"]
            del self.said[:3]


def play(*, far: tuple[bytes, ...] = (), near: tuple[bytes, ...] = (), **scripts: object) -> Play:
    said = Transcript()
    evidence = scripts.pop("evidence", None)
    store = ScriptedStore(said, admit=[ADMIT], **({"settle": [SETTLED]} | scripts))
    caller = ScriptedCaller(said)
    return Play(said, store, caller, ScriptedEnd(said, "upstream", *far), ScriptedEnd(said, "agent", *near), evidence)


def settle(why: str) -> str:
    return f"settle t1 applied: a session of 0.0 s; {why}"


async def test_bytes_pass_until_the_upstream_closes() -> None:
    """Both ways, whole; the ticket is settled when nothing can be sent any more."""
    on = play(near=(b"a", b"b"), far=(b"1", b"2", b""), extend=[LIVES])

    told = await on.run()

    assert isinstance(told, Marks)
    assert (told.decision.name, told.outcome, told.session) == ("forwarded", "applied", "the upstream closed")
    assert sorted(on.said[:6]) == [
        "agent gets 1",
        "agent gets 2",
        "extend t1",
        "switch applied",
        "upstream gets a",
        "upstream gets b",
    ]
    assert on.said[6:] == [
        "upstream aborts",
        "agent closes",
        settle("the upstream closed"),
        "agent is gone",
        "upstream aborts",
    ]
    assert on.counted.said == ["sent", "ended", "session began", "session ended"]


@pytest.mark.parametrize(
    ("reply", "code", "reason"),
    [
        pytest.param(Refused(STALE_EPOCH, ""), 1008, "stale-epoch", id="overtaken"),
        pytest.param(Refused(PAUSED, ""), 1008, "paused", id="paused"),
        pytest.param(Lapsed(), 1013, "lapsed", id="ended by others"),
    ],
)
async def test_a_session_that_is_not_extended_breaks_off_before_it_is_settled(
    reply: object, code: int, reason: str
) -> None:
    """Whoever waits for the ticket begins after the last byte; the agent is told the reason, and nothing passes of a
    session that was refused before it began."""
    on = play(extend=[reply], near=(b"a",), far=(b"1",), settle=[Settle(overtaken=True)])

    told = await on.run()

    assert isinstance(told, Marks) and told.session == f"cut: {reason}"
    assert on.said == [
        "extend t1",
        "switch applied",
        "upstream aborts",
        f"agent closes {reason}",
        settle(f"cut: {reason}"),
        "agent is gone",
        "upstream aborts",
    ]
    assert close_frame(code, reason).endswith(reason.encode())
    assert "overtaken" in on.counted.said


async def test_no_agent_has_a_session_whose_ticket_was_not_yet_extended() -> None:
    """Until then it lives as long as a write's: a gateway that was killed would leave it behind for so long."""
    on = play(extend=[StoreUnavailable("away"), LIVES], far=(b"",))
    await on.run()

    assert on.said[:3] == ["extend t1", "extend t1", "switch applied"]


async def test_a_wake_asks_at_once() -> None:
    """The store says that the resource has changed: the session does not wait for its next turn."""
    on = play(extend=[LIVES, Refused(STALE_EPOCH, "")])
    running = asyncio.ensure_future(on.run())
    await on.said.until("extend t1")
    on.wakes.on_wake(RESOURCE)
    async with asyncio.timeout(1):
        told = await running

    assert isinstance(told, Marks) and told.session == "cut: stale-epoch"


async def test_a_gateway_that_slept_past_the_deadline_sends_nothing_more() -> None:
    """G7: the check stands beside the sending, and the store is not asked whether it may go on."""
    on = play(extend=[LIVES])
    running = asyncio.ensure_future(on.run())
    await on.said.until("extend t1")
    await asyncio.sleep(0)
    on.clock.slept_s = 6.0
    on.near._pieces.append(b"late")
    on.wakes.on_wake(RESOURCE)

    told = await running

    assert isinstance(told, Marks) and told.session == "cut: lapsed"
    assert not [line for line in on.said if line.endswith("gets late")]
    assert on.said.count("extend t1") == 1


async def test_an_unanswered_extension_may_have_shortened_the_ticket(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first one is shorter than the handshake's deadline: until it is answered, the shorter one counts."""
    monkeypatch.setattr("gateway.flow.session.LIFE_S", 0.05)
    on = play(near=(), extend=[STUCK])

    told = await on.run()

    assert isinstance(told, Marks) and told.session == "cut: store-unavailable"
    assert on.said.count("extend t1") == 1


async def test_a_store_that_is_away_is_asked_again_while_the_ticket_lives(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its answer in time and all is well; else the session is cut when the ticket's life is over."""
    monkeypatch.setattr("gateway.flow.session._AGAIN_AFTER_S", 0.01)
    on = play(extend=[StoreUnavailable("away"), LIVES, *[StoreUnavailable("away")] * 100])
    running = asyncio.ensure_future(on.run())
    await on.said.until("extend t1", times=2)
    on.wakes.on_wake(RESOURCE)
    await on.said.until("extend t1", times=4)
    on.clock.slept_s = 6.0

    told = await running

    assert isinstance(told, Marks) and told.session == "cut: store-unavailable"


async def test_a_session_ends_with_its_signed_claim() -> None:
    """A write under it would be refused from then on."""
    on = play(extend=[LIVES])
    on.write = replace(on.write, expires=on.clock.after(0.05))

    told = await on.run()

    assert isinstance(told, Marks) and told.session == "cut: token-invalid"


async def test_a_session_ends_with_its_lease() -> None:
    """Without another word of the store, which may be away, and with the reason that it would give."""
    on = play(extend=[Extended(3.0), LIVES])
    running = asyncio.ensure_future(on.run())
    await on.said.until("extend t1")
    await asyncio.sleep(0)
    on.clock.slept_s = 3.5
    on.wakes.on_wake(RESOURCE)

    told = await running

    assert isinstance(told, Marks) and told.session == "cut: lease-expired"
    assert on.said.count("extend t1") == 1


async def test_a_renewed_lease_prolongs_its_session() -> None:
    """The end that the store told last counts."""
    on = play(extend=[Extended(3.0), Extended(60.0), Refused(STALE_EPOCH, "")])
    running = asyncio.ensure_future(on.run())
    for turn, slept_s in enumerate((2.5, 3.5), start=1):
        await on.said.until("extend t1", times=turn)
        await asyncio.sleep(0)
        on.clock.slept_s = slept_s
        on.wakes.on_wake(RESOURCE)

    told = await running

    assert isinstance(told, Marks) and told.session == "cut: stale-epoch"


@pytest.mark.parametrize(
    ("lease_left_s", "turn_s"), [(None, 1.5), (60.0, 1.5), (3.0, 1.5), (1.0, 0.5), (0.08, 0.05), (0.03, 0.03)]
)
def test_towards_the_end_of_its_lease_the_store_is_asked_more_often(lease_left_s: float | None, turn_s: float) -> None:
    """A renewal wakes nobody, and may come at the last moment."""
    clock = TurnedClock()
    lifetime = Lifetime(clock, clock.after(5.0), None)

    lifetime.renew(clock.after(5.0), None if lease_left_s is None else clock.after(lease_left_s))

    assert lifetime.turn() == pytest.approx(turn_s, abs=0.01)


async def test_an_agent_that_leaves_ends_its_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """The upstream is told that nothing more comes, and has some time for its farewell."""
    monkeypatch.setattr("gateway.flow.session._LINGER_S", 0.01)
    on = play(near=(b"a", b""), extend=[LIVES])

    told = await on.run()

    assert isinstance(told, Marks) and told.session == "the agent left"
    assert on.said[-6:] == [
        "upstream finishes",
        "upstream aborts",
        "agent closes",
        settle("the agent left"),
        "agent is gone",
        "upstream aborts",
    ]


@pytest.mark.parametrize(("end", "why"), [("far", "the upstream's connection broke"), ("near", "the agent left")])
async def test_an_end_that_breaks_ends_the_session(end: str, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever takes nothing more; the other one's last words have a little time."""
    monkeypatch.setattr("gateway.flow.session._LINGER_S", 0.01)
    on = play(near=(b"a", b""), far=(b"1", b"2"), extend=[LIVES])
    (on.far if end == "far" else on.near).takes = False

    told = await on.run()

    assert isinstance(told, Marks) and told.session == why
    assert ("agent gets 2" in on.said) == (end == "far")
    assert ("upstream gets a" in on.said) == (end == "near")


@pytest.mark.parametrize(
    ("reply", "breaks_off"),
    [
        pytest.param(LIVES, ["switch applied", "upstream aborts"], id="begun"),
        pytest.param(STUCK, ["upstream aborts", "switch applied"], id="not yet begun"),
    ],
)
async def test_a_stopped_gateway_breaks_off_and_settles(reply: object, breaks_off: list[str]) -> None:
    """The handler is cancelled: the agent is told, and the settling goes on by itself."""
    on = play(extend=[reply])
    running = asyncio.ensure_future(on.run())
    await on.said.until("extend t1" if reply is STUCK else "switch applied")
    running.cancel()
    told = await running

    assert isinstance(told, Marks) and told.session == "cut: the gateway stops"
    assert on.said[:4] == ["extend t1", *breaks_off, "agent closes the gateway stops"]
    assert on.said[-1] == settle("cut: the gateway stops")


@pytest.mark.parametrize(
    ("evidence", "lines"),
    [
        pytest.param(
            NotSent("unreachable", "nobody listens"),
            ["settle t1 not_applied: nobody listens", "refuse upstream-unreachable"],
            id="not sent",
        ),
        pytest.param(
            NoReply("malformed", "no proof"),
            ["settle t1 unknown, unfinished: no proof", "refuse outcome-unknown"],
            id="no reply",
        ),
    ],
)
async def test_a_handshake_without_an_answer_is_judged_like_any_write(evidence: object, lines: list[str]) -> None:
    """Nothing is extended that never began."""
    on = play(evidence=evidence)

    await on.run()

    assert on.said == lines


async def test_an_ordinary_answer_to_a_handshake_is_passed_on() -> None:
    """Judged by its status, and settled at once."""
    said = Transcript()
    on = play(evidence=ScriptedAnswer(said, 403))
    told = await on.run()

    assert isinstance(told, Marks) and (told.outcome, told.session) == ("not_applied", None)
    assert on.said == ["settle t1 not_applied: answered 403", "reply not_applied ok"]
