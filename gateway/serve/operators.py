"""The operators' listener, opened on its own address."""

from contextlib import AsyncExitStack

from aiohttp import web

from gateway.admin.browser import own_name
from gateway.admin.listener import build_admin
from gateway.admin.running import Running
from gateway.core.address import Address
from gateway.log import Log
from gateway.serve.accepting import Accepting
from gateway.serve.port import bound_address, listen_alone
from gateway.serve.starting import cannot_listen, find_tls
from gateway.settings import ServeSettings

# Longer than Prometheus' usual interval. An idle connection, or one whose first request never ends, is closed then.
_IDLE_S = 75.0


async def running_app(app: web.Application) -> web.AppRunner:
    """What answers people and scrapers, not listening yet; `cleanup` ends it."""
    runner = web.AppRunner(app, access_log=None, handle_signals=False, shutdown_timeout=1.0, keepalive_timeout=_IDLE_S)
    await runner.setup()
    return runner


async def listen_for_operators(
    running: Running, settings: ServeSettings, log: Log, ending: AsyncExitStack
) -> tuple[Address, Accepting]:
    """Where it listens, and what accepts there until `ending`. Raises StartRefused."""
    files = find_tls("--admin-tls-cert", settings.admin_tls_cert, settings.admin_tls_key)
    app = build_admin(
        running,
        token=settings.admin_token,
        on_loopback=settings.admin.is_loopback,
        known_as=own_name(settings.admin_url),
    )
    runner = await running_app(app)
    ending.push_async_callback(runner.cleanup)
    assert runner.server is not None
    try:
        sockets = listen_alone(settings.admin)
    except OSError as error:
        raise cannot_listen("--admin", settings.admin, error) from None
    accepting = Accepting(runner.server, sockets, files, log)
    ending.callback(accepting.close)
    await accepting.open()
    return bound_address(sockets[0]), accepting
