"""The gateway's own server, listening on a free port of loopback."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from gateway.proxy.server import ProxyServer


@contextlib.asynccontextmanager
async def served(server: ProxyServer, grace_s: float = 5.0) -> AsyncIterator[int]:
    """Its port. In the end what is left may end within `grace_s`."""
    listening = await asyncio.get_running_loop().create_server(server, "127.0.0.1", 0)
    try:
        yield listening.sockets[0].getsockname()[1]
    finally:
        listening.close()
        await server.finish(grace_s)
