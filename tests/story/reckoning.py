"""What may become of one mail, whatever its agents do and whichever gateway dies: the model that a story is held
against.

It follows one mail from answer to answer and keeps every state that is still possible. An agent that left leaves a
request behind that may be admitted at any later time, or never; a gateway that was killed leaves one that may have been
admitted and not sent, or sent and not settled.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from tests.raw import RawAnswer

# What the API does with a mail: the effect, or not, and an answer, or none, or half of one.
Fate = Literal["confirmed", "refused", "broken", "cut", "dropped"]
Status = Literal["free", "flying", "dying", "applied", "unknown"]
ENDS: dict[Fate, Status] = {
    "confirmed": "applied",
    "refused": "free",
    "broken": "unknown",
    "cut": "unknown",
    "dropped": "unknown",
}
_SENT: frozenset[Fate] = frozenset({"confirmed", "broken", "cut"})
# Nothing was sent, and nothing has changed.
_NOTHING_DONE = frozenset({"resource-busy", "store-unavailable", "upstream-unreachable"})


@dataclass(frozen=True, slots=True)
class Possible:
    """One state of a mail. `calls` counts how often the API had it; `left` the requests that may still be admitted,
    `doomed` those of them that a killed gateway had."""

    status: Status = "free"
    calls: int = 0
    left: int = 0
    doomed: int = 0


class Reckoning:
    """One mail. `fates` says what the API does with it the first time, the second time and so on; then the last."""

    def __init__(self, fates: tuple[Fate, ...]) -> None:
        self._fates = fates
        self.possible = frozenset({Possible()})

    def unanswered(self, *, doomed: bool) -> None:
        """An agent left, or lost its connection; `doomed`: its gateway was killed then or later."""
        self.possible = self._closed(
            replace(one, left=one.left + (not doomed), doomed=one.doomed + doomed) for one in self.possible
        )

    def answered(self, answer: RawAnswer) -> bool:
        """Whether the model allows this answer to the next request."""
        told = (answer.status, answer.decision)
        self.possible = self._closed(after for one in self.possible for after in self._answering(one, told))
        return bool(self.possible)

    def ends(self, state: str | None, calls: int) -> bool:
        """Whether the mail may have ended like this: its state in the table, and how often the API had it."""
        status = "free" if state in (None, "not_applied") else state
        return any((one.status, one.calls) == (status, calls) for one in self.possible)

    def is_sent(self, calls: int) -> bool:
        """Whether the API has sent the mail when it had it so often."""
        return any(self._fate(call) in _SENT for call in range(calls))

    def _fate(self, call: int) -> Fate:
        return self._fates[min(call, len(self._fates) - 1)]

    def _answering(self, one: Possible, told: tuple[int, str | None]) -> Iterator[Possible]:
        fate = self._fate(one.calls)
        match told:
            case (200, "forwarded") if one.status == "free" and fate == "confirmed":
                yield self._called(one)
            case (422, "forwarded") if one.status == "free" and fate == "refused":
                yield self._called(one)
            case (504, "outcome-unknown") if one.status == "free" and ENDS[fate] == "unknown":
                yield self._called(one)
            case (200, "replayed") if one.status == "applied":
                yield one
            case (409, "outcome-unknown") if one.status == "unknown":
                yield one
            case (409, "intent-in-progress") if one.status in ("flying", "dying"):
                yield one
            case (_, decision) if decision in _NOTHING_DONE:
                yield one

    def _called(self, one: Possible) -> Possible:
        return replace(one, status=ENDS[self._fate(one.calls)], calls=one.calls + 1)

    def _closed(self, states: Iterator[Possible]) -> frozenset[Possible]:
        """With everything that may happen by itself."""
        new, closed = set(states), set[Possible]()
        while new:
            closed |= new
            new = {after for one in new for after in self._by_itself(one)} - closed
        return frozenset(closed)

    def _by_itself(self, one: Possible) -> Iterator[Possible]:
        if one.status == "free" and one.left:
            yield replace(one, status="flying", left=one.left - 1)
        if one.status == "free" and one.doomed:
            yield replace(one, status="dying", doomed=one.doomed - 1)
        if one.status in ("flying", "dying"):
            yield self._called(one)
        if one.status == "dying":
            yield replace(one, status="unknown")
            yield replace(one, status="unknown", calls=one.calls + 1)
