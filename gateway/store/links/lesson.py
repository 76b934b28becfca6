"""What a server lacks is sent to it once, however many calls miss it at the same time.

A library has seventy kilobytes: sent by each of a thousand calls, it would take more memory than all the rest.
"""

import asyncio
import contextlib
from collections.abc import Iterator
from weakref import WeakKeyDictionary

from gateway.store.links.topology import Server

# By server, and by the digest of what is being sent to it.
_UNDER_WAY: WeakKeyDictionary[Server, dict[str, asyncio.Future[None]]] = WeakKeyDictionary()


@contextlib.contextmanager
def lesson(server: Server, digest: str) -> Iterator[None]:
    """Until the block ends, however it ends, others can wait for it."""
    under_way = _UNDER_WAY.setdefault(server, {})
    over = under_way[digest] = asyncio.get_running_loop().create_future()
    try:
        yield
    finally:
        if under_way.get(digest) is over:
            del under_way[digest]
        over.set_result(None)


async def taught(server: Server, digest: str) -> bool:
    """Wait until somebody's lesson is over; False where there is none."""
    over = _UNDER_WAY.get(server, {}).get(digest)
    if over is None:
        return False
    await asyncio.shield(over)
    return True
