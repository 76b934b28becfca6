"""Budgets in the store: what is reserved is reserved for every gateway, once for each action, and exactly."""

import asyncio
import json
from collections.abc import Awaitable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
import redis
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.core.budget import UNIT, Budget
from gateway.core.decision import Refused
from gateway.core.rule import Rule
from gateway.core.write import TicketId, Write
from gateway.store.budgets import confirm, give_back, reserve
from gateway.store.fence import FenceStore
from gateway.store.keys import budget_keys
from gateway.store.reply import intent_of
from tests.store.fences import PLAIN, bare, keyed, opened

SHORT_S, LONG_S = 1000, 3000
COUNTED = Budget("tenant", SHORT_S, count=3)
SUMMED = Budget("tenant", LONG_S, count=5, total=10 * UNIT, value="/amount")
BOTH = replace(PLAIN, budgets=(COUNTED, SUMMED))
TAG = budget_keys(PLAIN.upstream.name, PLAIN.name)


def write(amount: int, action: str = "one", of: Rule = BOTH) -> Write:
    """An intent that costs so many millionths."""
    return replace(keyed(bare(1, of=of), digest=f"{action:-<22}"), costs=(0, amount)[-len(of.budgets) :])


def told(reply: Refused | None) -> str:
    return "reserved" if reply is None else f"{reply.decision.name} {reply.facts.retry_after_s}"


def pass_time(raw: Any, ms: int) -> None:
    """All that is there becomes so much older."""
    for key in raw.keys(f"{TAG}b:*"):
        for id, at in raw.zrange(key, 0, -1, withscores=True):
            raw.zadd(key, {id: at - ms})
    for key in raw.keys(f"{TAG}r:*"):
        for attempt, packed in raw.hgetall(key).items():
            claim = json.loads(packed)
            raw.hset(key, attempt, json.dumps(claim | {"at": str(int(claim["at"]) - ms)}))


@dataclass
class Oracle:
    """The budgets in plain Python: every claim, and what all of them come to."""

    now_s: int = 0
    claims: dict[str, dict[str, tuple[int, int]]] = field(default_factory=dict)

    def taken(self, window_s: int) -> dict[str, int]:
        """By action the most that any of its attempts claims, as far as they are within the window."""
        live = {
            action: [amount for at, amount in of.values() if at + window_s > self.now_s]
            for action, of in self.claims.items()
        }
        return {action: max(amounts) for action, amounts in live.items() if amounts}

    def reserve(self, action: str, attempt: str, amount: int) -> bool:
        of = self.claims.setdefault(action, {})
        known = of.get(attempt)
        before = self.taken(SHORT_S), self.taken(LONG_S)
        of.setdefault(attempt, (self.now_s, amount))
        counted, summed = self.taken(SHORT_S), self.taken(LONG_S)
        grows = sum(summed.values()) > sum(before[1].values())
        fits = (
            (action in before[0] or len(counted) <= 3)
            and (action in before[1] or len(summed) <= 5)
            and (not grows or sum(summed.values()) <= 10 * UNIT)
        )
        if not fits and known is None:
            del of[attempt]
        return fits

    def confirm(self, action: str) -> None:
        """It was done. The same key is another action from then on."""
        if self.claims.get(action):
            self.claims[f"{action} {len(self.claims)}"] = self.claims.pop(action)

    def give_back(self, action: str, attempt: str) -> None:
        self.claims.get(action, {}).pop(attempt, None)


actions = st.sampled_from(("one", "two", "three", "four", "five", "six"))
attempts = st.sampled_from(("a", "b"))
amounts = st.sampled_from((0, 1, UNIT, 2_500_000, 3 * UNIT + 1, 9 * UNIT, 10 * UNIT))
steps = st.lists(
    st.one_of(
        *[st.tuples(st.just("reserve"), actions, attempts, amounts)] * 4,
        st.tuples(st.just("give back"), actions, attempts, st.just(0)),
        st.tuples(st.just("confirm"), actions, attempts, st.just(0)),
        st.tuples(st.just("pass"), st.just(""), st.just(""), st.sampled_from((400, 1100))),
    ),
    max_size=25,
)


@dataclass
class Compared:
    """One story told to the scripts and to the oracle."""

    store: FenceStore
    raw: Any
    oracle: Oracle = field(default_factory=Oracle)
    confirmed: int = 0

    async def step(self, what: str, action: str, attempt: str, amount: int) -> None:
        # No attempt has the name of one that was before what was confirmed.
        attempt = f"{attempt}{self.confirmed}"
        one, id = write(amount, action), TicketId(attempt)
        match what:
            case "reserve":
                reply = await reserve(self.store, one, id)
                assert (reply is None) == self.oracle.reserve(action, attempt, amount)
            case "give back":
                await give_back(self.store, one.rule, intent_of(one, id), attempt)
                self.oracle.give_back(action, attempt)
            case "confirm":
                await confirm(self.store, one.rule, intent_of(one, id))
                self.oracle.confirm(action)
                self.confirmed += 1
            case "pass":
                pass_time(self.raw, amount * 1000)
                self.oracle.now_s += amount

    def check(self) -> None:
        """What counts is what the oracle counts, and the sum is that of all that is kept."""
        for key in self.raw.keys(f"{TAG}b:*"):
            window_s = LONG_S if b"/amount" in key else SHORT_S
            now_ms = int(self.raw.time()[0]) * 1000
            live = self.raw.zcount(key, now_ms - window_s * 1000 + 60_000, "+inf")
            assert live == len(self.oracle.taken(window_s))
            kept = {id: int(value) for id, value in self.raw.hgetall(key.replace(b"b:", b"v:", 1)).items()}
            assert kept.pop(b"=", 0) == sum(kept.values())


@pytest.fixture(scope="module")
def loop() -> Any:
    with asyncio.Runner() as runner:
        yield runner


@settings(max_examples=40, derandomize=True)
@given(story=steps)
def test_the_scripts_agree_with_the_oracle(loop: asyncio.Runner, store_server: Any, story: Any) -> None:
    """Whatever is reserved, repeated and given back in whatever order, and however much time passes."""
    loop.run(_compare(store_server.url, story))


async def _compare(url: str, story: list[tuple[str, str, str, int]]) -> None:
    with redis.Redis.from_url(url) as raw:
        raw.flushall()
        async with opened(url) as store:
            compared = Compared(store, raw)
            for step in story:
                await compared.step(*step)
                compared.check()


async def test_a_repeat_takes_nothing_more(store: FenceStore) -> None:
    """The reply was lost and the call comes again, also where nothing is left."""
    one = write(10 * UNIT)
    replies = [told(await reserve(store, one, TicketId("t"))) for _ in range(3)]

    assert replies == ["reserved"] * 3
    assert told(await reserve(store, write(1, "two"), TicketId("u"))) == f"quota-exceeded {LONG_S}"


@pytest.mark.parametrize(("in_doubt", "left"), [(False, 2), (True, 3)], ids=["another action", "the same one"])
async def test_a_key_whose_record_is_gone_names_another_action(
    store: FenceStore, raw: Any, in_doubt: bool, left: int
) -> None:
    """Nobody can tell what became of the one before, so that both count; unless its record says that it is in doubt."""
    one = write(1)
    assert await reserve(store, one, TicketId("t")) is None
    for key in raw.keys(f"{TAG}r:*"):
        raw.hset(key, "t", json.dumps(json.loads(raw.hget(key, "t")) | {"proves": "1"}))
    assert await reserve(store, one, TicketId("u"), in_doubt=in_doubt) is None

    told_of = [await reserve(store, write(1, f"more {at}"), TicketId(f"m{at}")) for at in range(3)]
    assert sum(reply is None for reply in told_of) == left - 1


async def test_it_is_told_when_there_is_room(store: FenceStore, raw: Any) -> None:
    """When so many of the oldest have left that this one fits."""
    for at, action in enumerate(("one", "two")):
        assert await reserve(store, write(4 * UNIT, action), TicketId(f"t{at}")) is None
        pass_time(raw, 100_000)

    first = await reserve(store, write(5 * UNIT, "three"), TicketId("t3"))
    both = await reserve(store, write(7 * UNIT, "three"), TicketId("t3"))
    assert (told(first), told(both)) == (f"quota-exceeded {LONG_S - 200}", f"quota-exceeded {LONG_S - 100}")


async def test_gateways_in_a_race_share_what_is_left(store_url: str) -> None:
    """Of many calls at one instant exactly as many are granted as there is room for."""
    of = replace(PLAIN, budgets=(Budget("tenant", LONG_S, total=3 * UNIT, value="/amount"),))
    async with opened(store_url) as one, opened(store_url) as two, opened(store_url) as three:
        calls: list[Awaitable[Refused | None]] = [
            reserve(store, write(100_000, f"{at}-{store.gateway[:8]}", of), store.new_ticket(bare(1).resource))
            for at in range(20)
            for store in (one, two, three)
        ]
        replies = await asyncio.gather(*calls)

    assert sum(reply is None for reply in replies) == 30


async def test_thousands_leave_a_window_together(store: FenceStore, raw: Any) -> None:
    """What they added up to goes with them, and nothing else does."""
    assert await reserve(store, write(UNIT), store.new_ticket(bare(1).resource)) is None
    entries, amounts = (next(key for key in raw.keys(f"{TAG}{kind}:*") if b"/amount" in key) for kind in ("b", "v"))
    raw.zadd(entries, {f"old-{at}": at + 1 for at in range(2500)})
    raw.hset(amounts, mapping={f"old-{at}": at for at in range(1, 2500, 2)})
    raw.hincrby(amounts, "=", sum(range(1, 2500, 2)))

    assert await reserve(store, write(2 * UNIT, "two"), store.new_ticket(bare(1).resource)) is None
    assert raw.zcard(entries) == 2
    assert sorted(map(int, raw.hvals(amounts))) == [UNIT, 2 * UNIT, 3 * UNIT]


async def test_nothing_is_left_of_an_idle_budget(store: FenceStore, raw: Any) -> None:
    """All that it has written ends with its window, and its attempts' lives."""
    await reserve(store, write(UNIT), TicketId("t"))

    keys = raw.keys(f"{TAG}*")
    assert len(keys) == 6
    assert all(0 < raw.pttl(key) <= (LONG_S + 60) * 1000 for key in keys)
