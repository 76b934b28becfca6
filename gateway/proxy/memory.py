"""What callers' bodies take of this process's memory while their requests are under way."""

# A thousand requests with bodies of 64 KiB. Beyond it they are no longer kept here.
_MOST = 64 << 20
# Even then: as much lies in the connection's buffer anyway, and the way to the disk costs more than it saves.
_ALWAYS = 16 << 10


class Memory:
    """Counts it. Where it is used up, bodies that are read whole wait on the disk, whatever their size."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._taken = 0

    def allows(self, wanted: int) -> int:
        """Up to how many bytes of a body may be kept here, where `wanted` would be."""
        return wanted if self._taken + wanted <= self._most else min(wanted, _ALWAYS)

    def take(self, size: int) -> None:
        self._taken += size

    def free(self, size: int) -> None:
        self._taken -= size
