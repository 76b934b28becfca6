"""A real gateway takes back what it delivered from its queue: through the listener that its operators have."""

import asyncio
import json
from pathlib import Path

from tests.gateway_process import GatewayProcess, call, running
from tests.recording import RecordingUpstream, Seen
from tests.until import until

POLICY = """
upstream: mails
url: http://127.0.0.1:{port}
mount: {{path: /mails}}
writes:
  - name: send
    match: POST /mails/{{box}}
    resource: box/{{path.box}}
    intent: {{mode: required}}
    delivery: queued
    effect: {{compensation: {{request: "DELETE /mails/{{path.box}}/{{response.json:/id}}"}}}}
"""


async def answer(seen: Seen, writer: asyncio.StreamWriter) -> None:
    body = b"" if seen.line.startswith("DELETE") else b'{"id": "m-1"}'
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))


async def state_of(gateway: GatewayProcess, path: str) -> str:
    return str(json.loads((await gateway.operate("GET", path)).body)["state"])


async def test_a_queued_write_is_taken_back(tmp_path: Path) -> None:
    """By the parent, with a sender of its own; its request was kept with the queue."""
    (tmp_path / "policies").mkdir()
    async with RecordingUpstream(answer) as upstream:
        (tmp_path / "policies" / "mails.yaml").write_text(POLICY.format(port=upstream.port))
        async with running(tmp_path) as gateway:
            token = f"Fencing-Token: {await gateway.lease('box/in')}"
            queued = await call(gateway.proxy, "POST", "/mails/in", token, 'Idempotency-Key: "k"', body=b"{}")
            assert queued.status == 202, queued
            path = f"/api/v1/intents/{json.loads(queued.body)['id']}"

            async def is_applied() -> bool:
                return await state_of(gateway, path) == "applied"

            await until(is_applied)
            compensated = await gateway.operate("POST", f"{path}/compensate", body=b'{"note": "sent in error"}')

            assert json.loads(compensated.body)["state"] == "compensated"
            assert [seen.line for seen in upstream.seen] == [
                "POST /mails/in HTTP/1.1",
                "DELETE /mails/in/m-1 HTTP/1.1",
            ]
