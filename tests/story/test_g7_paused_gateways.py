"""G7: a gateway that was itself paused does not forward late."""

from pathlib import Path

import pytest

from tests.raw import RawClient, request
from tests.recording import RecordingUpstream
from tests.store.server import Server
from tests.story.gateways import two_gateways, write_policy

pytestmark = pytest.mark.promise("G7")

_SHOWN = ("Fencing-Token: 41", "Fencing-Holder: a")


async def test_a_gateway_stopped_between_admitting_and_sending_sends_nothing(
    shared_store: Server, tmp_path: Path
) -> None:
    """A's write is admitted and its gateway stopped before the first byte; B writes past the ticket's deadline; the
    gateway goes on, has everything it needs to send A's write, and does not."""
    async with RecordingUpstream() as upstream:
        policies = write_policy(tmp_path, upstream.port, total="2s")
        async with two_gateways(policies, tmp_path, shared_store.url) as (one, two), RawClient(one.port) as a:
            whole = request("PUT", "/reports/7", *_SHOWN, body=b'"the old result of A"')
            head, _, body = whole.partition(b"\r\n\r\n")
            await a.send(head + b"\r\n\r\n")
            await two.until_in_flight("report/7", 1)
            one.pause()
            await a.send(body)
            b = await two.put("7", 42, "b", body=b'"b"')
            one.go_on()
            answer = await a.answer()
            again = await one.put("7", 41, "a", body=b'"again"')

        assert b.status == 200
        assert answer.decision in ("stale-epoch", "upstream-unreachable")
        assert str(answer.problem["detail"]).startswith("Not forwarded")
        assert again.decision == "stale-epoch"
        assert [seen.body for seen in upstream.seen] == [b'"b"']
        assert upstream.partial == []


async def test_a_half_sent_write_is_never_completed_late(shared_store: Server, tmp_path: Path) -> None:
    """A's body is half sent when its gateway is stopped; 42 is admitted past the deadline; the gateway goes on and
    aborts: the upstream never holds a whole request of 41 after it began one of 42."""
    async with RecordingUpstream() as upstream:
        policies = write_policy(tmp_path, upstream.port, total="2s")
        async with two_gateways(policies, tmp_path, shared_store.url) as (one, two), RawClient(one.port) as a:
            await a.send(request("PUT", "/reports/7", *_SHOWN, "Content-Length: 12") + b"first-")
            await upstream.until(lambda: upstream.receiving > 0)
            one.pause()
            await a.send(b"second")
            b = await two.put("7", 42, "b", body=b'"b"')
            one.go_on()
            answer = await a.answer()
            await upstream.until(lambda: bool(upstream.partial))

        assert b.status == 200
        assert (answer.status, answer.decision) == (504, "outcome-unknown")
        assert [seen.body for seen in upstream.seen] == [b'"b"']
        assert upstream.partial[0].endswith(b"first-")
