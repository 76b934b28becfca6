"""What the store tells a gateway: on its own channel which resource has changed, so that who waits for it looks again,
and on the channel of all gateways that pauses have.
"""

from collections.abc import Callable

from gateway.core.write import ResourceKey
from gateway.store.keys import PAUSES_CHANNEL, wake_channel
from gateway.store.links.link import Connect
from gateway.store.links.subscription import Subscription

# None: pauses have changed, or wake-ups may have been lost; everybody looks again. Half a second is what a lost wake-up
# costs a waiter.
OnWake = Callable[[ResourceKey | None], None]

_PAUSES = PAUSES_CHANNEL.encode()


class Wake:
    """Listens until it is closed, and connects again by itself."""

    def __init__(self, connect: Connect, gateway: str, on_wake: OnWake) -> None:
        self._on_wake = on_wake
        channels = wake_channel(gateway), PAUSES_CHANNEL
        self._subscription = Subscription(connect, channels, self._heard, lambda: on_wake(None))

    async def close(self) -> None:
        await self._subscription.close()

    def _heard(self, channel: bytes, message: bytes) -> None:
        self._on_wake(None if channel == _PAUSES else ResourceKey(message.decode()))
