"""A request whose answer comes before all of its body has left: the body goes on beside the answer.

A server may answer at the head and read on, or answer as it reads. Only where it refuses what it is sent is the rest of
no use to it (RFC 9112, section 9.5).
"""

import asyncio
from collections.abc import Callable, Coroutine

from gateway.core.faults import BrokenAnswer
from gateway.core.outcome import NoReply, NotSent
from gateway.upstream.exchange import Exchange
from gateway.upstream.reply import Reply

_REFUSALS = 400


class Upload:
    """A request on its way, beside its exchange."""

    def __init__(self, exchange: Exchange, send: Coroutine[None, None, NotSent | NoReply | None]) -> None:
        self._exchange = exchange
        self._task = asyncio.ensure_future(self._run(send))

    async def until_answered(self) -> NotSent | NoReply | None:
        """What ended it without an answer; None: it has left, or goes on, or is of no use any more."""
        try:
            while not (self._task.done() or self._exchange.has_head or self._exchange.broken):
                await asyncio.wait((self._task, self._exchange.waiter()), return_when=asyncio.FIRST_COMPLETED)
            if self._exchange.broken or (self._exchange.has_head and self._exchange.status >= _REFUSALS):
                await self.stop()
        except BaseException:
            await self.stop()
            raise
        return self._task.result() if self._task.done() and not self._task.cancelled() else None

    @property
    def goes_on(self) -> bool:
        return not self._task.done()

    async def end(self, within_s: float) -> None:
        """Wait for what is left of it, and no longer than that."""
        await asyncio.wait((self._task,), timeout=max(0.0, within_s))
        await self.stop()

    async def stop(self) -> None:
        """Whoever reads the body on, to drop what is left, must find no other reader."""
        if self._task.cancel():
            await asyncio.wait((self._task,))

    def cancel(self) -> None:
        self._task.cancel()

    async def _run(self, send: Coroutine[None, None, NotSent | NoReply | None]) -> NotSent | NoReply | None:
        failed = await send
        if isinstance(failed, NoReply):
            # Nobody would read of the answer what its connection has no more.
            self._exchange.fail(failed.detail)
        return failed


class EarlyReply(Reply):
    """One that ends once its request has. `left_s`: until what is left of that is given up."""

    __slots__ = ("_left_s", "_upload")

    def __init__(
        self,
        exchange: Exchange,
        give_back: Callable[[bool], None],
        is_whole: Callable[[], bool],
        upload: Upload,
        left_s: Callable[[], float],
    ) -> None:
        super().__init__(exchange, give_back, is_whole)
        self._upload = upload
        self._left_s = left_s
        self.read = self._read
        self.read_small = self._read_small

    async def _read(self, within_s: float | None) -> bytes:
        try:
            piece = await self._exchange.read(within_s)
        except BrokenAnswer:
            await self._upload.stop()
            raise
        if not piece:
            await self._upload.end(self._left_s())
        return piece

    async def _read_small(self, limit: int) -> tuple[bytes, bool]:
        try:
            piece, whole = await self._exchange.read_small(limit)
        except BrokenAnswer:
            await self._upload.stop()
            raise
        if whole:
            await self._upload.end(self._left_s())
        return piece, whole

    def close(self) -> None:
        self._upload.cancel()
        super().close()
