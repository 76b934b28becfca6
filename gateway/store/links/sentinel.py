"""The primary that sentinels name, and a connection that moves with it.

All sentinels are asked, and of those that answer the one with the newest configuration is believed: redis-py's own
discovery takes the first answer, which one that was cut off together with an old primary gives as well.
"""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace

from redis.asyncio.connection import AbstractConnection
from redis.exceptions import NoPermissionError, RedisError

from gateway.core.address import Address
from gateway.ongoing import ongoing, stop
from gateway.store.links.connection import ask, connector_to
from gateway.store.links.link import Link, hang_up
from gateway.store.links.subscription import Subscription
from gateway.store.links.url import Guarded

# How long a primary that was replaced, and still answers, may be written to after its sentinels know of it, where what
# they announce is not heard.
_LOOK_EVERY_S = 0.5
# The first of these comes some tenths of a second before another server is promoted: what the old primary acknowledged
# until then is at its replicas.
ANNOUNCED = ("+try-failover", "+odown", "+switch-master")
# Of one question to all; a sentinel that is away must not keep those that know more waiting.
_ANSWERS_WITHIN_S = 0.5


@dataclass(frozen=True, slots=True)
class Named:
    """What a sentinel says: the primary, the number of the failover that made it one, and whether enough of the
    sentinels agree that it is away. `handing_over`: another one is being promoted in its place, for which this one may
    be well. `others`: how many sentinels it knows, besides itself.
    """

    primary: Address
    epoch: int
    down: bool
    quorum: int = 0
    others: int = 0
    replicas: int = 0
    handing_over: bool = False


class Sentinels:
    """The sentinels of one service. Connections to them are kept."""

    def __init__(self, where: Guarded, timeout_s: float) -> None:
        self._where = where
        self._timeout_s = timeout_s
        self._connections: dict[Address, AbstractConnection] = {}
        self._asking = asyncio.Lock()
        self._why = "none was asked yet"
        self.count = len(where.sentinels)

    async def named(self) -> Named | None:
        """What the one with the newest configuration says; None where none answers. Of a failover that is under way
        only the sentinel knows that leads it."""
        told = await self.all_named()
        newest = max(told, key=lambda one: one.epoch, default=None)
        if newest is None:
            return None
        handing_over = any(one.handing_over for one in told if one.primary == newest.primary)
        return replace(newest, handing_over=handing_over)

    async def all_named(self) -> list[Named]:
        """What each of them says that answers."""
        async with self._asking:
            told = await asyncio.gather(*map(self._told_by, self._where.sentinels))
        return [one for one in told if one is not None]

    def announced(self, on_news: Callable[[], None]) -> list[Subscription]:
        """From now on `on_news` is told whenever a sentinel announces that the primary may change."""
        return [
            Subscription(
                connector_to(sentinel, self._where.own, self._timeout_s), ANNOUNCED, lambda *_: on_news(), on_news
            )
            for sentinel in self._where.sentinels
        ]

    async def that_forbid(self) -> list[Address]:
        """Those of which this user may not hear what they announce."""
        forbid = await asyncio.gather(*map(self._forbids, self._where.sentinels))
        return [sentinel for sentinel, one in zip(self._where.sentinels, forbid, strict=True) if one]

    async def primary(self) -> Address:
        """Where it is. Raises ConnectionError, with the reason, where there is none, or soon another."""
        named = await self.named()
        if named is None:
            raise ConnectionError(f"no sentinel names a primary of {self._where.service}: {self._why}")
        if named.down:
            raise ConnectionError(f"the sentinels of {self._where.service} wait for a new primary")
        if named.handing_over:
            raise ConnectionError(f"the sentinels of {self._where.service} are promoting another primary")
        return named.primary

    async def connect(self) -> AbstractConnection:
        """A connection to the primary. Raises whatever keeps it from that."""
        return await self.connect_to(await self.primary())

    async def connect_to(self, primary: Address) -> AbstractConnection:
        """The same, to one that was named; it says itself that it is a primary."""
        connection = await connector_to(primary, self._where.options, self._timeout_s)()
        try:
            role = (await ask(connection, "ROLE"))[0]
            if role != b"master":
                raise ConnectionError(f"{primary} is named as the primary, and is none yet")
        except BaseException:
            await hang_up(connection)
            raise
        return connection

    async def close(self) -> None:
        for connection in self._connections.values():
            await hang_up(connection)

    async def _forbids(self, sentinel: Address) -> bool:
        connection: AbstractConnection | None = None
        try:
            async with asyncio.timeout(self._timeout_s):
                connection = await connector_to(sentinel, self._where.own, self._timeout_s)()
                await ask(connection, "SUBSCRIBE", *ANNOUNCED)
        except NoPermissionError:
            return True
        except (RedisError, OSError):
            # One that is away is told of elsewhere.
            return False
        finally:
            if connection is not None:
                await hang_up(connection)
        return False

    async def _told_by(self, sentinel: Address) -> Named | None:
        try:
            async with asyncio.timeout(min(_ANSWERS_WITHIN_S, self._timeout_s)):
                return await self._ask(sentinel)
        except asyncio.CancelledError:
            # Who asks next would get the answers to this.
            await self._hang_up_on(sentinel)
            raise
        except Exception as error:  # noqa: BLE001  # one sentinel that is away, whatever it was, is what others are for
            self._why = f"{sentinel}: {error or type(error).__name__}"
            await self._hang_up_on(sentinel)
            return None

    async def _hang_up_on(self, sentinel: Address) -> None:
        if (connection := self._connections.pop(sentinel, None)) is not None:
            await hang_up(connection)

    async def _ask(self, sentinel: Address) -> Named | None:
        connection = self._connections.get(sentinel)
        if connection is None:
            connection = await connector_to(sentinel, self._where.own, self._timeout_s)()
            self._connections[sentinel] = connection
        service = self._where.service
        flat = await ask(connection, "SENTINEL", "MASTER", service)
        fields = dict(zip(flat[::2], flat[1::2], strict=True))
        before = Address(fields[b"ip"].decode(), int(fields[b"port"]))
        # During a failover this command knows the new one first.
        host, port = await ask(connection, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", service)
        primary = Address(host.decode(), int(port))
        flags = fields[b"flags"].split(b",") if primary == before else []
        quorum, others, replicas = (
            int(fields.get(name, 0)) for name in (b"quorum", b"num-other-sentinels", b"num-slaves")
        )
        epoch = int(fields[b"config-epoch"])
        handing_over = b"failover_in_progress" in flags
        return Named(primary, epoch, b"o_down" in flags, quorum, others, replicas, handing_over)


class GuardedLink(Link):
    """The connection to the primary. It is left as soon as the sentinels name another one, are about to, or agree that
    it is away: then the next one may be at work already, and what the old one still takes would be lost.
    """

    def __init__(self, sentinels: Sentinels, timeout_s: float) -> None:
        super().__init__(self._connect_primary, timeout_s)
        self.sentinels = sentinels
        # The one that is connected, or is being connected to; None while sentinels are asked for one.
        self._peer: Address | None = None
        self._news = asyncio.Event()
        self._announced: list[Subscription] = []
        self._watching: asyncio.Task[None] | None = None

    async def open(self) -> None:
        self._announced = self.sentinels.announced(self._news.set)
        self._watching = ongoing("watching the sentinels", self._watch)
        await super().open()

    async def close(self) -> None:
        if self._watching is not None:
            await stop(self._watching)
        await asyncio.gather(*(subscription.close() for subscription in self._announced))
        await super().close()
        await self.sentinels.close()

    async def _connect_primary(self) -> AbstractConnection:
        self._peer = None
        self._peer = await self.sentinels.primary()
        return await self.sentinels.connect_to(self._peer)

    async def _watch(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_EVERY_S):
                    await self._news.wait()
            self._news.clear()
            named = await self.sentinels.named()
            if named is None or self._peer is None:
                continue
            if named.down or named.handing_over or named.primary != self._peer:
                self.leave()
