"""Webhooks as Standard Webhooks 1.0.0 wants them: the signature, the message, and what follows an attempt."""

import base64
import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from standardwebhooks import Webhook

from gateway.core.epoch import Epoch
from gateway.core.intent import IntentId
from gateway.core.notification import Notification
from gateway.core.webhook import Again, Answered, Dead, Received, Unanswered, judge, message, sign
from gateway.core.write import ResourceKey

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
KEY = base64.b64decode(SECRET.removeprefix("whsec_"))
OTHER = bytes(range(32))
ID = "3ff1795977964637-0"
TOLD = Notification(
    id=ID,
    event="unknown",
    incident="",
    at_ms=1_795_977_964_637,
    intent=IntentId("3ffx0"),
    state="unknown",
    upstream="mail",
    rule="send",
    resource=ResourceKey("mailbox/7"),
    epoch=Epoch(2**64 - 1),
    holder="agent-a",
    reason="no answer within 30 s",
)


def test_the_signature_is_that_of_the_official_libraries() -> None:
    """The vector that all of them test with."""
    told = b'{"test": 2432232314}'

    signature = sign((KEY,), "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, told)

    assert signature == b"v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_a_message_names_the_request_that_waits() -> None:
    """By its digest: whoever approves says which request it was that they looked at."""
    waits = replace(TOLD, event="awaiting_approval", state="awaiting_approval", digest="the-digest")

    assert json.loads(message(waits, (KEY,), 1, None).body)["data"]["digest"] == "the-digest"
    assert "digest" not in json.loads(message(TOLD, (KEY,), 1, None).body)["data"]


def test_each_secret_signs() -> None:
    """While one is replaced by the other a receiver knows either."""
    both = sign((KEY, OTHER), ID, 1, b"{}")

    assert both == sign((KEY,), ID, 1, b"{}") + b" " + sign((OTHER,), ID, 1, b"{}")


def test_a_message_says_what_a_person_has_to_know() -> None:
    """Nothing of what the write said, nor of what proved who sent it; numbers past 2^53 as text."""
    sent = message(TOLD, (KEY,), 1_795_977_970, None)

    assert dict(sent.headers) == {
        b"Content-Type": b"application/json",
        b"User-Agent": b"fencegate",
        b"webhook-id": ID.encode(),
        b"webhook-timestamp": b"1795977970",
        b"webhook-signature": sign((KEY,), ID, 1_795_977_970, sent.body),
    }
    assert json.loads(sent.body) == {
        "type": "intent.unknown",
        "timestamp": "2026-11-29T18:46:04.637Z",
        "data": {
            "intent": "3ffx0",
            "state": "unknown",
            "upstream": "mail",
            "rule": "send",
            "resource": "mailbox/7",
            "epoch": "18446744073709551615",
            "holder": "agent-a",
            "reason": "no answer within 30 s",
        },
    }


def test_a_link_is_there_where_operators_have_an_address() -> None:
    """And nowhere else: the gateway cannot know by which name it is reached."""
    sent = message(TOLD, (KEY,), 1, "https://fence.internal:8081")

    assert json.loads(sent.body)["data"]["url"] == "https://fence.internal:8081/#/intents/3ffx0"


@pytest.mark.parametrize("reason", ["\u2028</script>", '"}', "ä\n\0"], ids=["line", "quote", "control"])
def test_any_text_is_one_document(reason: str) -> None:
    """Names come from agents: what they are made of ends no string, and the body is ASCII."""
    sent = message(replace(TOLD, reason=reason), (KEY,), 1, None)

    assert json.loads(sent.body)["data"]["reason"] == reason


def test_the_official_library_takes_a_message_that_has_two_signatures() -> None:
    """Of the secret that it knows, wherever that stands."""
    sent = message(TOLD, (OTHER, KEY), int(datetime.now(UTC).timestamp()), None)

    told = Webhook(SECRET).verify(sent.body, {name.decode(): value.decode() for name, value in sent.headers})

    assert told["type"] == "intent.unknown"


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
def test_every_2xx_is_success(status: int) -> None:
    """And ends it, at whatever attempt."""
    assert judge(ID, 10, Answered(status)) == Received()


@pytest.mark.parametrize("status", [301, 302, 304, 307, 400, 404, 429, 500, 502, 503])
def test_any_other_status_is_a_failure(status: int) -> None:
    """A redirect too: it is not followed."""
    outcome = judge(ID, 1, Answered(status))

    assert isinstance(outcome, Again)
    assert outcome.why == f"it answered {status}"


def test_gone_is_the_end_of_the_endpoint() -> None:
    """Its receiver wants nothing more."""
    outcome = judge(ID, 1, Answered(410))

    assert isinstance(outcome, Dead) and outcome.stops


def test_the_schedule_is_the_specifications() -> None:
    """Ten attempts in some three days, each a little later than the table says; then it is dead."""
    outcomes = [judge(ID, attempt, Unanswered("nobody there")) for attempt in range(1, 11)]

    delays = [outcome.after_s for outcome in outcomes if isinstance(outcome, Again)]
    table = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]
    assert all(least <= delay <= 1.1 * least for least, delay in zip(table, delays, strict=True))
    assert outcomes[9] == Dead("nobody there, at the last of 10 attempts")


def test_what_failed_together_does_not_come_together_again() -> None:
    """The jitter is another one for each notification."""
    delays = {judge(f"3ff{number}-0", 2, Unanswered("")) for number in range(50)}

    assert len(delays) > 40


@pytest.mark.parametrize(
    ("asked_s", "attempt", "least_s", "most_s"),
    [
        pytest.param(60.0, 1, 60.0, 60.0, id="longer than the schedule"),
        pytest.param(60.0, 2, 300.0, 330.0, id="shorter than the schedule"),
        pytest.param(1e9, 1, 86_400.0, 86_400.0, id="longer than a day"),
    ],
)
def test_a_receiver_may_ask_for_time(asked_s: float, attempt: int, least_s: float, most_s: float) -> None:
    """`Retry-After` puts the next attempt off, by a day at most."""
    outcome = judge(ID, attempt, Answered(503, asked_s))

    assert isinstance(outcome, Again)
    assert least_s <= outcome.after_s <= most_s
