"""Many callers' commands over one connection: written together, answered in order, repeated after a reconnect.

redis-py makes the connection (URL, TLS, users, database) and hands its transport over: its own request loop costs more
than a script does. What is sent must bear being executed twice, as every script does: a command whose answer was lost
is sent again until its caller's time is over. Nothing else repeats a command.
"""

import asyncio
import contextlib
import itertools
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from typing import Protocol

import hiredis
from redis.asyncio.connection import AbstractConnection

from gateway.core.faults import StoreUnavailable

Reply = bytes | int | list["Reply"] | None
# Makes one connection, ready for commands. Raises whatever keeps it from that.
Connect = Callable[[], Awaitable[AbstractConnection]]
OnConnected = Callable[[AbstractConnection], Awaitable[None]]

# The command was not executed, and soon this server or another one will: it is sent again.
_PASSING = frozenset({"LOADING", "BUSY", "READONLY", "MASTERDOWN", "NOREPLICAS", "TRYAGAIN", "CLUSTERDOWN"})
_NO_FUNCTION = "ERR Function not found"
# A loading server refuses at once; asked in a tight loop it would load more slowly.
_AGAIN_AFTER_S = 0.05
# A restarted server listens within tens of milliseconds; half a second spares one that is away for long.
_PAUSES_S = (0.0, 0.02, 0.05, 0.1, 0.2, 0.5)
_SHORT_LIVED_S = 1.0
_LEFT = "the server may no longer be the right one, and is looked for again"
# How finely deadlines are kept. One timer for all calls costs less than one for each.
_TICK_S = 0.05


class ScriptMissing(Exception):
    """The server does not know the script by its digest, or the function by its name."""


class ErrorReply(StoreUnavailable):
    """The server answered with an error; its first word says of what kind."""

    @property
    def word(self) -> str:
        return str(self).partition(" ")[0]


def pack(*arguments: str | bytes | int) -> bytes:
    """A command as it goes over the wire."""
    packed: bytes = hiredis.pack_command(arguments)  # type: ignore[arg-type]  # its stub knows one argument only
    return packed


async def hang_up(connection: AbstractConnection) -> None:
    """Close a connection in whatever state it is."""
    with contextlib.suppress(Exception):
        await connection.disconnect(nowait=True)


class Awaited(Protocol):
    """Where an answer goes: a caller's future, or what stands in for one where nobody waits."""

    def done(self) -> bool: ...
    def set_result(self, result: Reply, /) -> None: ...
    def set_exception(self, exception: Exception, /) -> None: ...


class Call:
    """A command that waits for its answer. Its place in the order is kept when its caller has gone."""

    __slots__ = ("answer", "command", "deadline", "why")

    def __init__(self, command: bytes, deadline: float, answer: Awaited) -> None:
        self.command = command
        self.deadline = deadline
        self.answer = answer
        self.why: str | None = None


class _Wire(asyncio.Protocol):
    """One connection, from the moment that redis-py has made it."""

    def __init__(self, link: "Link", connection: AbstractConnection) -> None:
        self.connection = connection
        self.silent_since = asyncio.get_running_loop().time()
        """When it was last heard, or was asked first since it owed no answer."""
        self._link = link
        self._replies = hiredis.Reader()
        # redis-py offers no public way to a connection's transport.
        writer = connection._writer
        assert writer is not None
        self.transport = writer.transport
        self.transport.set_protocol(self)
        if self.transport.is_closing():
            # Closed in between: the loss was told to redis-py's protocol, and will not be told to this one.
            raise ConnectionError("the connection was closed at once")

    def data_received(self, data: bytes) -> None:
        self.silent_since = asyncio.get_running_loop().time()
        self._replies.feed(data)
        try:
            # False is no reply in RESP2: it says that the next one is not whole yet.
            while (reply := self._replies.gets()) is not False:
                self._link.on_reply(reply)
        except hiredis.ProtocolError:
            self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._link.on_lost(self, f"the connection was lost ({exc})" if exc else "the connection was closed")


class Link:
    """One connection to the store, kept up until `close`. A call is answered, or fails after `timeout_s` seconds."""

    def __init__(self, connect: Connect, timeout_s: float) -> None:
        # Has the connection before anybody's command leaves; where it raises, another one is made.
        self.on_connected: OnConnected | None = None
        self.name = ""
        """Tells it from the connections to the store's other servers; empty where there is one."""
        self._connect = connect
        self._timeout_s = timeout_s
        self._loop = asyncio.get_running_loop()
        self._wire: _Wire | None = None
        self._unsent: deque[Call] = deque()
        self._sent: deque[Call] = deque()
        self._put_off: set[Call] = set()
        self._flushing = False
        self._ticking: asyncio.TimerHandle | None = None
        self._reviving: asyncio.Task[None] | None = None
        self._attempt: asyncio.Timeout | None = None
        self._why = "not connected yet"
        self._connected_at = 0.0
        self._short_lived = 0
        self._closed = False
        self.healthy = False
        # How often something that was sent may have been executed later than what was sent behind it, or elsewhere.
        self.breaks = 0
        # Until this server refuses to; the next one is asked again.
        self.runs_functions = True

    async def open(self) -> None:
        """Connect. Raises StoreUnavailable, with the reason, if that takes longer than a call may."""
        await asyncio.wait({self.start()}, timeout=self._timeout_s)
        if self._wire is None:
            await self.close()
            raise StoreUnavailable(self._why)

    def start(self) -> asyncio.Task[None]:
        """Begin to connect; what is sent meanwhile leaves as soon as it is done. The task ends then."""
        self._reviving = self._loop.create_task(self._revive(None))
        return self._reviving

    @property
    def connected(self) -> bool:
        return self._wire is not None

    @property
    def servers(self) -> "tuple[Link, ...]":
        """Each server that takes writes: this one."""
        return (self,)

    def at(self, _key: str, /) -> "Link":
        """The connection to the server that has this key."""
        return self

    async def close(self) -> None:
        """Fail what is waiting, and close the connection."""
        self._closed = True
        self.healthy = False
        # The first step of a task that has just been made is to hang up what was lost.
        await asyncio.sleep(0)
        while self._reviving is not None and not self._reviving.done():
            # Before Python 3.12 asyncio.wait_for, through which redis-py sends, may swallow a cancellation.
            self._reviving.cancel()
            await asyncio.wait({self._reviving}, timeout=_TICK_S)
        if self._ticking is not None:
            self._ticking.cancel()
        for call in self._pending():
            self._fail(call, "the store's connection is closed")
        if self._wire is not None:
            await self._wire.connection.disconnect(nowait=True)

    async def call(self, *arguments: str | bytes | int) -> Reply:
        """One command. Raises StoreUnavailable."""
        return await self.send(pack(*arguments))

    def send(self, command: bytes) -> asyncio.Future[Reply]:
        """Queue a packed command. All that are queued in one turn of the event loop leave in one write.

        The future raises StoreUnavailable, or ScriptMissing; it may be cancelled.
        """
        if self._closed:
            raise StoreUnavailable("the store's connection is closed")
        loop = self._loop
        answer: asyncio.Future[Reply] = loop.create_future()
        self._unsent.append(Call(command, loop.time() + self._timeout_s, answer))
        if not self._flushing:
            self._flushing = True
            loop.call_soon(self._flush)
            if self._ticking is None:
                self._ticking = loop.call_later(_TICK_S, self._tick)
        return answer

    def take_over(self, calls: Iterable[Call]) -> None:
        """Send what another connection was asked for, in its order and until its own deadlines."""
        self._unsent.extend(calls)
        self._flush()
        if self._ticking is None:
            self._ticking = self._loop.call_later(_TICK_S, self._tick)

    def hand_over(self) -> list[Call]:
        """All that is not answered, which this connection then forgets. It may have been executed."""
        calls = self._pending()
        self.breaks += 1
        self._sent.clear()
        self._unsent.clear()
        self._put_off.clear()
        self.leave()
        return calls

    def put_off(self, call: Call, why: str) -> None:
        """Send it in a moment, or fail it with this reason."""
        call.why = why
        self.breaks += 1
        self._put_off.add(call)
        self._loop.call_later(_AGAIN_AFTER_S, self._again, call)
        if self._ticking is None:
            self._ticking = self._loop.call_later(_TICK_S, self._tick)

    def leave(self) -> None:
        """Connect anew: the server at the other end may no longer be the right one. Also while it is connected to: one
        that is stopped may answer at last when another has taken its place."""
        if self._wire is not None:
            self._wire.transport.abort()
        elif self._attempt is not None and self._attempt.when() is None:
            self._attempt.reschedule(self._loop.time())

    def on_reply(self, reply: Reply | hiredis.ReplyError) -> None:
        """The answer to the oldest command. A caller that has gone does not take the next one's."""
        if not self._sent:
            raise hiredis.ProtocolError("an answer to nothing that was asked")
        call = self._sent.popleft()
        self.healthy = True
        if call.answer.done():
            return
        if isinstance(reply, hiredis.ReplyError):
            self.on_refused(call, str(reply))
        else:
            call.answer.set_result(reply)

    def on_lost(self, wire: _Wire, why: str) -> None:
        """Connect again; what was not answered leaves again, before what has not left yet."""
        if wire is not self._wire or self._closed:
            return
        self._wire = None
        self.healthy = False
        self.breaks += 1
        self._why = why
        lived_s = self._loop.time() - self._connected_at
        self._short_lived = self._short_lived + 1 if lived_s < _SHORT_LIVED_S else 0
        self._unsent.extendleft(reversed(self._sent))
        self._sent.clear()
        self._reviving = self._loop.create_task(self._revive(wire))

    async def _revive(self, lost: _Wire | None) -> None:
        if lost is not None:
            await hang_up(lost.connection)
        # A server that drops its connections at once is not asked for one in a tight loop.
        pauses = _PAUSES_S[min(self._short_lived, len(_PAUSES_S) - 1) :]
        for pause_s in itertools.chain(pauses, itertools.repeat(_PAUSES_S[-1])):
            await asyncio.sleep(pause_s)
            connection: AbstractConnection | None = None
            attempt = self._attempt = asyncio.timeout(None)
            try:
                async with attempt:
                    connection = await self._connect()
                    if self.on_connected is not None:
                        await self.on_connected(connection)
                if attempt.when() is not None:
                    # It was left when all was done, or somebody on the way swallowed that.
                    raise ConnectionError(_LEFT)
                self._wire = _Wire(self, connection)
            except Exception as error:  # noqa: BLE001  # nobody else would connect again, whatever it was
                self._why = _LEFT if attempt.when() is not None else str(error) or type(error).__name__
                if connection is not None:
                    await hang_up(connection)
            else:
                self._connected_at = self._loop.time()
                self.runs_functions = True
                self._flush()
                return
            finally:
                self._attempt = None

    def _flush(self) -> None:
        self._flushing = False
        if self._wire is None:
            return
        calls = [call for call in self._unsent if not call.answer.done()]
        self._unsent.clear()
        if not self._sent:
            self._wire.silent_since = self._loop.time()
        self._sent.extend(calls)
        self._wire.transport.write(b"".join([call.command for call in calls]))

    def on_refused(self, call: Call, why: str) -> None:
        """The server's error: put off, or told to the caller."""
        word = why.partition(" ")[0]
        if word == "NOSCRIPT" or why == _NO_FUNCTION:
            call.answer.set_exception(ScriptMissing())
        elif word in _PASSING:
            self.put_off(call, why)
            if word == "READONLY":
                # A primary that became a replica keeps its connections; the address may lead to the new primary by now.
                self.leave()
        else:
            call.answer.set_exception(ErrorReply(why))

    def _again(self, call: Call) -> None:
        if call not in self._put_off:
            return
        self._put_off.discard(call)
        if not call.answer.done():
            self._unsent.append(call)
            self._flush()

    def _tick(self) -> None:
        """Fail the calls whose time is over; a connection that has been silent for as long as a call may take is given
        up, whichever it owes an answer."""
        self._ticking = None
        now = self._loop.time()
        for call in self._pending():
            if call.deadline <= now and not call.answer.done():
                self.healthy = False
                self._fail(call, call.why or self._silence())
        # While the store is away for long; what was sent keeps its place.
        self._unsent = deque(call for call in self._unsent if not call.answer.done())
        wire = self._wire
        if wire is not None and self._sent and now - wire.silent_since >= self._timeout_s:
            wire.transport.abort()
            self.on_lost(wire, self._silence())
        if self._sent or self._unsent or self._put_off:
            self._ticking = self._loop.call_later(_TICK_S, self._tick)

    def _silence(self) -> str:
        return self._why if self._wire is None else f"no answer within {self._timeout_s:g} s"

    def _pending(self) -> list[Call]:
        return [*self._sent, *self._unsent, *self._put_off]

    def _fail(self, call: Call, why: str) -> None:
        if not call.answer.done():
            call.answer.set_exception(StoreUnavailable(why))
