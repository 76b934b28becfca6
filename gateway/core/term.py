"""How long a set of policies is in force: what waits longer than that is judged anew."""

from collections.abc import Callable


class Term:
    """Of one upstream as it was compiled. Shared by whatever was judged under it; it ends once, for good.

    `look`: who knows what is in force looks, before it is told whether the term is over: a process that was stopped
    takes up what waits before it has looked at anything else.
    """

    __slots__ = ("_has_ended", "_is_over", "look")

    def __init__(self) -> None:
        self._has_ended = False
        self._is_over = False
        self.look: Callable[[], object] = _nobody

    @property
    def is_over(self) -> bool:
        """It has ended, or nobody can tell for now."""
        self.look()
        return self._is_over

    def end(self) -> None:
        self._has_ended = self._is_over = True

    def suspend(self) -> None:
        """For as long as nobody can tell whether it has ended."""
        self._is_over = True

    def resume(self) -> None:
        self._is_over = self._has_ended


def _nobody() -> None:
    """Where the policies do not change."""
