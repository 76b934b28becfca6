"""A gateway tells people of a write, although the one that made the step was killed before it could."""

import json
import signal
from pathlib import Path

from tests.gateway_process import GatewayProcess, call, running
from tests.recording import RecordingUpstream, answering
from tests.telling import SECRET, Receiver
from tests.until import until

POLICY = """
upstream: reports
url: http://127.0.0.1:{upstream}
mount: {{path: /reports}}
notify: {{url: "http://127.0.0.1:{receiver}/hook", secret: "${{env:HOOK_SECRET}}"}}
writes:
  - name: write
    match: PUT /reports/{{id}}
    resource: report/{{path.id}}
"""


async def write_unknown(gateway: GatewayProcess) -> None:
    """A write that its upstream drops."""
    token = await gateway.lease("report/7")
    answer = await call(gateway.proxy, "PUT", "/reports/7", f"Fencing-Token: {token}", body=b"{}")
    assert answer.status == 504, answer.body


async def test_a_gateway_killed_between_the_step_and_the_message(store_url: str, tmp_path: Path) -> None:
    """The one that comes next on the same store sends it, with the link that its operator has set."""
    receiver = Receiver(["200 OK"])
    options = ("--store", store_url, "--allow-unsafe-store", "--admin-url", "https://fence.internal")
    async with RecordingUpstream(answering(b"", close=True)) as upstream, RecordingUpstream(receiver.answer) as there:
        (tmp_path / "policies").mkdir()
        text = POLICY.format(upstream=upstream.port, receiver=there.port)
        (tmp_path / "policies" / "reports.yaml").write_text(text)
        async with running(tmp_path, *options, HOOK_SECRET=SECRET) as gateway:
            gateway.tell(signal.SIGSTOP)
            await write_unknown(gateway)
            gateway.tell(signal.SIGKILL)
        assert receiver.told == []

        async with running(tmp_path, *options, HOOK_SECRET=SECRET) as gateway:
            await until(lambda: len(gateway.logged("a notification was sent")) == 1)

            (told,) = receiver.told
            assert (told["type"], told["data"]["resource"]) == ("intent.unknown", "report/7")
            assert told["data"]["url"] == f"https://fence.internal/#/intents/{told['data']['intent']}"
            metrics = (await gateway.operate("GET", "/metrics")).body.decode()
            assert 'fencegate_notifications_total{event="unknown",result="sent"} 1.0' in metrics
            left = await gateway.operate("GET", "/api/v1/notifications?state=waiting")
            assert json.loads(left.body)["items"] == []
            assert SECRET not in gateway.log.read_text()
