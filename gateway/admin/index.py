"""What is on the admin listener, for a person with a browser."""

from aiohttp import web

from gateway import __version__

_CALLS = (
    ("GET /healthz", "whether the process is up"),
    ("GET /readyz", "whether writes can pass now, and if not, why"),
    ("GET /metrics", "metrics in Prometheus' text format"),
    ("GET /api/v1/resources?prefix=", "resources that the fence knows"),
    ("GET /api/v1/resources/R", "one resource: its epoch, holder, lease, pause, writes in flight, and newest events"),
    ("POST /api/v1/resources/R/advance", "raise the epoch: whoever writes now is refused from here on"),
    (
        "GET /api/v1/intents?state=",
        "intents that are unknown (where nothing is said), applied, not_applied or in_flight",
    ),
    ("GET /api/v1/intents/ID", "one intent: what became of it, its answer as far as it is kept, and its events"),
    ("POST /api/v1/intents/ID/resolve", "say what became of an unknown one: not_applied lets a retry send again"),
    ("GET /api/v1/audit?resource=&amp;intent=&amp;since=", "each step of each write, the newest first"),
    ("GET /api/v1/pauses?resource=", "resources whose writes are stopped"),
    ("POST /api/v1/pauses", "stop all writes of a resource"),
    ("DELETE /api/v1/pauses/ID", "let them go on"),
    ("GET /api/v1/policies", "the policies in force"),
    ("POST /api/v1/policies/reload", "read the policy files again"),
)
_PAGE = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>fencegate</title></head>
<body><h1>fencegate {__version__}</h1>
<p>This is the operators' listener. Agents' requests go to the proxy listener.</p>
<dl>{"".join(f"<dt><code>{call}</code></dt><dd>{what}</dd>" for call, what in _CALLS)}</dl>
<p>With an admin token set, all but the first two want <code>Authorization: Bearer TOKEN</code>; a POST wants
<code>Content-Type: application/json</code>.</p></body></html>
"""


async def index(_request: web.Request) -> web.Response:
    return web.Response(text=_PAGE, content_type="text/html", headers={"Content-Security-Policy": "default-src 'none'"})
