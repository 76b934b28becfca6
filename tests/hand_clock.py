"""A clock that stands still until it is turned."""

from gateway.core.clock import Deadline
from gateway.flow.clock import BootClock


class HandClock(BootClock):
    """`now`, in seconds, is turned by its test."""

    def __init__(self) -> None:
        self.now = 1000.0

    def boot(self) -> float:
        return self.now

    def after(self, seconds: float) -> Deadline:
        return Deadline(self.now + seconds, self.now + seconds)

    def left(self, deadline: Deadline) -> float:
        return deadline.boot - self.now
