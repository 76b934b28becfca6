"""Late results: what an overtaken holder sends is refused as ever, and kept for a person where the rule says so."""

import asyncio
from dataclasses import replace

from gateway.core.decision import Refused
from gateway.core.faults import BodyTooLarge, CallerGone, StoreUnavailable
from gateway.core.kept_request import keep_request
from gateway.core.late import Extent, LateResult, is_late
from gateway.core.request import Request
from gateway.core.write import Write
from gateway.flow.ports import BodySource, Caller, Observer, Store
from gateway.flow.whole import read_whole

# Whatever `limits.body` allows: in the store, others' calls wait for as long as it takes to send this much.
_LARGEST = 16 << 20
# More than this goes to the store one after the other: two at once would double that wait.
_LARGE = 64 << 10
# An upload that is refused anyway holds its connection no longer; over a slow line it is still 16 MiB at 2 Mbit/s.
_READ_WITHIN_S = 60.0


class Quarantine:
    """Keeps late results. Nothing of it moves an epoch or forwards a byte."""

    def __init__(self, store: Store, observer: Observer) -> None:
        self._store = store
        self._observer = observer
        self._turn = asyncio.Lock()

    async def kept(self, write: Write, refused: Refused, request: Request, body: BodySource, caller: Caller) -> Refused:
        """The refusal, with the id under which the late result is kept. As it was where nothing is kept.

        The body is read for that, which a refusal is otherwise spared; of a caller that leaves the head is kept.
        """
        if not is_late(refused, write.epoch):
            return refused
        whole = await _whole(write.rule.upstream.limits.body, body, caller)
        kept, facts = keep_request(request, whole, write.rule.upstream), refused.facts
        late = LateResult(refused.decision, write, facts.highest_epoch, facts.intent, kept)
        id = await self._keep(late)
        extent: Extent = "nothing" if id is None else "head" if whole is None else "whole"
        self._observer.quarantined(write.rule, extent)
        if id is None:
            return refused
        detail = f"{refused.detail} What was sent is kept for an operator to look at."
        return replace(refused, detail=detail, facts=replace(facts, quarantine=id))

    async def _keep(self, late: LateResult) -> str | None:
        try:
            if len(late.request.body or b"") <= _LARGE:
                return await self._store.quarantine(late)
            async with self._turn:
                return await self._store.quarantine(late)
        except StoreUnavailable:
            return None


async def _whole(limit: int, body: BodySource, caller: Caller) -> bytes | None:
    """The body as it came, however much of it was read before; None if it is too large, or never whole."""
    most = min(limit, _LARGEST)
    if body.length is not None and body.length > most:
        return None
    caller.proceed()
    try:
        async with asyncio.timeout(_READ_WITHIN_S):
            return await read_whole(body, most)
    except (BodyTooLarge, CallerGone, TimeoutError):
        return None
