"""How long a set of policies is in force: what waits longer than that is judged anew."""


class Term:
    """Of one upstream as it was compiled. Shared by whatever was judged under it; it is over once, for good."""

    __slots__ = ("is_over",)

    def __init__(self) -> None:
        self.is_over = False

    def end(self) -> None:
        self.is_over = True
