"""What of a write's time is the gateway's own, by a clock that the conversation turns."""

import pytest

from gateway.core.write import Waiting
from gateway.flow.admission import Admission
from gateway.flow.inline import Inline
from gateway.flow.marks import Marks
from gateway.flow.tasks import Tasks
from gateway.flow.waiting import Wakes
from tests.flow.playing import answer, large, play
from tests.hand_clock import HandClock
from tests.playbook.caller import Counted, NoBody, ScriptedCaller
from tests.playbook.given import request, write
from tests.playbook.script import Transcript
from tests.playbook.store import ADMIT, SETTLED, ScriptedStore, unpaused
from tests.playbook.upstream import ScriptedSender


class Told(HandClock):
    """A clock that the conversation turns: so many seconds pass at each of these lines."""

    def __init__(self, passes: dict[str, float]) -> None:
        super().__init__()
        self._passes = passes

    def hear(self, line: str) -> None:
        self.now += next((seconds for begin, seconds in self._passes.items() if line.startswith(begin)), 0.0)


class Heard(Transcript):
    """What is said turns the clock."""

    def __init__(self, clock: Told) -> None:
        super().__init__()
        self._clock = clock

    def say(self, line: str) -> None:
        super().say(line)
        self._clock.hear(line)


@pytest.mark.parametrize(
    ("admit", "passes", "elsewhere_s"),
    [
        ([ADMIT], {"read small": 2.0}, 2.0),
        ([ADMIT], {"read small": 2.0, "settle": 4.0}, 2.0),
        ([ADMIT], {"admit t1": 8.0, "read small": 2.0}, 2.0),
        ([Waiting("busy", 0), ADMIT], {"admit t1": 16.0, "read small": 2.0}, 18.0),
    ],
    ids=["the upstream's time", "the store's is the gateway's own", "at admission too", "waiting for others is not"],
)
async def test_what_is_not_the_gateways_own_time_is_told(
    admit: list[object], passes: dict[str, float], elsewhere_s: float
) -> None:
    """What is left of the request's time is what the gateway adds to it."""
    clock = Told(passes)
    said = Heard(clock)
    sent = answer()
    sent.said = said
    store, tasks = ScriptedStore(said, admit=admit, settle=[SETTLED]), Tasks()
    admission = Admission(store, clock, Wakes(), tasks, unpaused(store))
    inline = Inline(admission, store, ScriptedSender(said, sent), clock, tasks, Counted())

    told = await inline.run(write(), request(), NoBody(), ScriptedCaller(said, (), ()))

    assert isinstance(told, Marks)
    assert told.elsewhere_s == elsewhere_s


async def test_a_large_answer_says_nothing_of_the_gateways_own_time() -> None:
    """It is passed on at its caller's pace."""
    told = await play(large(b"two", b"")).run()

    assert isinstance(told, Marks)
    assert told.elsewhere_s is None
