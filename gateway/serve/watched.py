"""A deliverer's listener for those who watch it, opened on its own address."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web

from gateway.admin.watching import Delivering, build_watching
from gateway.core.address import Address
from gateway.log import Log
from gateway.serve.operators import running_app
from gateway.serve.port import bound_address, listen_alone
from gateway.serve.starting import cannot_listen


@asynccontextmanager
async def watched(delivering: Delivering, address: Address | None, token: str | None, log: Log) -> AsyncIterator[None]:
    """It answers there until it is left; nowhere without an address. Raises StartRefused."""
    if address is None:
        yield
        return
    app = build_watching(delivering, token=token, on_loopback=address.is_loopback)
    runner = await running_app(app)
    try:
        try:
            sockets = listen_alone(address)
        except OSError as error:
            raise cannot_listen("--metrics", address, error) from None
        for listening in sockets:
            await web.SockSite(runner, listening).start()
        log.info("watched", metrics=f"http://{bound_address(sockets[0])}/metrics")
        yield
    finally:
        await runner.cleanup()
