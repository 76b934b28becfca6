"""What this gateway expects the store's clock to say, so that a clock that jumps ends no ticket of a living gateway."""

from collections.abc import Callable

from gateway.core.clock import Clock

# As in scripts/parts/epoch.lua: a step that tickets' grace covers need not be noticed.
_GRACE_S = 1.0
# A forward step is believed once every ticket made before it has ended by the gateways' own clocks. Other gateways'
# tickets may live longer than any of this one's: twice the longest default.
_LEAST_HOLD_S = 60.0
# A lease that was made longer ago has ended (core/lease.py).
_LONGEST_LEASE_S = 86_400.0


class StoreClock:
    """The difference between the store's clock and this machine's, in seconds, learned from every reply."""

    def __init__(self, clock: Clock) -> None:
        self._offset_s: float | None = None
        self._stepped_at: float | None = None
        # The furthest that the clock was ever seen ahead since it was last set back, and when that was first seen:
        # servers whose clocks differ take turns, and are no steps.
        self._furthest_s = 0.0
        self._steady_since = 0.0
        # As the last reply said, and the largest ever; and where the clock stood when it was set back last.
        self._last_s: float | None = None
        self._largest_s = 0.0
        self._stood_at_s: float | None = None
        # When it was last asked; the least that it can have said since its last step; and of the time before that
        # one, if it was a step back: the least that it said, and the difference.
        self._asked_at = 0.0
        self._since_s = 0.0
        self._former: tuple[float, float] | None = None
        self.longest_s: Callable[[], float] = _no_time
        """How long a ticket may live, of any gateway's, as far as this one knows (lasting.py)."""
        self.read = clock.boot
        """This machine's own clock, in seconds."""

    def expected_ms(self) -> int:
        """What the store's clock should say now. `learn` comes first."""
        assert self._offset_s is not None
        return int((self.read() + self._offset_s) * 1000)

    def furthest_ms(self) -> int:
        """The most that it may say, also where it jumped and nobody believes that yet."""
        assert self._offset_s is not None
        return int((self.read() + max(self._offset_s, self._furthest_s)) * 1000)

    def heard_ms(self) -> int:
        """What it says now by the last reply, whether anybody believes that or not."""
        assert self._last_s is not None
        return int((self.read() + self._last_s) * 1000)

    def surely_since_s(self, store_ms: int) -> float:
        """How much time has passed at least since the store's clock said that, whichever steps it has taken.

        None is known that was taken before the clock was first heard: what is from before that is as old as this.
        """
        return min(self.expected_ms() / 1000 - store_ms / 1000, self.read() - self._steady_since)

    def set_back(self) -> str:
        """In words, where it ever was: what is from before that instant may be so much older than it looks."""
        if self._stood_at_s is None:
            return ""
        assert self._last_s is not None
        by_s = self._largest_s - self._last_s
        return f" set-back:{round(by_s * 1000)} before:{round(self._stood_at_s * 1000)}"

    def told(self) -> str:
        """All that is known of its steps, in words."""
        older = self.older()
        return self.set_back() + (older and f" older:{older}")

    def older(self) -> str:
        """By how many milliseconds what was made before its last step is older than it looks, and from and to when by
        the clock that is surely so; empty where it was not set back then.
        """
        if self._former is None or self._last_s is None:
            return ""
        if self.read() + self._last_s > self._since_s + _LONGEST_LEASE_S:
            return ""
        from_s, offset_s = self._former
        return "/".join(str(max(0, round(s * 1000))) for s in (offset_s - self._last_s, from_s, self._since_s))

    def learn(self, store_ms: int, asked: float, answered: float) -> None:
        """The store read `store_ms` at some instant between two readings of this machine's clock."""
        least, most = store_ms / 1000 - answered, store_ms / 1000 - asked
        offset = self._offset_s
        self._follow(least, most, asked, answered)
        if offset is None or most < offset - _GRACE_S:
            # A clock that went back makes tickets look younger: nothing ends early.
            self._offset_s = self._furthest_s = least
            self._stepped_at = None
            if offset is None:
                self._steady_since = answered
            return
        furthest = self._furthest_s
        is_further = least > (offset if offset > furthest else furthest) + _GRACE_S
        if least > furthest:
            self._furthest_s = least
        if is_further:
            self._steady_since = answered
        if least <= offset + _GRACE_S:
            self._offset_s = _between(least, offset, most)
            self._stepped_at = None
        elif self._stepped_at is None or is_further:
            # Tickets may have been made since the step before this one.
            self._stepped_at = answered
        elif answered - self._stepped_at >= max(_LEAST_HOLD_S, self.longest_s()):
            self._offset_s = least
            self._stepped_at = None

    def _follow(self, least: float, most: float, asked: float, answered: float) -> None:
        """Whether anybody believes it or not."""
        last, asked_at, self._asked_at = self._last_s, self._asked_at, asked
        if last is None:
            self._last_s = self._largest_s = least
            return
        if most < last - _GRACE_S or least > last + _GRACE_S:
            self._former = (self._since_s, last) if most < last else None
            self._since_s = asked_at + least
        if most < last - _GRACE_S:
            self._stood_at_s = max(answered + last, self._stood_at_s or 0.0)
            self._last_s = least
            return
        # Between question and answer it may have been read at any instant.
        last = self._last_s = _between(least, last, most)
        if last > self._largest_s:
            self._largest_s = last


def _between(least: float, value: float, most: float) -> float:
    """The nearest to `value` that lies between them. Asked twice with each answer: `min` and `max` take longer."""
    return value if least <= value <= most else least if value < least else most


def _no_time() -> float:
    """Where nobody says how long a write lasts."""
    return 0.0
