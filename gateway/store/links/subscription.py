"""A subscription to channels of a server, kept up until it is closed."""

import asyncio
from collections.abc import Callable

from redis.asyncio.connection import AbstractConnection
from redis.exceptions import NoPermissionError, RedisError

from gateway.ongoing import ongoing, stop
from gateway.store.links.link import Connect, hang_up

# A subscription that is silent this long is asked for a sign of life, and given up if it gives none. Nothing urgent
# depends on what is heard: whoever listens also looks.
_SILENCE_S = 10.0
_PAUSE_S = 0.2
# A user that may not subscribe is given that right by a person. Until then each try is a line of the server's ACL LOG.
_FORBIDDEN_PAUSE_S = 30.0


class Subscription:
    """Listens from the moment it is made, and connects again by itself.

    `on_message` gets the channel and what was published there. `on_subscribed` is told whenever all channels are
    listened to from here on: what was published before may have been missed.
    """

    def __init__(
        self,
        connect: Connect,
        channels: tuple[str, ...],
        on_message: Callable[[bytes, bytes], None],
        on_subscribed: Callable[[], None],
    ) -> None:
        self._connect = connect
        self._channels = channels
        self._on_message = on_message
        self._on_subscribed = on_subscribed
        self._listening = ongoing("listening to the store", self._listen)

    async def close(self) -> None:
        await stop(self._listening)

    async def _listen(self) -> None:
        while True:
            connection: AbstractConnection | None = None
            pause_s = _PAUSE_S
            try:
                connection = await self._connect()
                await self._subscribe(connection)
            except NoPermissionError:
                pause_s = _FORBIDDEN_PAUSE_S
            except (RedisError, OSError):
                # It is away, and is looked for again.
                pass
            finally:
                if connection is not None:
                    await hang_up(connection)
            await asyncio.sleep(pause_s)

    async def _subscribe(self, connection: AbstractConnection) -> None:
        await connection.send_command("SUBSCRIBE", *self._channels)
        last = self._channels[-1].encode()
        while True:
            match await _read(connection):
                case [b"message", bytes(channel), bytes(message)]:
                    self._on_message(channel, message)
                case [b"subscribe", channel, _] if channel == last:
                    self._on_subscribed()


async def _read(connection: AbstractConnection) -> object:
    reply = await _read_within(connection)
    if reply is None:
        await connection.send_command("PING")
        reply = await _read_within(connection)
    if reply is None:
        raise ConnectionError("the subscription fell silent")
    return reply


async def _read_within(connection: AbstractConnection) -> object:
    """What comes next; None after silence."""
    return await connection.read_response(disable_decoding=True, timeout=_SILENCE_S, disconnect_on_error=False)
