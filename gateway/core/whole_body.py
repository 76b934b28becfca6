"""A body that is here whole, as whoever sends takes it: one that was kept, or the gateway's own."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class WholeBody:
    """Nothing of it is still to come. Empty: what a request without a body has instead of one."""

    body: bytes = field(default=b"", repr=False)

    @property
    def length(self) -> int | None:
        return len(self.body)

    def take_buffered(self) -> bytes | None:
        return self.body

    async def begin(self) -> None:
        """Nothing is waited for."""

    async def read(self) -> bytes:
        """What follows: nothing."""
        return b""

    def rewind(self) -> bool:
        return True
