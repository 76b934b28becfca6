"""G5: every admitted write ends as applied, not_applied or unknown, by evidence; an unknown one is held until somebody
knows."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.raw import RawAnswer
from tests.store.server import Server
from tests.story.gateways import Gateway
from tests.story.mail import mailing, send, withheld, write_policy
from tests.story.mail_api import Mail, MailApi, MailProcess, confirmed_after, sent_when_given_up
from tests.until import until

pytestmark = pytest.mark.promise("G5")


async def test_a_gateway_killed_at_any_point_leaves_what_somebody_has_to_resolve(
    flushed_store: Server, tmp_path: Path
) -> None:
    """Killed before one mail is sent, before the answer to another, and before a third one's answer is settled: past
    the deadline all are unknown and none is sent again, until an operator says what became of them."""
    answer = asyncio.Event()
    async with MailApi(manner=confirmed_after(asyncio.Event())) as api:
        policies = write_policy(tmp_path, api.port, total="4s")
        options = ("--store-timeout", "1")
        async with mailing(policies, tmp_path, flushed_store.url, "one", "two", options=options) as (one, two):
            api.manners["unsettled"] = confirmed_after(answer)
            async with withheld(one, "unsent"):
                mails = [asyncio.ensure_future(send(one, key)) for key in ("unanswered", "unsettled")]
                await until(lambda: len(api.sent) == 2)
                flushed_store.pause()
                answer.set()
                # Its answer is there, and its outcome cannot be recorded.
                answered = await mails[1]
                await one.kill()
            flushed_store.kill()
            flushed_store.start()
            with pytest.raises(ConnectionError):
                await mails[0]

            keys = ("unsent", "unanswered", "unsettled")
            ids = await two.until_listed("unknown", *keys)
            held = [await _again(two, key) for key in keys]
            sent_before = sorted(api.sent)
            api.manner = confirmed_after(answer)
            printed = await two.command(
                *("intents", "resolve", ids["unsent"], "--not-applied", "--note", "the outbox does not have it")
            )
            resolved = [await two.resolve(ids[key], "applied") for key in keys[1:]]
            last = [await _again(two, key) for key in keys]
            repeated = await _again(two, "unsent")

        assert answered.status == 200
        assert [(each.status, each.decision) for each in held] == [(409, "outcome-unknown")] * 3
        assert sent_before == ["unanswered", "unsettled"]
        assert "not_applied" in printed
        assert [each.status for each in resolved] == [200, 200]
        assert [each.decision for each in last] == ["forwarded", "replayed", "replayed"]
        assert [_resolved_by(each) for each in last[1:]] == ["operator", "operator"]
        assert (repeated.decision, repeated.body) == ("replayed", last[0].body)
        assert sorted(api.sent) == ["unanswered", "unsent", "unsettled"]


async def _again(gateway: Gateway, key: str) -> RawAnswer:
    """The same mail by a successor."""
    return await send(gateway, key, rule="unread" if key == "unsent" else "send", epoch=2)


def _resolved_by(answer: RawAnswer) -> object:
    assert answer.status == 200
    return json.loads(answer.body)["resolved_by"]


async def test_what_a_gateway_had_settled_before_it_was_killed_is_kept(shared_store: Server, tmp_path: Path) -> None:
    """The store is suspended when an answer comes, and the gateway is killed meanwhile: its word is read when the store
    goes on. Started again, it answers from the record, and finds by itself what nobody has settled."""
    answer = asyncio.Event()
    manners = {"settled": confirmed_after(answer), "unanswered": confirmed_after(asyncio.Event())}
    async with MailApi(manners=manners) as api:
        policies = write_policy(tmp_path, api.port, total="4s")
        options = ("--store-timeout", "1")
        async with mailing(policies, tmp_path, shared_store.url, "one", options=options) as (one,):
            # From here on the store knows the script that settles: it is told only its digest.
            await send(one, "before")
            mails = [asyncio.ensure_future(send(one, key)) for key in manners]
            await until(lambda: len(api.sent) == 3)
            shared_store.pause()
            answer.set()
            first = await mails[0]
            await one.kill()
            shared_store.resume()
            with pytest.raises(ConnectionError):
                await mails[1]

            await one.start()
            again = await send(one, "settled")
            await one.until_listed("unknown", "unanswered")
            unanswered = await send(one, "unanswered")

        assert (first.status, first.decision) == (200, "forwarded")
        assert (again.status, again.decision, again.body) == (200, "replayed", first.body)
        assert (unanswered.status, unanswered.decision) == (409, "outcome-unknown")
        assert sorted(api.sent) == ["before", "settled", "unanswered"]


async def test_an_api_that_sends_and_dies_is_not_made_to_send_again(shared_store: Server, tmp_path: Path) -> None:
    """kill -9 of the API before its answer: its caller is told that nobody knows; the API that is started again is not
    asked, and other mails pass."""
    api = MailProcess(tmp_path / "sent")
    async with api.running("receipt") as process:
        policies = write_policy(tmp_path, api.port)
        async with mailing(policies, tmp_path, shared_store.url, "one") as (one,):
            sending = asyncio.ensure_future(send(one, "receipt", box="out"))
            await until(lambda: api.sent == ["receipt"])
            process.kill()
            first = await sending
            async with api.running():
                again = await send(one, "receipt", box="out")
                other = await send(one, "invoice", box="out")

    assert (first.status, first.decision, first.problem["action"]) == (504, "outcome-unknown", "wait")
    assert (again.status, again.decision, again.problem["action"]) == (409, "outcome-unknown", "wait")
    assert (other.status, other.decision) == (200, "forwarded")
    assert api.sent == ["receipt", "invoice"]


async def test_an_answer_later_than_the_deadline_counts_while_it_is_waited_for(
    shared_store: Server, tmp_path: Path
) -> None:
    """Within `timeouts.late` it is recorded and replayed. What an API does after that nobody learns: the intent stays
    unknown, and is not sent again."""
    answer = asyncio.Event()
    manners = {"late": confirmed_after(answer), "later": sent_when_given_up}
    async with MailApi(manners=manners) as api:
        policies = write_policy(tmp_path, api.port, total="1s", late="2s")
        async with mailing(policies, tmp_path, shared_store.url, "one") as (one,):
            first = await asyncio.gather(send(one, "late"), send(one, "later"))
            between = await asyncio.gather(send(one, "late"), send(one, "later"))
            answer.set()
            await one.until_listed("applied", "late")
            late = await send(one, "late")
            await until(lambda: "later" in api.sent)
            later = await send(one, "later")
            listed = await one.intents("unknown")

        assert [(each.status, each.decision) for each in first] == [(504, "outcome-unknown")] * 2
        assert [(each.status, each.decision) for each in between] == [(409, "outcome-unknown")] * 2
        assert (late.status, late.decision, json.loads(late.body)["key"]) == (200, "replayed", "late")
        assert (later.status, later.decision) == (409, "outcome-unknown")
        assert [item["key"] for item in listed] == ["later"]
        assert sorted(api.sent) == ["late", "later"]


async def test_an_api_that_is_asked_too_early_is_not_believed(shared_store: Server, tmp_path: Path) -> None:
    """It breaks off, says that it has sent nothing, and then sends: only its later yes counts. A no that comes late
    enough frees the key."""

    async def sent_when_asked(mail: Mail) -> None:
        mail.hang_up()
        await until(lambda: mail.key in api.asked)
        mail.send()

    async def never_sent(mail: Mail) -> None:
        mail.hang_up()

    manners = {"slow": sent_when_asked, "lost": never_sent}
    async with MailApi(manners=manners) as api:
        policies = write_policy(tmp_path, api.port, late="3s")
        async with mailing(policies, tmp_path, shared_store.url, "one", "two") as (one, two):
            first = [await send(one, key, rule="asked") for key in manners]
            await until(lambda: api.sent == ["slow"])
            between = [await send(two, key, rule="asked") for key in manners]
            await one.until_listed("applied", "slow")
            slow = await send(two, "slow", rule="asked")
            await one.until_listed("not_applied", "lost")
            api.manners.clear()
            lost = [await send(two, "lost", rule="asked") for _ in range(2)]
            asked = [line for gateway in (one, two) for line in gateway.lines() if "too early" in str(line.get("why"))]

        assert [each.decision for each in first] == ["outcome-unknown"] * 2
        assert [each.status for each in between] == [409, 409]
        assert (slow.status, slow.decision, _resolved_by(slow)) == (200, "replayed", "query")
        assert json.loads(slow.body)["evidence"] == {"count": 1}
        assert [each.decision for each in lost] == ["forwarded", "replayed"]
        assert len(asked) >= 2
        assert sorted(api.sent) == ["lost", "slow"]
