"""What one request's trace is made of: where it stands in it, and when each of its steps began.

The steps follow each other: one ends where the next begins.
"""

from collections.abc import Callable
from typing import Literal

from gateway.core.trace_context import TraceContext

Step = Literal["identify", "agent-call", "admit", "wait", "park", "forward", "session", "settle"]


class Trace:
    """The trace of one request, or of one delivery. `now_ns` is a clock that only grows, in nanoseconds.

    `came`: the place that the request named. `own`: the place of the request's own span. `passed`: that of the step in
    which it is passed on, which is what the upstream is told; all three are of one trace, but for a delivery: it begins
    a trace of its own, and `came` is the place where the request was taken.
    """

    __slots__ = ("_now_ns", "began_ns", "came", "own", "passed", "steps")

    def __init__(
        self, came: TraceContext | None, own: TraceContext, passed: TraceContext, now_ns: Callable[[], int]
    ) -> None:
        self.came = came
        self.own = own
        self.passed = passed
        self._now_ns = now_ns
        self.began_ns = now_ns()
        self.steps: list[tuple[Step, int]] = []

    @property
    def id(self) -> str:
        return self.own.trace_id

    def enter(self, step: Step) -> None:
        """A step begins, and the one before it has ended."""
        self.steps.append((step, self._now_ns()))
