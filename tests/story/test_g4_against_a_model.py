"""G4 under load: five thousand mails, agents that leave at any instant and repeat, a store that is slow, a gateway that
is killed; every answer and every end is one that the model allows."""

import asyncio
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

from tests.store.server import Server
from tests.story.errands import MAILS, Errand, Fateful, Try, errands
from tests.story.gateways import Gateway
from tests.story.mail import mailing, send, write_policy
from tests.story.mail_api import MailApi
from tests.story.reckoning import Reckoning
from tests.until import until

pytestmark = [pytest.mark.promise("G4"), pytest.mark.slow]

SEED = 31
AGENTS = 48
# Every call waits that long, and none so long that its write is refused.
STORE_STOPS_S = 0.15


@dataclass
class Books:
    """What agents were told and what the API did, kept apart from the gateways. `killed`: the first one was."""

    reckonings: dict[str, Reckoning] = field(default_factory=dict)
    impossible: list[str] = field(default_factory=list)
    calls: Counter[str] = field(default_factory=Counter)
    bodies: dict[str, set[bytes]] = field(default_factory=dict)
    told: Counter[str] = field(default_factory=Counter)
    told_by_two: Counter[str] = field(default_factory=Counter)
    asked_of_two: int = 0
    left: int = 0
    killed: bool = False

    def have_begun(self, errands: int) -> bool:
        return len(self.reckonings) >= errands


# Twenty seconds on two idle cores.
@pytest.mark.timeout(180)
async def test_five_thousand_mails_are_sent_once_each(flushed_store: Server, tmp_path: Path) -> None:
    """No answer, no end in the table and no number of calls that the model does not allow; nothing stays in flight."""
    books = Books()
    chance = random.Random(SEED)
    todo = list(errands(chance))

    async with MailApi(manner=Fateful(todo, books.calls, chance)) as api:
        policies = write_policy(tmp_path, api.port)
        async with mailing(policies, tmp_path, flushed_store.url, "one", "two") as gateways:
            disturbing = asyncio.ensure_future(_disturb(gateways[0], flushed_store, books))
            waiting = iter(todo)
            await asyncio.gather(*(_agent(waiting, gateways, books) for _ in range(AGENTS)))
            await disturbing
            states = await _states(gateways[1])
            decided = await gateways[1].counted("fencegate_requests_total", "decision")

    told, table = dict(books.told), dict(Counter(states.values()))
    print(f"{books.told.total()} answers {told}, {books.left} agents left, {len(api.sent)} mails sent, table {table}")
    assert books.impossible == []
    ends = {key: (states.get(key), books.calls[key]) for key in books.reckonings}
    assert [f"{key} {end}" for key, end in ends.items() if not books.reckonings[key].ends(*end)] == []
    assert Counter(api.sent) == {key: 1 for key, each in books.reckonings.items() if each.is_sent(books.calls[key])}
    assert {key for key in books.bodies if books.bodies[key] != {api.confirmed[key]}} == set()
    assert {states[key] for key in api.sent} <= {"applied", "unknown"}
    assert {key for key, state in states.items() if state == "applied"} <= set(api.sent)
    assert books.told_by_two <= decided
    assert decided.total() <= books.asked_of_two


async def _agent(waiting: Iterator[Errand], gateways: list[Gateway], books: Books) -> None:
    """One errand after the other."""
    for errand in waiting:
        reckoning = books.reckonings[errand.key] = Reckoning(errand.fates)
        for each in errand.tries:
            books.asked_of_two += each.gateway
            await _try_once(errand, each, gateways[each.gateway], books, reckoning)


async def _try_once(errand: Errand, each: Try, gateway: Gateway, books: Books, reckoning: Reckoning) -> None:
    """One request, its answer held against the model."""
    doomed = each.gateway == 0 and not books.killed
    try:
        async with asyncio.timeout(each.leaves_after_s):
            answer = await send(gateway, errand.key, box=errand.box)
    except ConnectionRefusedError:
        return
    except (TimeoutError, ConnectionError):
        books.left += 1
        reckoning.unanswered(doomed=doomed)
        return
    assert answer.decision is not None
    books.told[answer.decision] += 1
    books.told_by_two[answer.decision] += each.gateway
    if answer.status == 200:
        books.bodies.setdefault(errand.key, set()).add(answer.body)
    if not reckoning.answered(answer):
        books.impossible.append(f"{errand}: {answer.status} {answer.decision}")


async def _disturb(one: Gateway, store: Server, books: Books) -> None:
    """A gateway is killed and started again, and the store stands still now and then."""
    for at in range(MAILS // 10, MAILS, MAILS // 10):
        await until(partial(books.have_begun, at), within_s=60)
        if at == MAILS // 2:
            await one.kill()
            books.killed = True
            await one.start()
        store.pause()
        await asyncio.sleep(STORE_STOPS_S)
        store.resume()


async def _states(gateway: Gateway) -> dict[str, str]:
    """The state of each mail in the table, once nothing is in flight."""

    async def nothing_flies() -> bool:
        return not await gateway.intents("in_flight")

    await until(nothing_flies)
    ended = {state: await gateway.intents(state) for state in ("applied", "not_applied", "unknown")}
    return {str(item["key"]): state for state, items in ended.items() for item in items}
