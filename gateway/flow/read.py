"""A read: passed on, streamed with the caller's own pace, and never stopped by a store that is away (G6)."""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from gateway.core.decision import (
    PASSED,
    UPSTREAM_BROKEN,
    UPSTREAM_TIMEOUT,
    UPSTREAM_UNREACHABLE,
    Facts,
    Refused,
)
from gateway.core.faults import BrokenAnswer, StoreUnavailable
from gateway.core.outcome import NoReply, NotSent
from gateway.core.places import overloaded
from gateway.core.request import Headers, Request
from gateway.core.rule import Upstream
from gateway.core.stored import is_stored
from gateway.core.write import ResourceKey
from gateway.flow.admission import RETRY_AFTER_S
from gateway.flow.marks import Marks
from gateway.flow.own_id import Restored
from gateway.flow.ports import Answer, BodySource, Caller, Sender, Store
from gateway.flow.standing import Standing

# Nothing is held back: an event stream's head must not wait for its first event.
_AS_IT_COMES = -1
# A caller that takes nothing for this long holds a connection that others wait for.
_STALL_S = 30.0
# A silent event stream holds a connection to the upstream for so long after its caller has left; and whoever has lost
# its key waits for so long for an answer that it does not get.
_LOOK_EVERY_S = 1.0


class Reading:
    """Passes reads on. `standing`: None where nobody's right can change."""

    def __init__(self, store: Store, sender: Sender, standing: Standing | None = None) -> None:
        self._store = store
        self._sender = sender
        self._standing = standing
        self._awaited: set[_Awaited] = set()
        self._looks = False

    async def run(
        self, upstream: Upstream, counted: ResourceKey | None, request: Request, body: BodySource, caller: Caller
    ) -> Marks | Refused:
        """`counted`: the resource whose revision is shown. It is fetched before the read goes out: a count that is
        too old refuses a write that could have passed, one that is too new would let a lost update through."""
        marks = Marks(PASSED, revision=None if counted is None else await self._revision(counted))
        caller.proceed()
        request.enter("forward")
        answer = await self._answer(upstream, request, body)
        if isinstance(answer, NotSent | NoReply | Refused):
            refused = answer if isinstance(answer, Refused) else _failed(answer)
            caller.refuse(refused)
            return refused
        if marks.revision is not None and is_stored(answer.headers):
            # The count of now is not that of what a cache has from before.
            marks = replace(marks, revision=None)
        try:
            is_known = None if self._standing is None else partial(self._standing.is_known, request.headers)
            # A client that comes back for a call's answer gets it on a stream that is no write's.
            shown = Restored(answer) if upstream.protocol == "mcp" else answer
            await relay(upstream, marks, shown, caller, is_known)
        except BrokenAnswer as broken:
            refused = _failed(NoReply("closed", str(broken)))
            caller.refuse(refused)
            return refused
        finally:
            answer.close()
        return marks

    async def _answer(
        self, upstream: Upstream, request: Request, body: BodySource
    ) -> Answer | NotSent | NoReply | Refused:
        """Refused: by now its caller is nobody. Whoever still waits for the head then is told within a second."""
        standing = self._standing
        if standing is None:
            return await self._sender.read(upstream, request, body)
        task = asyncio.current_task()
        assert task is not None, "a coroutine runs in one"
        awaited = _Awaited(upstream, request.headers, task)
        self._awaited.add(awaited)
        if not self._looks:
            self._look_later()
        try:
            answer = await self._sender.read(upstream, request, body)
        except asyncio.CancelledError:
            # The gateway may be stopped in the same instant.
            if awaited.refused is None or task.uncancel():
                raise
            return awaited.refused
        finally:
            self._awaited.discard(awaited)
        if not upstream.term.is_over or (refused := standing.unknown(request.headers)) is None:
            return answer
        if not isinstance(answer, NotSent | NoReply):
            answer.close()
        return refused

    def _look_later(self) -> None:
        """One timer for all reads that wait: most are answered before it, and none pays for a timer of its own."""
        self._looks = bool(self._awaited)
        if self._looks:
            asyncio.get_running_loop().call_later(_LOOK_EVERY_S, self._look)

    def _look(self) -> None:
        assert self._standing is not None, "only then somebody is looked for"
        for awaited in [each for each in self._awaited if each.upstream.term.is_over]:
            awaited.refused = self._standing.unknown(awaited.headers)
            if awaited.refused is not None:
                self._awaited.discard(awaited)
                awaited.task.cancel()
        self._look_later()

    async def _revision(self, resource: ResourceKey) -> int | None:
        try:
            return await self._store.revision(resource)
        except StoreUnavailable:
            return None


@dataclass(slots=True, eq=False)
class _Awaited:
    """A read whose answer's head is awaited, for as long as its caller is somebody."""

    upstream: Upstream
    headers: Headers
    task: asyncio.Task[object]
    refused: Refused | None = None


async def relay(
    upstream: Upstream, marks: Marks, answer: Answer, caller: Caller, is_known: Callable[[], bool] | None = None
) -> None:
    """Pass the answer on. Raises BrokenAnswer as long as nothing of it was passed.

    `is_known`: whether its caller still is somebody, asked once other policies are in force; else it breaks off.
    """
    piece, whole = await answer.read_small(_AS_IT_COMES)
    if whole:
        caller.reply(marks, answer, piece)
        return
    caller.begin(marks, answer)
    try:
        while piece or (piece := await _next_piece(upstream, answer, caller, is_known)):
            _end_if_unknown(upstream, is_known)
            if not await caller.write(piece, _STALL_S):
                caller.abort()
                return
            piece = b""
    except BrokenAnswer:
        caller.abort()
        return
    caller.end()


async def _next_piece(upstream: Upstream, answer: Answer, caller: Caller, is_known: Callable[[], bool] | None) -> bytes:
    """Between two pieces the upstream may take as long as it may take for the head.

    An event stream may say nothing for as long as somebody listens; it ends when its caller has left.
    """
    if not answer.is_stream:
        return await answer.read(upstream.timeouts.total_s)
    while not caller.is_gone():
        _end_if_unknown(upstream, is_known)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LOOK_EVERY_S):
                return await answer.read(None)
    return b""


def _end_if_unknown(upstream: Upstream, is_known: Callable[[], bool] | None) -> None:
    """Raises BrokenAnswer. Before a reload it costs a look at the term."""
    if upstream.term.is_over and is_known is not None and not is_known():
        raise BrokenAnswer("its caller's key is nobody's any more")


def _failed(evidence: NotSent | NoReply) -> Refused:
    facts = Facts(retry_after_s=RETRY_AFTER_S)
    if isinstance(evidence, NotSent) and evidence.cause == "crowded":
        return overloaded(why=evidence.detail)
    if isinstance(evidence, NotSent):
        return Refused(UPSTREAM_UNREACHABLE, "The upstream was not reached. Retry.", facts, evidence.detail)
    decision = UPSTREAM_TIMEOUT if evidence.cause == "timeout" else UPSTREAM_BROKEN
    return Refused(decision, "The upstream gave no whole answer. Retry.", facts, evidence.detail)
