"""The intent of a write: its key, and a fingerprint of what it says, for which its whole body has to be read first."""

from functools import partial

from gateway.core.coding import over_stream_limit
from gateway.core.decision import Refused
from gateway.core.faults import BodyTooLarge, NoRoom, StoreUnavailable
from gateway.core.intent import Intent
from gateway.core.write import Write
from gateway.flow.admission import store_is_away
from gateway.flow.parsing import parsed
from gateway.flow.ports import BodySource, Caller, Store
from gateway.flow.room import PATIENCE_S, Room, no_room
from gateway.flow.whole import IN_MEMORY, read_whole
from gateway.policy.fingerprint import FingerprintReading

# A body up to this size is read at once. Before a larger one, or one that waits to be asked for, the fence is asked
# whether it would be read in vain.
_AT_ONCE = 64 << 10


class Naming:
    """Names the intents of writes."""

    def __init__(self, store: Store, room: Room) -> None:
        self._store = store
        self._room = room

    async def named(
        self, write: Write, intent: Intent, reading: FingerprintReading, body: BodySource, caller: Caller
    ) -> Write | Refused:
        """The write with its intent, once its body has been read. Raises CallerGone."""
        if not reading.wants_body:
            return _with(write, intent, await _digest(reading, None))
        try:
            if body.take_buffered() is None:
                refused = await self._refused_early(write, body, caller)
                if refused is not None:
                    return refused
                caller.proceed()
            limit = write.rule.upstream.limits.body
            whole = await body.spool(reading.feed, min(limit, IN_MEMORY) if reading.holds_json else IN_MEMORY)
            if whole is None and reading.holds_json and body.length is not None and body.length <= limit:
                return await self._read_back(write, intent, reading, body)
        except BodyTooLarge:
            return over_stream_limit(write.rule)
        except NoRoom as error:
            return no_room(write, str(error))
        return _with(write, intent, await _digest(reading, whole))

    async def _read_back(
        self, write: Write, intent: Intent, reading: FingerprintReading, body: BodySource
    ) -> Write | Refused:
        """From the disk, once there is room: in memory it would have waited for the slowest of callers."""
        size = body.length or 0
        async with self._room.taken(size, PATIENCE_S) as has_room:
            if not has_room:
                return no_room(write, "too many large bodies are read at once")
            return _with(write, intent, await _digest(reading, await read_whole(body, size)))

    async def _refused_early(self, write: Write, body: BodySource, caller: Caller) -> Refused | None:
        if body.length is not None and body.length <= _AT_ONCE and not caller.awaits_proceed():
            return None
        try:
            return await self._store.peek(write)
        except StoreUnavailable as away:
            return store_is_away(away)


async def _digest(reading: FingerprintReading, body: bytes | None) -> bytes | Refused:
    return await parsed(reading.looks_at(body), partial(reading.digest, body))


def _with(write: Write, intent: Intent, fingerprint: bytes | Refused) -> Write | Refused:
    if isinstance(fingerprint, Refused):
        return fingerprint
    return write.named(intent.saying(fingerprint))
