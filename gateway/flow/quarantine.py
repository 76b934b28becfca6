"""Late results: what an overtaken holder sends is refused as ever, and kept for a person where the rule says so."""

import asyncio
from dataclasses import replace

from gateway.core.clock import Clock
from gateway.core.decision import Refused
from gateway.core.faults import BodyTooLarge, CallerGone, StoreUnavailable
from gateway.core.kept_request import keep_request
from gateway.core.late import Extent, LateResult, is_late, is_proved
from gateway.core.request import Request
from gateway.core.write import Write
from gateway.flow.allowance import Allowance
from gateway.flow.ports import BodySource, Caller, Observer, Store
from gateway.flow.room import Room
from gateway.flow.whole import read_whole

# Whatever `limits.body` allows: in the store, others' calls wait for as long as it takes to send this much.
_LARGEST = 16 << 20
# Of whoever cannot prove that the resource was ever his.
_LARGEST_UNPROVED = 1 << 20
# More than this goes to the store one after the other: two at once would double that wait.
_LARGE = 64 << 10
# An upload that is refused anyway holds its connection and its room no longer; it is still 16 MiB at 2 Mbit/s.
_READ_WITHIN_S = 60.0


class Quarantine:
    """Keeps late results. Nothing of it moves an epoch or forwards a byte."""

    def __init__(self, store: Store, observer: Observer, clock: Clock) -> None:
        self._store = store
        self._observer = observer
        self._unproved = Allowance(clock)
        # Not that of other bodies: those are on disk already, and these come as slowly as their callers like.
        self._room = Room()
        self._turn = asyncio.Lock()

    async def kept(self, write: Write, refused: Refused, request: Request, body: BodySource, caller: Caller) -> Refused:
        """The refusal, with the id under which the late result is kept. As it was where nothing is kept.

        The body is read for that, which a refusal is otherwise spared. The head alone is kept of a caller that leaves,
        where there is no room for its body at once, and of a body that is too large for what its caller can prove.
        """
        if not is_late(refused, write.epoch):
            return refused
        most = min(write.rule.upstream.limits.body, _LARGEST)
        proved = is_proved(refused, write.rule)
        if not proved:
            most = min(most, _LARGEST_UNPROVED)
        size = most if body.length is None else body.length
        async with self._room.taken(size) as has_room:
            wanted = has_room and size <= most
            wanted = wanted and (proved or self._unproved.take(write.tenant, write.principal, size))
            whole = await _whole(most, body, caller) if wanted else None
            facts = refused.facts
            kept = keep_request(request, whole, write.rule.upstream)
            id = await self._keep(LateResult(refused.decision, write, facts.highest_epoch, facts.intent, kept))
        extent: Extent = "nothing" if id is None else "head" if whole is None else "whole"
        self._observer.quarantined(write.rule, extent)
        if id is None:
            return refused
        what = "What was sent" if extent == "whole" else "The head of what was sent, without its body,"
        detail = f"{refused.detail} {what} is kept for an operator to look at."
        return replace(refused, detail=detail, facts=replace(facts, quarantine=id))

    async def _keep(self, late: LateResult) -> str | None:
        try:
            if len(late.request.body or b"") <= _LARGE:
                return await self._store.quarantine(late)
            async with self._turn:
                return await self._store.quarantine(late)
        except StoreUnavailable:
            return None


async def _whole(most: int, body: BodySource, caller: Caller) -> bytes | None:
    """The body as it came, however much of it was read before; None if it is too large, or never whole."""
    caller.proceed()
    try:
        async with asyncio.timeout(_READ_WITHIN_S):
            return await read_whole(body, most)
    except (BodyTooLarge, CallerGone, TimeoutError):
        return None
