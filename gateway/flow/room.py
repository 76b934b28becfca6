"""Memory for bodies that have to be here whole: many callers at once must not fill it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from gateway.core.decision import NO_ROOM, Facts, Refused
from gateway.core.places import Places
from gateway.core.write import Write
from gateway.flow.admission import RETRY_AFTER_S

# Three bodies of the default `limits.body`. Packing and deflating one takes three times its size for a moment.
_MOST = 32 << 20
# Each waits for those before it to be parsed or stored, half a second or less: over a hundred have their turn.
PATIENCE_S = 60.0
# So much of a body lies in its connection's buffer anyway: it is not counted, and waits for nobody.
_SMALL = 64 << 10


class Room:
    """Bytes that one process holds at a time, first come, first served. A body larger than all of it goes alone."""

    def __init__(self, most: int = _MOST, places: Places | None = None) -> None:
        self._most = most
        self._places = places or Places()
        self._taken = 0
        self._turn = asyncio.Lock()
        self._freed = asyncio.Event()

    @asynccontextmanager
    async def taken(self, size: int, within_s: float = 0.0) -> AsyncIterator[bool]:
        """Room for `size` bytes until the end of the block; False if there is none `within_s` seconds."""
        if size <= _SMALL:
            yield True
            return
        if not await self._take(size, within_s):
            yield False
            return
        try:
            yield True
        finally:
            self._taken -= size
            self._freed.set()

    async def _take(self, size: int, within_s: float) -> bool:
        try:
            async with asyncio.timeout(within_s), self._turn:
                while not self._fits(size):
                    self._freed.clear()
                    await self._freed.wait()
                self._taken += size
        except TimeoutError:
            self._places.turned_away("memory")
            return False
        return True

    def _fits(self, size: int) -> bool:
        return self._taken == 0 or self._taken + size <= self._most


def no_room(write: Write | None, why: str) -> Refused:
    """The refusal of a body that the gateway cannot take now. `write`: None where it is still to be read for that.

    `why` is for the log.
    """
    detail = "Not forwarded: the gateway has no room for this body now. Retry later with the same key."
    facts = Facts(retry_after_s=RETRY_AFTER_S)
    if write is not None:
        facts = Facts(resource=write.resource, epoch=write.epoch, retry_after_s=RETRY_AFTER_S)
    return Refused(NO_ROOM, detail, facts, why)
