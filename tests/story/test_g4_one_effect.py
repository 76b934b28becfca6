"""G4: one intent is sent once, whoever repeats it, through whichever gateway, and whatever dies in between."""

import asyncio
import json
import random
from collections import Counter
from pathlib import Path

import pytest

from tests.raw import RawAnswer
from tests.store.server import Server
from tests.story.gateways import Gateway
from tests.story.mail import body, insist, mailing, send, withheld, write_policy
from tests.story.mail_api import MailApi, confirmed_after, never_confirmed
from tests.until import until

pytestmark = pytest.mark.promise("G4")

STEPS = [f"step-{number}" for number in range(1, 21)]
MIDDLE = STEPS[11]


async def test_one_key_a_hundred_times_over_three_gateways_is_sent_once(shared_store: Server, tmp_path: Path) -> None:
    """Two workers each: the others are in progress, or get the same bytes; so do a hundred repeats by a successor."""
    answer = asyncio.Event()
    async with MailApi(manner=confirmed_after(answer)) as api:
        policies = write_policy(tmp_path, api.port)
        names = ("one", "two", "three")
        async with mailing(policies, tmp_path, shared_store.url, *names, options=("--workers", "2")) as gateways:
            over_all = [gateways[number % 3] for number in range(100)]
            sending = [asyncio.ensure_future(send(gateway, "receipt")) for gateway in over_all]
            await until(lambda: sum(each.done() for each in sending) >= 50)
            answer.set()
            first = await asyncio.gather(*sending)
            again = await asyncio.gather(*(send(gateway, "receipt", epoch=2) for gateway in over_all))

        decisions = Counter(each.decision for each in first)
        assert decisions["forwarded"] == 1
        assert decisions["intent-in-progress"] >= 50
        assert decisions.keys() <= {"forwarded", "intent-in-progress", "replayed"}
        assert len({each.body for each in [*first, *again] if each.status == 200}) == 1
        assert {(each.status, each.decision) for each in again} == {(200, "replayed")}
        assert api.sent == ["receipt"]


async def test_a_successor_repeats_all_steps_and_each_takes_effect_once(shared_store: Server, tmp_path: Path) -> None:
    """Its predecessor is in the middle of the twelfth, which the successor awaits; it gets the answers that were given,
    goes on from there, and the predecessor is refused."""
    answer = asyncio.Event()
    async with MailApi(manners={MIDDLE: confirmed_after(answer)}) as api:
        policies = write_policy(tmp_path, api.port)
        async with mailing(policies, tmp_path, shared_store.url, "one", "two") as (one, two):
            predecessor = asyncio.ensure_future(_work(one, epoch=41))
            await until(lambda: MIDDLE in api.sent)
            before = [await send(two, step, box="out", epoch=42) for step in STEPS[:12]]
            answer.set()
            told = await predecessor
            successor = [await insist(two, step, box="out", epoch=42) for step in STEPS]

        assert [each.decision for each in before] == ["replayed"] * 11 + ["intent-in-progress"]
        assert [each.decision for each in told] == ["forwarded"] * 12 + ["stale-epoch"]
        assert [each.decision for each in successor] == ["replayed"] * 12 + ["forwarded"] * 8
        assert [each.body for each in successor[:12]] == [each.body for each in told[:12]]
        assert api.sent == STEPS


async def test_a_successor_goes_on_when_its_predecessor_was_killed_in_the_middle(
    shared_store: Server, tmp_path: Path
) -> None:
    """kill -9 of the gateway, with the twelfth step sent and not answered: past its deadline the API is asked about it,
    and the successor goes on without anybody's help."""
    async with MailApi(manners={MIDDLE: never_confirmed}) as api:
        policies = write_policy(tmp_path, api.port, total="2s")
        async with mailing(policies, tmp_path, shared_store.url, "one", "two") as (one, two):
            predecessor = asyncio.ensure_future(_work(one, epoch=41, rule="asked"))
            await until(lambda: MIDDLE in api.sent)
            await one.kill()
            successor = [await insist(two, step, rule="asked", box="out", epoch=42) for step in STEPS]

        with pytest.raises(ConnectionError):
            await predecessor
        assert [each.decision for each in successor] == ["replayed"] * 12 + ["forwarded"] * 8
        assert json.loads(successor[11].body)["resolved_by"] == "query"
        assert api.sent == STEPS


async def _work(gateway: Gateway, *, epoch: int, rule: str = "send") -> list[RawAnswer]:
    """One step after the other, until one is refused."""
    answers: list[RawAnswer] = []
    for step in STEPS:
        answers.append(await send(gateway, step, rule=rule, box="out", epoch=epoch))
        if answers[-1].status != 200:
            break
    return answers


async def test_a_gateway_that_was_stopped_before_it_sent_frees_the_key(shared_store: Server, tmp_path: Path) -> None:
    """SIGSTOP past the deadline: meanwhile nobody knows, and nobody sends. It goes on, proves that it sent nothing, and
    the mail is sent once."""
    async with MailApi() as api:
        policies = write_policy(tmp_path, api.port, total="2s")
        async with mailing(policies, tmp_path, shared_store.url, "one", "two") as (one, two):
            async with withheld(one, "receipt") as client:
                one.pause()
                await client.send(body("receipt"))
                await two.until_listed("unknown", "receipt")
                meanwhile = await send(two, "receipt", rule="unread", epoch=2)
                sent_meanwhile = list(api.sent)
                one.go_on()
                told = await client.answer()
            last = await insist(two, "receipt", rule="unread", epoch=2)

        assert (meanwhile.status, meanwhile.decision) == (409, "outcome-unknown")
        assert sent_meanwhile == []
        assert str(told.problem["detail"]).startswith("Not forwarded")
        assert last.decision == "forwarded"
        assert api.sent == ["receipt"]


async def test_a_store_killed_in_the_middle_loses_no_intent(flushed_store: Server, tmp_path: Path) -> None:
    """Twenty agents, two gateways, kill -9 of the store and a new start on its directory: whoever repeats until it is
    told that its mail was sent has had it sent once, and nothing stays in flight."""
    async with MailApi() as api:
        policies = write_policy(tmp_path, api.port)
        options = ("--store-timeout", "1")
        async with mailing(policies, tmp_path, flushed_store.url, "one", "two", options=options) as (one, two):
            agents = [asyncio.ensure_future(_agent(number, (one, two))) for number in range(20)]
            await until(lambda: len(api.sent) >= 60)
            flushed_store.kill()
            refused = await send(one, "refused")
            flushed_store.start()
            answers = [answer for one_of in await asyncio.gather(*agents) for answer in one_of]
            flying = await two.intents("in_flight")
            unknown = await two.intents("unknown")

        assert (refused.status, refused.decision) == (503, "store-unavailable")
        assert len(answers) == 200
        assert {json.loads(answer.body)["key"] == key for key, answer in answers} == {True}
        assert Counter(api.sent) == Counter(key for key, _ in answers)
        assert (flying, unknown) == ([], [])


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_a_store_that_stops_again_and_again_doubles_nothing(shared_store: Server, tmp_path: Path) -> None:
    """SIGSTOP for up to three seconds, while one key is sent fifty times over two gateways: admissions and settlements
    come late or not at all, the mail is sent once, and whoever repeats it is told so."""
    drawn = random.Random(24)
    async with MailApi() as api:
        policies = write_policy(tmp_path, api.port)
        async with mailing(policies, tmp_path, shared_store.url, "one", "two") as gateways:
            for at in range(3):
                key = f"receipt-{at}"
                sending = [asyncio.ensure_future(send(gateways[number % 2], key)) for number in range(25)]
                shared_store.pause()
                sending += [asyncio.ensure_future(send(gateways[number % 2], key)) for number in range(25)]
                # How long the fault lasts; nothing is waited for.
                await asyncio.sleep(3 * drawn.random())
                shared_store.resume()
                told = Counter(answer.decision for answer in await asyncio.gather(*sending))
                after = [await insist(gateway, key, epoch=2) for gateway in gateways]

                assert told["forwarded"] <= 1
                assert after[1].decision == "replayed"

        assert api.sent == ["receipt-0", "receipt-1", "receipt-2"]


async def _agent(number: int, gateways: tuple[Gateway, Gateway]) -> list[tuple[str, RawAnswer]]:
    """Ten mails, each until it is sent, through both gateways in turn."""
    keys = [f"agent-{number}-{mail}" for mail in range(10)]
    return [
        (key, await insist(gateways[at % 2], key, box=f"agent-{number}")) for at, key in enumerate(keys, start=number)
    ]
