"""How long a set of policies is in force: what waits longer than that is judged anew."""


class Term:
    """Of one upstream as it was compiled. Shared by whatever was judged under it; it ends once, for good."""

    __slots__ = ("_has_ended", "is_over")

    def __init__(self) -> None:
        self._has_ended = False
        self.is_over = False
        """It has ended, or nobody can tell for now."""

    def end(self) -> None:
        self._has_ended = self.is_over = True

    def suspend(self) -> None:
        """For as long as nobody can tell whether it has ended."""
        self.is_over = True

    def resume(self) -> None:
        self.is_over = self._has_ended
