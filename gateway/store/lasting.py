"""How long a write may be in flight at most: by the rules in force, and by former ones as long as their writes last.

The store may forget a write that is on its way, and others wait for it as long as any may last. A reload that shortens
`timeouts.total` shortens no write that was admitted before it.
"""

from collections.abc import Callable


class Lasting:
    """Seconds. `now` is the boot clock; `by_rules` is asked at each admission, so that nothing was admitted unseen."""

    __slots__ = ("_by_rules", "_longest_s", "_now", "_until")

    def __init__(self, by_rules: Callable[[], float], now: Callable[[], float]) -> None:
        self._by_rules = by_rules
        self._now = now
        self._longest_s = 0.0
        self._until = 0.0

    def __call__(self) -> float:
        longest_s, now = self._by_rules(), self._now()
        if longest_s >= self._longest_s or now >= self._until:
            self._longest_s, self._until = longest_s, now + longest_s
        return self._longest_s
