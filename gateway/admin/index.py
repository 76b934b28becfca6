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
    ("GET /api/v1/intents?state=", "intents that are unknown (where nothing is said), or in any other state"),
    ("GET /api/v1/intents/ID", "one intent: what became of it, its answer as far as it is kept, and its events"),
    ("POST /api/v1/intents/ID/resolve", "say what became of an unknown one: not_applied lets a retry send again"),
    ("POST /api/v1/intents/ID/approve", "let one that waits for an approval be sent, as it was looked at"),
    ("POST /api/v1/intents/ID/deny", "never send it"),
    ("POST /api/v1/intents/ID/retry", "send a failed one again"),
    ("POST /api/v1/intents/ID/compensate", "take an applied one back: its compensation is sent, once"),
    ("GET /api/v1/audit?resource=&amp;intent=&amp;since=", "each step of each write, the newest first"),
    ("GET /api/v1/budgets?upstream=&amp;rule=", "what is used of the rules' budgets, and by whom"),
    ("GET /api/v1/pauses?resource=", "pauses in force, the newest first"),
    ("POST /api/v1/pauses", "stop all writes of an upstream, rule, resource, tenant or holder, or all there are"),
    ("DELETE /api/v1/pauses/ID", "let them go on"),
    ("GET /api/v1/quarantine?resource=&amp;rule=", "writes that came too late and were kept"),
    ("GET /api/v1/quarantine/ID", "one of them, with its request"),
    ("GET /api/v1/quarantine/ID/body", "its body, byte for byte"),
    ("DELETE /api/v1/quarantine/ID", "drop it"),
    ("GET /api/v1/notifications?state=", "what webhooks tell people: dead letters (where nothing is said), or waiting"),
    ("POST /api/v1/notifications/ID/retry", "send one of them now"),
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
