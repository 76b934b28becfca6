"""Approving, denying and sending again, as approvers and operators do it."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.core.delivery import GivenUp
from gateway.store.deliveries import Deliveries
from tests.admin.conftest import Admin, listening
from tests.raw import RawAnswer
from tests.store.fences import admitted, bare, state_of
from tests.store.parked import APPROVED, POLICY, REQUEST, delivered, delivering, id_of, mail, parked

ONE = mail("one", of=APPROVED)
ID = id_of(ONE)


@pytest.fixture
async def admin(store_url: str, tmp_path: Path) -> AsyncIterator[Admin]:
    """Its policy takes what waits."""
    async with listening(store_url, tmp_path, policy=POLICY) as listener:
        yield listener


async def post(admin: Admin, call: str, *fields: str, **document: object) -> RawAnswer:
    document = {"note": "looks right", **document}
    record = await admin.store.recall(ID) if call == "approve" else None
    if call == "approve" and "digest" not in document:
        document["digest"] = record.parking.digest if record is not None and record.parking is not None else "none"
    return await admin.call("POST", f"/api/v1/intents/{ID}/{call}", *fields, body=json.dumps(document).encode())


def name_of(answer: RawAnswer) -> str:
    """The problem's name, or the state of the intent that is answered."""
    members = json.loads(answer.body)
    return members["state"] if answer.status == 200 else members["type"].removeprefix("urn:fencegate:")


async def test_an_approver_is_shown_the_request_first(admin: Admin) -> None:
    """Arguments, who sent them, under which epoch, and how much is at stake."""
    await parked(admin.store, replace(ONE, principal="agent-7"))

    found = json.loads((await admin.call("GET", f"/api/v1/intents/{ID}")).body)

    assert found["request"]["body"] == '{"to": "x"}' and found["request"]["target"] == "/mails?x=1"
    told = {name: found[name] for name in ("state", "principal", "risk", "epoch", "holder", "rule", "failures")}
    assert told == {
        "state": "awaiting_approval", "principal": "agent-7", "risk": "high", "epoch": "42", "holder": "A",
        "rule": "replace", "failures": 0,
    }  # fmt: skip
    assert found["approval"]["verdict"] == "awaited" and found["approval"]["by"] is None
    listed = json.loads((await admin.call("GET", "/api/v1/intents?state=awaiting_approval")).body)
    assert [item["id"] for item in listed["items"]] == [ID]
    assert "request" not in listed["items"][0] and listed["items"][0]["digest"] == found["digest"]


async def test_without_principals_the_operator_approves(admin: Admin) -> None:
    """The record and the trail say so."""
    await parked(admin.store, ONE)

    approved = await post(admin, "approve")

    assert name_of(approved) == "queued"
    members = json.loads(approved.body)
    assert (members["approval"]["verdict"], members["approval"]["by"]) == ("given", "operator")
    assert [event["to"] for event in members["events"]] == ["queued", "awaiting_approval"]
    assert name_of(await post(admin, "deny")) == "wrong-state"


async def test_what_is_queued_says_when_it_is_sent_next(admin: Admin) -> None:
    """Between two deliveries five minutes may lie; of what is not queued nothing is said."""
    await parked(admin.store, ONE)
    waiting = json.loads((await admin.call("GET", f"/api/v1/intents/{ID}")).body)
    queued = json.loads((await post(admin, "approve")).body)
    await Deliveries(admin.store).put_back(ONE.resource, 60)
    later = json.loads((await admin.call("GET", f"/api/v1/intents/{ID}")).body)

    assert "next_delivery_at" not in waiting
    assert later["next_delivery_at"] > queued["next_delivery_at"]
    assert (
        "next_delivery_at" not in json.loads((await admin.call("GET", "/api/v1/intents?state=queued")).body)["items"][0]
    )


async def test_what_a_newer_epoch_has_overtaken_is_said_to_be(admin: Admin) -> None:
    """Nobody can approve it but as the new holder repeats it: a person need not read it."""
    await parked(admin.store, ONE)
    before = json.loads((await admin.call("GET", f"/api/v1/intents/{ID}")).body)
    await admin.store.advance(ONE.resource, None, "call-1")
    after = json.loads((await admin.call("GET", f"/api/v1/intents/{ID}")).body)
    [listed] = json.loads((await admin.call("GET", "/api/v1/intents?state=awaiting_approval")).body)["items"]

    assert [one["overtaken"] for one in (before, after, listed)] == [False, True, True]


async def test_what_is_denied_stays_denied(admin: Admin) -> None:
    """A second word is not heard."""
    await parked(admin.store, ONE)

    assert name_of(await post(admin, "deny", note="not this month")) == "denied"
    assert name_of(await post(admin, "approve")) == "wrong-state"


async def test_two_approvers_at_once(admin: Admin) -> None:
    """One of them wins."""
    await parked(admin.store, ONE)
    answers = await asyncio.gather(post(admin, "approve", note="by one"), post(admin, "deny", note="by another"))

    assert sorted(answer.status for answer in answers) == [200, 409]


async def test_a_digest_binds_the_approval(admin: Admin) -> None:
    """To the request that the approver has looked at."""
    await parked(admin.store, ONE)
    digest = json.loads((await admin.call("GET", f"/api/v1/intents/{ID}")).body)["digest"]

    other = await post(admin, "approve", digest=digest[::-1])
    assert (other.status, name_of(other)) == (409, "wrong-state")
    assert name_of(await post(admin, "approve", digest=digest)) == "queued"


async def test_a_digest_is_compared_to_the_last_character(admin: Admin) -> None:
    """Almost the same is another request, and what is no text is none."""
    await parked(admin.store, ONE)
    digest = json.loads((await admin.call("GET", f"/api/v1/intents/{ID}")).body)["digest"]

    almost = [await post(admin, "approve", digest=text) for text in (digest[:-1], digest.swapcase(), f"{digest}=")]
    none = [await post(admin, "approve", digest=value) for value in (None, 0, [digest])]

    assert [answer.status for answer in almost] == [409] * 3
    assert [answer.status for answer in none] == [400] * 3
    assert await state_of(admin.store, ID) == "awaiting_approval"


@pytest.mark.parametrize("call", ["approve", "deny"])
async def test_a_call_that_comes_late_decides_about_no_repeat(call: str, admin: Admin) -> None:
    """What it was for was approved, sent and refused; the same request waits for a word of its own."""
    await parked(admin.store, ONE)
    shown = json.loads((await admin.call("GET", f"/api/v1/intents/{ID}")).body)
    about = {"digest": shown["digest"], "since": shown["since"]}
    first = [name_of(await post(admin, "approve", **about)) for _ in range(2)]
    async with delivering(admin.store) as queue:
        await delivered(queue, ONE, "not_applied", GivenUp())
    await parked(admin.store, ONE)

    late = await post(admin, call, **about, note="late")

    assert first == ["queued", "queued"]
    assert (late.status, name_of(late)) == (409, "wrong-state")
    assert "the same request waits anew since" in late.problem["detail"]
    assert await state_of(admin.store, ID) == "awaiting_approval"
    anew = json.loads((await admin.call("GET", f"/api/v1/intents/{ID}")).body)
    assert name_of(await post(admin, "approve", digest=anew["digest"], since=anew["since"])) == "queued"


@pytest.mark.parametrize("since", [None, 0, "", "soon", "2026-11-30T18:49:02.100"])
async def test_since_is_an_instant(since: object, admin: Admin) -> None:
    """With its zone; anything else decides about nothing."""
    await parked(admin.store, ONE)

    assert (await post(admin, "approve", since=since)).status == 400
    assert await state_of(admin.store, ID) == "awaiting_approval"


async def test_ten_approvals_at_once_are_one(admin: Admin) -> None:
    """The write is queued once: the others find that somebody was first."""
    await parked(admin.store, ONE)
    digest = json.loads((await admin.call("GET", f"/api/v1/intents/{ID}")).body)["digest"]
    answers = await asyncio.gather(*(post(admin, "approve", digest=digest, note=str(at)) for at in range(10)))

    assert sorted(answer.status for answer in answers) == [200] + [409] * 9


async def test_an_approval_names_the_request(admin: Admin) -> None:
    """Without a digest nobody knows what was looked at. Who denies may leave it out."""
    await parked(admin.store, ONE)

    blind = await admin.call("POST", f"/api/v1/intents/{ID}/approve", body=b'{"note": "x"}')

    assert blind.status == 400 and "`digest`" in blind.problem["detail"]
    assert await state_of(admin.store, ID) == "awaiting_approval"
    assert name_of(await post(admin, "deny")) == "denied"


async def test_a_body_is_had_as_it_came(admin: Admin) -> None:
    """As a file, also one that is too large to be shown; not any more once it is gone."""
    body = b"\0" * (1 << 20) + b"!"
    await parked(admin.store, ONE, replace(REQUEST, body=body))
    shown = json.loads((await admin.call("GET", f"/api/v1/intents/{ID}")).body)
    assert (shown["request"]["body"], shown["request"]["body_base64"]) == (None, None)

    whole = await admin.call("GET", f"/api/v1/intents/{ID}/body")

    assert (whole.status, whole.body) == (200, body)
    assert whole.value("Content-Disposition") == f'attachment; filename="{ID}.bin"'
    assert whole.value("X-Content-Type-Options") == "nosniff"
    await post(admin, "deny")
    assert name_of(await admin.call("GET", f"/api/v1/intents/{ID}/body")) == "wrong-state"
    assert (await admin.call("GET", "/api/v1/intents/none/body")).status == 404


async def test_a_digest_binds_what_is_exported(admin: Admin) -> None:
    """What was looked at; another one that has its place since is refused."""
    body = b"\0" * (1 << 20)
    record = await parked(admin.store, ONE, replace(REQUEST, body=body))
    assert record.parking is not None

    same = await admin.call("GET", f"/api/v1/intents/{ID}/body?digest={record.parking.digest}")
    other = await admin.call("GET", f"/api/v1/intents/{ID}/body?digest={record.parking.digest[::-1]}")

    assert (same.status, same.body) == (200, body)
    assert (other.status, name_of(other), other.problem["intent"]) == (
        409, "wrong-state", {"id": ID, "state": "awaiting_approval"},
    )  # fmt: skip
    assert (await admin.call("GET", f"/api/v1/intents/{ID}/body?digset=x")).status == 400


async def test_an_approval_after_a_takeover(admin: Admin) -> None:
    """Is refused with what has become of the intent."""
    await parked(admin.store, ONE)
    await admitted(admin.store, bare(43, "B"))

    answer = await post(admin, "approve")

    assert (answer.status, answer.problem["intent"]) == (409, {"id": ID, "state": "superseded"})


@pytest.mark.parametrize("method", ["PUT", "POST"], ids=["another method", "another path"])
async def test_what_the_policy_no_longer_takes_is_not_approved(method: str, admin: Admin) -> None:
    """It goes on waiting, for the policy may be mended; and may be denied."""
    target = "/mails" if method == "PUT" else "/letters"
    await parked(admin.store, ONE, replace(REQUEST, method=method, target=target))

    answer = await post(admin, "approve")

    assert (answer.status, name_of(answer)) == (409, "wrong-state")
    assert "the policy no longer takes it: no rule takes it" in str(answer.problem["detail"])
    assert await state_of(admin.store, ID) == "awaiting_approval"
    assert name_of(await post(admin, "deny")) == "denied"


@pytest.mark.parametrize("call", ["approve", "deny", "retry"])
@pytest.mark.parametrize("document", [b"", b"{}", b"[]", b'{"note": ""}', b'{"note": "x", "more": 1}', b"{"])
async def test_a_call_without_a_note_does_nothing(call: str, document: bytes, admin: Admin) -> None:
    """A note says why; whatever else is sent is refused."""
    await parked(admin.store, ONE)

    answer = await admin.call("POST", f"/api/v1/intents/{ID}/{call}", body=document)

    assert answer.status == 400
    assert await state_of(admin.store, ID) == "awaiting_approval"


@pytest.mark.parametrize("call", ["approve", "deny", "retry"])
async def test_an_intent_that_nobody_knows(call: str, admin: Admin) -> None:
    """Is told as such."""
    assert name_of(await post(admin, call)) == "no-such-intent"


async def test_an_operator_has_a_failed_intent_sent_again(admin: Admin) -> None:
    """With its request, and a note in the trail."""
    write = mail("one")
    await parked(admin.store, write)
    assert name_of(await post(admin, "retry")) == "wrong-state"
    async with delivering(admin.store) as queue:
        await delivered(queue, write, "not_applied", GivenUp())
        assert name_of(await post(admin, "retry", digest="another")) == "wrong-state"
        assert name_of(await post(admin, "retry", digest=7)) == "bad-request"

        answer = await post(admin, "retry", note="the key is renewed")

        assert name_of(answer) == "queued"
        assert json.loads(answer.body)["events"][0]["reason"] == "the key is renewed"
        assert (await delivered(queue, write, "applied")).request == REQUEST
