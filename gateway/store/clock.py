"""What this gateway expects the store's clock to say, so that a clock that jumps ends no ticket of a living gateway."""

from collections.abc import Callable

from gateway.core.clock import Clock

# As in scripts/parts/epoch.lua: a step that tickets' grace covers need not be noticed.
_GRACE_S = 1.0
# A forward step is believed once every ticket made before it has ended by the gateways' own clocks. Other gateways'
# tickets may live longer than any of this one's: twice the longest default.
_LEAST_HOLD_S = 60.0


class StoreClock:
    """The difference between the store's clock and this machine's, in seconds, learned from every reply."""

    def __init__(self, clock: Clock) -> None:
        self._offset_s: float | None = None
        self._stepped_at: float | None = None
        self._hold_s = _LEAST_HOLD_S
        self.longest_s: Callable[[], float] = _no_time
        """How long any gateway's ticket may live, as far as this one knows."""
        self.read = clock.boot
        """This machine's own clock, in seconds."""

    def expected_ms(self) -> int:
        """What the store's clock should say now. `learn` comes first."""
        assert self._offset_s is not None
        return int((self.read() + self._offset_s) * 1000)

    def hold(self, ttl_s: float) -> None:
        """A ticket lives this long: a step of the clock is believed no sooner."""
        if ttl_s > self._hold_s:
            self._hold_s = ttl_s

    def learn(self, store_ms: int, asked: float, answered: float) -> None:
        """The store read `store_ms` at some instant between two readings of this machine's clock."""
        least, most = store_ms / 1000 - answered, store_ms / 1000 - asked
        offset = self._offset_s
        if offset is None or most < offset - _GRACE_S:
            # A clock that went back makes tickets look younger: nothing ends early.
            self._offset_s = least
            self._stepped_at = None
        elif least <= offset + _GRACE_S:
            self._offset_s = min(max(offset, least), most)
            self._stepped_at = None
        elif self._stepped_at is None:
            self._stepped_at = answered
        elif answered - self._stepped_at >= max(self._hold_s, self.longest_s()):
            self._offset_s = least
            self._stepped_at = None


def _no_time() -> float:
    """Where nobody says how long a write lasts."""
    return 0.0
