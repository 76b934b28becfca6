"""G5: every admitted write ends as applied, not_applied or unknown, by evidence; an unknown one is held until somebody
knows."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.raw import RawAnswer
from tests.store.server import Server
from tests.story.gateways import Gateway
from tests.story.mail import insist, mailing, send, withheld, write_policy
from tests.story.mail_api import Mail, MailApi, MailProcess, confirmed_after, never_confirmed, sent_when_given_up
from tests.until import until

pytestmark = pytest.mark.promise("G5")


async def test_a_gateway_killed_at_any_point_leaves_what_somebody_has_to_resolve(
    flushed_store: Server, tmp_path: Path
) -> None:
    """Killed before one mail is sent, before the answer to another, and before a third one's answer is settled: past
    the deadline all are unknown and none is sent again, until an operator says what became of them."""
    keys = ("unsent", "unanswered", "unsettled")
    async with MailApi() as api:
        policies = write_policy(tmp_path, api.port, total="3s")
        options = ("--store-timeout", "1")
        async with mailing(policies, tmp_path, flushed_store.url, "one", "two", options=options) as (one, two):
            answered = await _kill_in_the_middle_of_three(one, flushed_store, api)
            ids = await two.until_listed("unknown", *keys)
            held = [await _again(two, key) for key in keys]
            sent_before = sorted(api.sent)
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


async def _kill_in_the_middle_of_three(gateway: Gateway, store: Server, api: MailApi) -> RawAnswer:
    """kill -9 of the gateway, and of the store, so that what it was told last is lost; the store is started again.

    Returns the answer to the mail whose outcome could not be recorded.
    """
    answer = asyncio.Event()
    api.manners |= {"unanswered": never_confirmed, "unsettled": confirmed_after(answer)}
    async with withheld(gateway, "unsent"):
        mails = [asyncio.ensure_future(send(gateway, key)) for key in ("unanswered", "unsettled")]
        await until(lambda: len(api.sent) == 2)
        store.pause()
        answer.set()
        answered = await mails[1]
        await gateway.kill()
    store.kill()
    store.start()
    await asyncio.gather(mails[0], return_exceptions=True)
    return answered


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
    manners = {"settled": confirmed_after(answer), "unanswered": never_confirmed}
    async with MailApi(manners=manners) as api:
        policies = write_policy(tmp_path, api.port, total="3s")
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
            await asyncio.gather(mails[1], return_exceptions=True)

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
    """Within `timeouts.late` it is recorded and replayed, and where it denies what an operator said, that is an
    incident. What an API does after that nobody learns: the intent stays unknown, and is not sent again."""
    answer = asyncio.Event()
    manners = {"late": confirmed_after(answer), "denied": confirmed_after(answer), "later": sent_when_given_up}
    async with MailApi(manners=manners) as api:
        policies = write_policy(tmp_path, api.port, total="1s", late="3s")
        async with mailing(policies, tmp_path, shared_store.url, "one") as (one,):
            first = await asyncio.gather(*(send(one, key) for key in manners))
            between = [await send(one, key) for key in manners]
            await one.resolve((await one.until_listed("unknown", "denied"))["denied"], "not_applied")
            answer.set()
            await one.until_listed("applied", "late", "denied")
            late = [await send(one, key) for key in ("late", "denied")]
            await until(lambda: "later" in api.sent)
            later = await send(one, "later")
            listed = await one.intents("unknown")
            incidents = await one.counted("fencegate_incidents_total", "kind")

        assert [(each.status, each.decision) for each in first] == [(504, "outcome-unknown")] * 3
        assert [(each.status, each.decision) for each in between] == [(409, "outcome-unknown")] * 3
        assert [(each.decision, each.body) for each in late] == [
            ("replayed", api.confirmed["late"]),
            ("replayed", api.confirmed["denied"]),
        ]
        assert +incidents == {"late-write": 1}
        assert (later.status, later.decision) == (409, "outcome-unknown")
        assert [item["key"] for item in listed] == ["later"]
        assert sorted(api.sent) == ["denied", "late", "later"]


async def test_an_api_that_is_asked_too_early_is_not_believed(shared_store: Server, tmp_path: Path) -> None:
    """It breaks off, says that it has sent nothing, and then sends: its no would let a repeat send a second time. Only
    its later yes counts."""
    go_on = asyncio.Event()

    async def sent_after_all(mail: Mail) -> None:
        mail.hang_up()
        await go_on.wait()
        mail.send()

    async with MailApi(manner=sent_after_all) as api:
        policies = write_policy(tmp_path, api.port, late="30s")
        async with mailing(policies, tmp_path, shared_store.url, "one") as (one,):
            first = await send(one, "receipt", rule="asked")
            await until(lambda: "receipt" in api.asked)
            between = await send(one, "receipt", rule="asked")
            go_on.set()
            last = await insist(one, "receipt", rule="asked")
            shown = await one.command("intents", "show", json.loads(last.body)["intent"], "--json")
            unclear = [line["why"] for line in one.lines() if line["event"] == "an intent stays unknown"]

        assert (first.status, first.decision) == (504, "outcome-unknown")
        assert (between.status, between.decision) == (409, "outcome-unknown")
        assert unclear[0] == "the query answered 404, too early for a no"
        assert (last.decision, _resolved_by(last)) == ("replayed", "query")
        # The query names the agent's own key, which may be another's too: only the operator sees what it answered.
        assert "evidence" not in json.loads(last.body)
        assert json.loads(shown)["evidence"] == {"count": 1}
        assert api.sent == ["receipt"]
