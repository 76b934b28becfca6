"""An answer's `Location`: agents are told where it is at the gateway, and the API is told what it said itself."""

import asyncio
import contextlib
import json
from pathlib import Path

from tests.admin.conftest import listening
from tests.recording import RecordingUpstream, Seen
from tests.stack import stack

POLICY = """
upstream: notes
url: http://127.0.0.1:{port}/api
mount: {{path: /notes, strip: true}}
timeouts: {{connect: 1s, total: 5s, late: 100ms}}
credentials: [{{header: X-Secret, value: open-sesame}}]
writes:
  - name: create
    match: POST /notes/{{box}}
    resource: box/{{path.box}}
    intent: {{mode: required}}
    effect:
      compensation: {{request: "DELETE /notes/{{path.box}}?at={{response.header.location}}"}}
"""


async def test_a_place_is_told_to_agents_as_theirs_and_to_the_api_as_its_own(store_url: str, tmp_path: Path) -> None:
    """A repeat is told the same as the first; what takes the write back has the place as the API called it."""

    async def answer(seen: Seen, writer: asyncio.StreamWriter) -> None:
        created = b"HTTP/1.1 201 Created\r\nLocation: /api/in/7\r\nContent-Length: 0\r\n\r\n"
        writer.write(created if seen.line.startswith("POST") else b"HTTP/1.1 204 No Content\r\n\r\n")

    (tmp_path / "admin").mkdir()
    async with contextlib.AsyncExitStack() as ending:
        agents = await ending.enter_async_context(stack(store_url, tmp_path, POLICY, RecordingUpstream(answer)))
        policy = POLICY.format(port=agents.upstream.port)
        admin = await ending.enter_async_context(listening(store_url, tmp_path / "admin", policy=policy))
        await agents.lease("box/in")

        told = [await agents.write("/notes/in", "Idempotency-Key: k", method="POST") for _ in range(2)]
        (intent,) = json.loads((await admin.call("GET", "/api/v1/intents?state=applied")).body)["items"]
        undone = await admin.call("POST", f"/api/v1/intents/{intent['id']}/compensate", body=b'{"note": "a test"}')

        assert [(one.decision, one.value("Location")) for one in told] == [
            ("forwarded", "/notes/in/7"),
            ("replayed", "/notes/in/7"),
        ]
        assert undone.status == 200
        assert [seen.line for seen in agents.upstream.seen] == [
            "POST /api/in HTTP/1.1",
            "DELETE /api/in?at=%2Fapi%2Fin%2F7 HTTP/1.1",
        ]
