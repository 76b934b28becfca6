"""The inbox of the story's people: where the gateway's webhooks arrive. A real one checks their signature."""

from collections import deque
from dataclasses import dataclass, field

from aiohttp import web

# The demo may stay up for days.
_KEPT = 100


@dataclass
class Inbox:
    """The newest messages, in order."""

    messages: deque[object] = field(default_factory=lambda: deque(maxlen=_KEPT))


INBOX = web.AppKey("inbox", Inbox)


async def _receive(request: web.Request) -> web.Response:
    request.app[INBOX].messages.append(await request.json())
    return web.Response(status=204)


async def _show(request: web.Request) -> web.Response:
    return web.json_response(list(request.app[INBOX].messages))


def add_inbox(app: web.Application) -> None:
    """Let the sample upstream take messages; GET shows the newest of them, in order."""
    app[INBOX] = Inbox()
    app.router.add_post("/inbox", _receive)
    app.router.add_get("/inbox", _show)
