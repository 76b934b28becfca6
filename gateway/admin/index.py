"""What is on the admin listener, for a person who writes a client."""

from collections.abc import Iterable
from html import escape

from aiohttp import web

from gateway import __version__
from gateway.admin.call import Call

PAGE: web.AppKey[str] = web.AppKey("index", str)

_NOTE = """\
<p>With an admin token set, all but <code>/healthz</code>, <code>/readyz</code> and the console want
<code>Authorization: Bearer TOKEN</code>; a POST wants <code>Content-Type: application/json</code>.</p>"""


async def show_index(request: web.Request) -> web.Response:
    return web.Response(
        text=request.app[PAGE],
        content_type="text/html",
        headers={"Content-Security-Policy": "default-src 'none'"},
    )


def render(calls: Iterable[Call]) -> str:
    entries = "\n".join(
        f"<dt><code>{escape(_spelled(call))}</code></dt><dd>{escape(call.summary)}</dd>" for call in calls
    )
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>fencegate</title></head>
<body><h1>fencegate {__version__}</h1>
<p>This is the operators' listener; their console is at <a href="/">/</a>. Agents' requests go to the proxy
listener.</p>
<dl>{entries}</dl>
{_NOTE}</body></html>
"""


def _spelled(call: Call) -> str:
    """With what its query may name; that a list goes on at its cursor is nothing of this call's own."""
    asked = [f"{each.name}=" for each in call.parameters if each.where == "query" and each.name != "cursor"]
    return f"{call.method} {call.path}" + (f"?{'&'.join(asked)}" if asked else "")
