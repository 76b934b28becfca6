"""Whether a caller has hung up, by what the system knows: the event loop reads of it later.

After a pause of the process a request and the end of its connection are there at once, and the end is read last.
"""

import select
from typing import Protocol

# Linux tells of an end that stands behind unread bytes. Elsewhere only of a connection that was closed on both sides,
# or reset, which is told unasked.
_READS_NO_MORE = getattr(select, "POLLRDHUP", 0)


class Socket(Protocol):
    """What of a socket is asked for; event loops have their own kinds."""

    def fileno(self) -> int: ...


def has_hung_up(socket: Socket) -> bool:
    """Whether the other end sends nothing more; one that still reads counts as gone too, as everywhere here."""
    if socket.fileno() < 0:
        return True
    poll = select.poll()
    poll.register(socket.fileno(), _READS_NO_MORE)
    return bool(poll.poll(0))
