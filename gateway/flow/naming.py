"""The intent of a write: its key, and a fingerprint of what it says, for which its whole body has to be read first."""

from functools import partial

from gateway.core.coding import over_stream_limit
from gateway.core.decision import NO_ROOM, Facts, Refused
from gateway.core.faults import BodyTooLarge, NoRoom, StoreUnavailable
from gateway.core.intent import Intent
from gateway.core.write import Write
from gateway.flow.admission import RETRY_AFTER_S, store_is_away
from gateway.flow.parsing import PARSED_AT_ONCE, parsed
from gateway.flow.ports import BodySource, Caller, Store
from gateway.policy.fingerprint import FingerprintReading

# A body up to this size is read at once. Before a larger one, or one that waits to be asked for, the fence is asked
# whether it would be read in vain.
_AT_ONCE = 64 << 10
# Of a body that is only digested, so much is held; the rest is on disk.
_IN_MEMORY = 256 << 10


class Naming:
    """Names the intents of writes."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def named(
        self, write: Write, intent: Intent, reading: FingerprintReading, body: BodySource, caller: Caller
    ) -> Write | Refused:
        """The write with its intent, once its body has been read. Raises CallerGone."""
        if not reading.wants_body:
            return _with(write, intent, reading.digest(None))
        try:
            if body.take_buffered() is None:
                refused = await self._refused_early(write, body, caller)
                if refused is not None:
                    return refused
                caller.proceed()
            limit = write.rule.upstream.limits.body if reading.holds_json else _IN_MEMORY
            whole = await body.spool(reading.feed, limit)
        except BodyTooLarge:
            return over_stream_limit(write.rule)
        except NoRoom as error:
            return _no_room(write, str(error))
        if whole is not None and len(whole) > PARSED_AT_ONCE:
            return _with(write, intent, await parsed(partial(reading.digest, whole)))
        return _with(write, intent, reading.digest(whole))

    async def _refused_early(self, write: Write, body: BodySource, caller: Caller) -> Refused | None:
        if body.length is not None and body.length <= _AT_ONCE and not caller.awaits_proceed():
            return None
        try:
            return await self._store.peek(write)
        except StoreUnavailable as away:
            return store_is_away(away)


def _with(write: Write, intent: Intent, fingerprint: bytes | Refused) -> Write | Refused:
    if isinstance(fingerprint, Refused):
        return fingerprint
    return write.named(intent.saying(fingerprint))


def _no_room(write: Write, why: str) -> Refused:
    detail = "Not forwarded: the gateway has no room for this body now. Retry later with the same key."
    facts = Facts(resource=write.resource, epoch=write.epoch, retry_after_s=RETRY_AFTER_S)
    return Refused(NO_ROOM, detail, facts, why)
