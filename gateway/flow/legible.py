"""A body that rules have to read before they can tell what the request is.

It comes as slowly as its caller likes, so that what is large waits on the disk. It is in memory only while the rules
look at it, as far as there is room, and no longer when the request is forwarded.
"""

from dataclasses import dataclass, replace

from gateway.core.coding import body_too_large
from gateway.core.decision import Refused
from gateway.core.faults import BodyTooLarge, NoRoom
from gateway.core.request import Request
from gateway.flow.parsing import plain_body
from gateway.flow.ports import BodySource, Caller
from gateway.flow.room import no_room
from gateway.flow.whole import IN_MEMORY, not_read, read_whole


@dataclass(frozen=True, slots=True)
class Arrived:
    """A body that is here whole. `held`: None where it is on disk."""

    body: BodySource
    held: bytes | None
    size: int

    def takes(self, request: Request, limit: int) -> int:
        """How much memory reading it takes beyond what it has: what is coded may be as large as is allowed."""
        if request.headers.first(b"content-encoding") is not None:
            return limit
        return 0 if self.held is not None else self.size

    async def read(self, request: Request, limit: int) -> Request | Refused:
        """The request with its body, decoded. What is forwarded are the bytes as they came."""
        held = self.held if self.held is not None else await read_whole(self.body, self.size)
        plain = await plain_body(held, request.headers.all(b"content-encoding"), limit)
        return plain if isinstance(plain, Refused) else replace(request, body=plain)


async def arrive(body: BodySource, limit: int, caller: Caller) -> Arrived | Refused:
    """Wait for the body's end. Raises CallerGone."""
    if body.length is not None and body.length > limit:
        return body_too_large(limit)
    caller.proceed()
    held = body.take_buffered()
    if held is None:
        body.restrict(limit)
        try:
            held = await body.spool(not_read, IN_MEMORY)
        except BodyTooLarge:
            return body_too_large(limit)
        except NoRoom as error:
            return no_room(None, str(error))
        finally:
            body.restrict(None)
    size = len(held) if held is not None else body.length or 0
    return body_too_large(limit) if size > limit else Arrived(body, held, size)
