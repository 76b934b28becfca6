"""What the store tells a gateway: on its own channel which resource has changed, so that who waits for it looks again,
and on the channel of all gateways that pauses have.
"""

import asyncio
from collections.abc import Callable

from redis.asyncio.connection import AbstractConnection

from gateway.core.write import ResourceKey
from gateway.store.keys import PAUSES_CHANNEL, wake_channel
from gateway.store.links.link import Connect, hang_up

# None: pauses have changed, or wake-ups may have been lost; everybody looks again.
OnWake = Callable[[ResourceKey | None], None]

_PAUSES = PAUSES_CHANNEL.encode()

# A subscription that is silent this long is asked for a sign of life, and given up if it gives none: half a second is
# what a lost wake-up costs a waiter, so nothing more urgent depends on it.
_SILENCE_S = 10.0
_PAUSE_S = 0.2
# Between two cancellations, should the first one get lost.
_TICK_S = 0.02


class Wake:
    """Listens until it is closed, and connects again by itself."""

    def __init__(self, connect: Connect, gateway: str, on_wake: OnWake) -> None:
        self._connect = connect
        self._channel = wake_channel(gateway)
        self._on_wake = on_wake
        self._listening = asyncio.get_running_loop().create_task(self._listen())

    async def close(self) -> None:
        while not self._listening.done():
            # Before Python 3.12 asyncio.wait_for, through which redis-py sends, may swallow a cancellation.
            self._listening.cancel()
            await asyncio.wait({self._listening}, timeout=_TICK_S)

    async def _listen(self) -> None:
        while True:
            connection: AbstractConnection | None = None
            try:
                connection = await self._connect()
                await self._subscribe(connection)
            except Exception:  # noqa: BLE001  # nobody else would listen again, whatever it was
                await asyncio.sleep(_PAUSE_S)
            finally:
                if connection is not None:
                    await hang_up(connection)

    async def _subscribe(self, connection: AbstractConnection) -> None:
        await connection.send_command("SUBSCRIBE", self._channel, PAUSES_CHANNEL)
        while True:
            match await self._read(connection):
                case [b"message", channel, _] if channel == _PAUSES:
                    self._on_wake(None)
                case [b"message", _, bytes(resource)]:
                    self._on_wake(ResourceKey(resource.decode()))
                # The second of the two channels: both are listened to from here on.
                case [b"subscribe", channel, _] if channel == _PAUSES:
                    self._on_wake(None)

    async def _read(self, connection: AbstractConnection) -> object:
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
