"""How long a write may be in flight at most: by the rules in force, and by former ones as long as their writes last.

The store may forget a write that is on its way, and others wait for it as long as any may last. A reload that shortens
`timeouts.total` shortens no write that was admitted before it, by whichever process: each tells the store with its
marks (mark.lua) what it knows, and hears of the others'. What the store forgets of it is told to it again.
"""

from collections.abc import Callable

# As in scripts/parts/epoch.lua. So much longer it is remembered: what is told is on its way for a moment.
_GRACE_S = 1.0


class Lasting:
    """Seconds. `now` is the boot clock. `by_rules` is asked with each mark and at each admission."""

    __slots__ = ("_now", "_until", "by_rules")

    def __init__(self, now: Callable[[], float]) -> None:
        self.by_rules: Callable[[], float] = _no_time
        """By the rules in force; none where nobody has said."""
        self._now = now
        # In milliseconds how long, and until when a write may be in flight that lasts so long.
        self._until: dict[int, float] = {}

    def __call__(self) -> float:
        now = self._now()
        self._note(self.by_rules(), now)
        if len(self._until) > 1:
            self._until = {ms: until for ms, until in self._until.items() if until > now}
        return max(self._until) / 1000

    def note(self, seconds: float) -> None:
        """A write that lasts so long may be admitted now, whatever the rules in force say by now."""
        self._note(seconds, self._now())

    def told(self) -> str:
        """In words, for others: how long, and how much of the time is left in which one may be in flight."""
        self()
        now = self._now()
        return " ".join(f"{ms}:{int((until - now) * 1000)}" for ms, until in self._until.items() if ms)

    def hear(self, words: str, asked: float) -> None:
        """What the store was told by others, as it was after `asked`; what comes back of this one's is no news."""
        for word in words.split():
            ms, _, left = word.partition(":")
            self._raise(int(ms), asked + int(left) / 1000)

    def _note(self, seconds: float, now: float) -> None:
        self._raise(round(seconds * 1000), now + seconds + _GRACE_S)

    def _raise(self, ms: int, until: float) -> None:
        if until > self._until.get(ms, 0.0):
            self._until[ms] = until


def _no_time() -> float:
    return 0.0
