"""One attempt to tell: a POST that a receiver can trust, and an answer of which only the status counts."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.core.notification import Claimed
from gateway.core.rule import Endpoint, Origin, Tls
from gateway.core.webhook import Answered, Unanswered
from gateway.upstream import webhook
from gateway.upstream.sender import HttpSender
from gateway.upstream.webhook import Webhooks
from tests.certificates import Authority
from tests.core.test_webhook import TOLD
from tests.recording import RecordingUpstream, answering
from tests.telling import KEY, endpoint

CLAIMED = Claimed(TOLD, 1, 1_795_977_970_123)
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


async def test_a_notification_is_one_signed_post(sender: HttpSender) -> None:
    """To the path and query of the policy; the same connection serves the next one."""
    webhooks = Webhooks(sender, "https://fence.internal")
    async with RecordingUpstream(answering(OK)) as there:
        for _ in range(2):
            at = endpoint(there.port, target="/a%20b/hook?team=1")
            assert await webhooks.post(at, CLAIMED) == Answered(200)

        seen = there.seen[0]
        assert seen.line == "POST /a%20b/hook?team=1 HTTP/1.1"
        assert seen.values("webhook-id") == [TOLD.id]
        assert seen.values("webhook-timestamp") == ["1795977970"]
        assert seen.values("content-type") == ["application/json"]
        assert b'"url":"https://fence.internal/#/intents/3ffx0"' in seen.body
        assert KEY not in seen.raw
        assert (len(there.seen), there.connections) == (2, 1)


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (b"HTTP/1.1 204 No Content\r\n\r\n", Answered(204)),
        (b"HTTP/1.1 302 Found\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n", Answered(302)),
        (b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n", Answered(500)),
        (b"HTTP/1.1 503 No\r\nRetry-After: 120\r\nContent-Length: 0\r\n\r\n", Answered(503, 120.0)),
        (b"HTTP/1.1 503 No\r\nRetry-After: Fri, 31 Dec 1999\r\nContent-Length: 0\r\n\r\n", Answered(503)),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}", Answered(200)),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 90000\r\n\r\n" + b" " * 90_000, Answered(200)),
    ],
    ids=["no body", "a redirect", "an error", "asks for time", "asks for a date", "broken off", "long"],
)
async def test_only_the_status_counts(answer: bytes, told: Answered, sender: HttpSender) -> None:
    """No redirect is followed, and nothing of the body is looked at."""
    async with RecordingUpstream(answering(answer, close=True)) as there:
        assert await Webhooks(sender).post(endpoint(there.port), CLAIMED) == told

        assert len(there.seen) == 1


@pytest.mark.parametrize("answer", [b"", b"nonsense\r\n\r\n"], ids=["nothing", "no HTTP"])
async def test_what_is_no_answer_is_a_failure(answer: bytes, sender: HttpSender) -> None:
    """Whether the receiver has it, nobody knows: it is sent again."""
    async with RecordingUpstream(answering(answer, close=True)) as there:
        assert isinstance(await Webhooks(sender).post(endpoint(there.port), CLAIMED), Unanswered)


async def test_nobody_there_is_a_failure(sender: HttpSender) -> None:
    """Said in the system's words, without the path."""
    answer = await Webhooks(sender).post(endpoint(1), CLAIMED)

    assert isinstance(answer, Unanswered)
    assert "hook" not in answer.why


@pytest.mark.parametrize("begun", [b"", b"HTTP/1.1 200 OK\r\n"], ids=["no head", "half a head"])
async def test_a_slow_receiver_is_given_up(begun: bytes, sender: HttpSender, monkeypatch: pytest.MonkeyPatch) -> None:
    """It occupies one of a few connections."""
    monkeypatch.setattr(webhook, "_WITHIN_S", 0.1)

    async with RecordingUpstream(answering(begun)) as there:
        assert await Webhooks(sender).post(endpoint(there.port), CLAIMED) == Unanswered("no answer within 0.1 s")


async def test_a_body_that_never_ends_takes_no_success_back(
    sender: HttpSender, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The status has come."""
    monkeypatch.setattr(webhook, "_READ_WITHIN_S", 0.1)

    async with RecordingUpstream(answering(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{")) as there:
        assert await Webhooks(sender).post(endpoint(there.port), CLAIMED) == Answered(200)


async def test_a_receiver_shows_a_certificate_of_its_authority(tmp_path: Path, sender: HttpSender) -> None:
    """The one that the policy names, if it names one."""
    authority = Authority(tmp_path)
    async with RecordingUpstream(answering(OK), tls=authority.server("hooks")) as there:
        untrusted = replace(endpoint(there.port), origin=Origin("https", "localhost", there.port))
        trusted: Endpoint = replace(untrusted, tls=Tls(ca=str(authority.ca)))

        webhooks = Webhooks(sender)
        refused = await webhooks.post(untrusted, CLAIMED)
        assert isinstance(refused, Unanswered) and "certificate" in refused.why.lower()
        assert await webhooks.post(trusted, CLAIMED) == Answered(200)


async def test_an_attempt_that_is_broken_off_leaves_the_connection(sender: HttpSender) -> None:
    """The gateway ends: what was not answered is made again by another one."""
    async with RecordingUpstream(answering(b"")) as there:
        posting = asyncio.ensure_future(Webhooks(sender).post(endpoint(there.port), CLAIMED))
        await there.until(lambda: len(there.seen) == 1)
        posting.cancel()

        with pytest.raises(asyncio.CancelledError):
            await posting
