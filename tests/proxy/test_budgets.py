"""Budgets through the whole gateway: what passes, what is told beyond them, and what is given back."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gateway.policy.load import load_policies
from gateway.policy.ruleset import RuleSet
from gateway.store.budgets import reserve
from gateway.store.intents import Resolve, resolve
from gateway.store.parking import Decide, decide
from gateway.store.reservations import judge_reservations
from gateway.store.views.intent_views import intents
from tests.raw import RawAnswer, ask
from tests.recording import RecordingUpstream, Seen, answering
from tests.stack import Stack, stack
from tests.store.due import make_due
from tests.store.fences import bare, opened
from tests.until import until

POLICY = """
upstream: pay
url: http://localhost:{{port}}
mount: {{{{path: /}}}}
timeouts: {{{{connect: 1s, total: 2s, late: 1s}}}}
writes:
  - name: pay
    match: POST /accounts/{{{{id}}}}/payments
    resource: account/{{{{path.id}}}}
    authority: header
    intent: {{{{mode: optional}}}}
    budget: [{budget}]
"""
COUNTED = POLICY.format(budget="{{per: tenant, window: 1h, count: 2}}")
SUMMED = POLICY.format(budget="{{per: tenant, window: 1h, value: json:/amount, total: 100}}")
REFUSED = b"HTTP/1.1 409 Conflict\r\nContent-Length: 0\r\n\r\n"


async def pay(
    gate: Stack, key: str | None = None, amount: str | None = "1", *, epoch: int = 1, holder: str = "a", id: str = "1"
) -> RawAnswer:
    body = b"{}" if amount is None else b'{"amount": %s}' % amount.encode()
    named = () if key is None else (f"Idempotency-Key: {key}",)
    proof = (f"Fencing-Token: {epoch}", f"Fencing-Holder: {holder}", "Content-Type: application/json")
    return await ask(gate.port, "POST", f"/accounts/{id}/payments", *proof, *named, body=body)


async def judge(store_url: str, directory: Path) -> None:
    """What the sweeper does with what is due."""
    rules = load_policies(directory / "policies", {})
    assert isinstance(rules, RuleSet)
    async with opened(store_url) as store:
        for entry in rules.entries:
            await judge_reservations(store, entry.rule)


async def test_beyond_the_count_nothing_is_sent(store_url: str, tmp_path: Path) -> None:
    """As many writes as the budget allows; then 429, with when there is room again and which budget it was."""
    async with stack(store_url, tmp_path, COUNTED) as gate:
        told = [await pay(gate) for _ in range(3)]

        assert [answer.status for answer in told] == [200, 200, 429]
        assert len(gate.upstream.seen) == 2
        refused = told[-1]
        assert refused.decision == "quota-exceeded"
        assert refused.value("Retry-After") is not None and 3590 <= int(refused.value("Retry-After") or 0) <= 3600
        assert "2 writes" in str(refused.problem["detail"]) and "tenant" in str(refused.problem["detail"])


async def test_amounts_add_up_exactly(store_url: str, tmp_path: Path) -> None:
    """A hundred tenths are ten; the last millionth that is left can be spent, and not one more."""
    async with stack(store_url, tmp_path, SUMMED) as gate:
        told = [(await pay(gate, amount=amount)).status for amount in ("99.9", "0.1000001", "1e-1", "0.000001", "0")]

        assert told == [200, 400, 200, 429, 200]


async def test_an_amount_counts_by_its_value(store_url: str, tmp_path: Path) -> None:
    """Whatever its spelling: `5.50` is five and a half, `1E2` a hundred, `9.45E1` what is left then."""
    async with stack(store_url, tmp_path, SUMMED) as gate:
        told = [(await pay(gate, amount=amount)).status for amount in ("5.50", "1E2", "9.45E1", "0.000001")]

        assert told == [200, 429, 200, 429]


@pytest.mark.parametrize("amount", ["100.000001", "1e308", "9007199254740992"])
async def test_what_is_more_than_all_of_it_is_never_done(store_url: str, tmp_path: Path, amount: str) -> None:
    """There is nothing to wait for, and the caller is told so."""
    async with stack(store_url, tmp_path, SUMMED) as gate:
        refused = await pay(gate, amount=amount)

        assert (refused.status, refused.decision, refused.problem["action"]) == (429, "quota-exceeded", "stop")
        assert refused.value("Retry-After") is None


@pytest.mark.parametrize(
    ("amount", "decision"),
    [
        ("-1", "resource-unresolved"),
        ("-0", "resource-unresolved"),
        ('"1"', "resource-unresolved"),
        ("null", "resource-unresolved"),
        ("true", "resource-unresolved"),
        ("[1]", "resource-unresolved"),
        ('{"value": 9}', "resource-unresolved"),
        ("-5000", "resource-unresolved"),
        ("1e400", "ambiguous-target"),
        ("0.0000001", "resource-unresolved"),
        ("00", "ambiguous-target"),
        ("1.0000000000000001", "resource-unresolved"),
        ("9007199254740993", "resource-unresolved"),
        ("1e-22", "resource-unresolved"),
        ("1e-400", "resource-unresolved"),
        ('1, "amount\\u0000": 2', "ambiguous-target"),
        (None, "resource-unresolved"),
        ("NaN", "ambiguous-target"),
        ('1, "amount": 2', "ambiguous-target"),
        ('1, "Amount": 2', "ambiguous-target"),
        ('1, "am_ount": 2', "ambiguous-target"),
        ('1, "!amount": 2', "ambiguous-target"),
    ],
)
async def test_what_is_no_amount_moves_nothing(
    store_url: str, tmp_path: Path, amount: str | None, decision: str
) -> None:
    """A 400 before the fence: no epoch is seen, nothing is counted, nothing is sent."""
    async with stack(store_url, tmp_path, SUMMED) as gate:
        refused = await pay(gate, amount=amount, epoch=9)
        passed = await pay(gate, amount="100", epoch=1)

        assert (refused.status, refused.decision, refused.problem["action"]) == (400, decision, "fix-request")
        assert passed.status == 200


@pytest.mark.parametrize(
    ("query", "kind", "body", "decision"),
    [
        ("?amount=5000", "application/json", b'{"amount": 1}', "ambiguous-target"),
        ("?Amount=5000", "application/json", b'{"amount": 1}', "ambiguous-target"),
        ("?amount=5000", "application/json", b"{}", "resource-unresolved"),
        ("", "application/json", b'[{"amount": 5000}]', "resource-unresolved"),
        ("", "application/json", b"", "resource-unresolved"),
        ("", "application/x-www-form-urlencoded", b"amount=5000", "ambiguous-target"),
        ("", "text/json", b'{"amount": 1}', "ambiguous-target"),
    ],
)
async def test_an_amount_stands_in_the_body_alone(
    store_url: str, tmp_path: Path, query: str, kind: str, body: bytes, decision: str
) -> None:
    """Beside it or in place of it no query names one, nor a form, nor what is JSON to some."""
    async with stack(store_url, tmp_path, SUMMED) as gate:
        fields = ("Fencing-Token: 9", "Fencing-Holder: a", f"Content-Type: {kind}")
        refused = await ask(gate.port, "POST", f"/accounts/1/payments{query}", *fields, body=body)
        passed = await pay(gate, amount="100", epoch=1)

        assert (refused.status, refused.decision) == (400, decision)
        assert passed.status == 200


async def test_replays_and_refusals_cost_nothing(store_url: str, tmp_path: Path) -> None:
    """And where nothing is left they are told what they would be told otherwise."""
    async with stack(store_url, tmp_path, COUNTED) as gate:
        first = await pay(gate, "k-1", epoch=5)
        told = [(await pay(gate, "k-1", epoch=5)).decision for _ in range(3)]
        told += [(await pay(gate, epoch=4)).decision for _ in range(3)]
        last = await pay(gate, "k-2", epoch=5)
        beyond = await pay(gate, "k-3", epoch=5)

        assert [first.status, last.status, beyond.status] == [200, 200, 429]
        assert told == ["replayed"] * 3 + ["stale-epoch"] * 3
        assert (await pay(gate, "k-1", epoch=5)).decision == "replayed"
        assert (await pay(gate, "k-1", "7", epoch=5)).decision == "intent-mismatch"
        assert (await pay(gate, epoch=4)).decision == "stale-epoch"
        assert (await pay(gate, epoch=5, holder="b")).decision == "holder-mismatch"


async def test_what_was_not_applied_is_given_back(store_url: str, tmp_path: Path) -> None:
    """Proved by the upstream's refusal, or because nothing was sent."""
    async with stack(store_url, tmp_path, COUNTED, RecordingUpstream(answering(REFUSED))) as gate:
        refused = [(await pay(gate, key)).status for key in (None, "k-1", "k-1", None, "k-2")]
        gate.upstream.answer = answering(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        after = [(await pay(gate, key)).status for key in ("k-1", None, None)]

        assert refused == [409] * 5
        assert after == [200, 200, 429]


async def test_an_unknown_write_keeps_what_it_took(store_url: str, raw: Any, tmp_path: Path) -> None:
    """Until somebody has found out that it was not applied; a repeat of it is answered and takes nothing."""
    broken = RecordingUpstream(answering(b"", close=True))
    async with stack(store_url, tmp_path, COUNTED, broken) as gate:
        unknown = [await pay(gate, f"k-{at}", id=str(at)) for at in (1, 2)]
        beyond = await pay(gate, id="3")
        repeated = await pay(gate, "k-1", id="1")

        assert [answer.decision for answer in unknown] == ["outcome-unknown"] * 2
        assert (beyond.decision, repeated.decision) == ("quota-exceeded", "outcome-unknown")

        async with opened(store_url) as store:
            [record, _] = sorted((await intents(store, "unknown", None)).items, key=lambda one: one.resource)
            await resolve(store, record, Resolve("not_applied", "operator", "looked", "me"))
        make_due(raw)
        await judge(store_url, tmp_path)
        gate.upstream.answer = answering(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        assert [(await pay(gate, id=id)).status for id in ("3", "4")] == [200, 429]


@pytest.mark.parametrize("per", ["tenant", "principal", "holder", "resource"])
async def test_each_has_its_own(store_url: str, tmp_path: Path, per: str) -> None:
    """What one holder or one resource has used is not used for the others."""
    policy = POLICY.format(budget=f"{{{{per: {per}, window: 1h, count: 1}}}}")
    async with stack(store_url, tmp_path, policy) as gate:
        told = [(await pay(gate, id=id, holder=holder)).status for id, holder in (("1", "a"), ("2", "a"), ("3", "b"))]

        assert told == {"holder": [200, 429, 200], "resource": [200, 200, 200]}.get(per, [200, 429, 429])


async def test_a_lease_holder_need_not_name_itself(store_url: str, tmp_path: Path) -> None:
    """The budget of a holder is found by its lease."""
    policy = POLICY.format(budget="{{per: holder, window: 1h, count: 1}}").replace("authority: header", "")
    async with stack(store_url, tmp_path, policy) as gate:
        statuses = []
        for holder, id in (("a", "1"), ("a", "2"), ("b", "3")):
            await gate.lease(f"account/{id}", holder)
            answer = await gate.write(f"/accounts/{id}/payments", holder=holder, method="POST")
            statuses.append(answer.status)

        assert statuses == [200, 429, 200]


async def test_every_budget_must_have_room(store_url: str, tmp_path: Path) -> None:
    """What one of them refuses takes nothing of the others."""
    both = "{{per: resource, window: 1h, count: 1}}, {{per: tenant, window: 2h, count: 2}}"
    async with stack(store_url, tmp_path, POLICY.format(budget=both)) as gate:
        told = [await pay(gate, id=id) for id in ("1", "1", "1", "2", "3")]

        assert [answer.status for answer in told] == [200, 429, 429, 200, 429]
        assert "each resource" in str(told[1].problem["detail"])
        assert "each tenant" in str(told[4].problem["detail"])


async def test_a_rule_that_observes_says_what_it_would(store_url: str, tmp_path: Path) -> None:
    """It takes what it would take, and forwards what is beyond."""
    policy = COUNTED.replace("authority: header", "authority: header\n    mode: observe")
    async with stack(store_url, tmp_path, policy) as gate:
        told = [await pay(gate) for _ in range(3)]

        assert [answer.status for answer in told] == [200, 200, 200]
        assert told[2].decision == "observed" and told[2].value("Fencing-Would") == "quota-exceeded"


async def test_three_gateways_never_exceed_it_by_one(store_url: str, tmp_path: Path) -> None:
    """A race for what is left is won exactly as often as the budget says."""
    policy = POLICY.format(budget="{{per: tenant, window: 1h, value: json:/amount, total: 10}}")
    (tmp_path / "b").mkdir()
    (tmp_path / "c").mkdir()
    async with (
        stack(store_url, tmp_path, policy) as one,
        stack(store_url, tmp_path / "b", policy) as two,
        stack(store_url, tmp_path / "c", policy) as three,
    ):
        calls = [pay(gate, amount="0.5", id=str(at)) for at in range(12) for gate in (one, two, three)]
        told = await asyncio.gather(*calls)

        assert sorted({answer.status for answer in told}) == [200, 429]
        assert sum(answer.status == 200 for answer in told) == 20
        assert sum(len(gate.upstream.seen) for gate in (one, two, three)) == 20


async def test_forty_at_once_get_what_is_left_and_no_more(store_url: str, tmp_path: Path) -> None:
    """Two gateways, amounts that are no whole part of what is left: the last of it stays."""
    (tmp_path / "b").mkdir()
    async with stack(store_url, tmp_path, SUMMED) as one, stack(store_url, tmp_path / "b", SUMMED) as other:
        await pay(one, amount="30.2", id="0")
        calls = [pay(gate, amount="10", id=str(at)) for at in range(1, 21) for gate in (one, other)]
        told = await asyncio.gather(*calls)

        assert sum(answer.decision == "forwarded" for answer in told) == 6
        assert {answer.decision for answer in told} == {"forwarded", "quota-exceeded"}


@pytest.mark.parametrize(
    ("budget", "amount", "asked", "done"),
    [
        ("{{per: tenant, window: 1d, value: json:/amount, total: 100}}", "7", 40, 14),
        ("{{per: holder, window: 1d, count: 3}}", "0", 20, 3),
    ],
    ids=["a total", "a count"],
)
async def test_a_race_of_equals_fills_a_budget(
    store_url: str, tmp_path: Path, budget: str, amount: str, asked: int, done: int
) -> None:
    """As many of them as fit, over two gateways, and each of those once."""
    policy = POLICY.format(budget=budget)
    (tmp_path / "b").mkdir()
    async with stack(store_url, tmp_path, policy) as one, stack(store_url, tmp_path / "b", policy) as other:
        calls = [pay((one, other)[at % 2], amount=amount, id=str(at)) for at in range(asked)]
        told = [answer.decision for answer in await asyncio.gather(*calls)]

        assert [told.count("forwarded"), told.count("quota-exceeded")] == [done, asked - done]
        assert len(one.upstream.seen) + len(other.upstream.seen) == done


async def test_an_attempt_whose_gateway_died_is_given_back(store_url: str, raw: Any, tmp_path: Path) -> None:
    """One that was stopped before its admission has left no record, which proves that nothing was done."""
    async with stack(store_url, tmp_path, COUNTED) as gate:
        await leave_reservations(store_url, tmp_path, 2)
        assert (await pay(gate)).decision == "quota-exceeded"
        await judge(store_url, tmp_path)
        assert (await pay(gate)).decision == "quota-exceeded", "it might still be admitted"

        make_due(raw)
        await judge(store_url, tmp_path)
        assert [(await pay(gate)).status for _ in range(3)] == [200, 200, 429]
        make_due(raw)
        await judge(store_url, tmp_path)
        assert (await pay(gate)).status == 429, "what was done stays taken"


async def leave_reservations(store_url: str, directory: Path, count: int) -> None:
    """As a gateway does that dies before it asks for admission."""
    rules = load_policies(directory / "policies", {})
    assert isinstance(rules, RuleSet)
    async with opened(store_url) as store:
        for _ in range(count):
            write = replace(bare(1, of=rules.entries[0].rule), costs=(0,))
            assert await reserve(store, write, store.new_ticket(write.resource)) is None


async def test_what_waits_takes_nothing(store_url: str, tmp_path: Path) -> None:
    """A write that gives up waiting for its turn has taken nothing."""
    released = asyncio.Event()

    async def slowly(_: Seen, writer: asyncio.StreamWriter) -> None:
        await released.wait()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    policy = COUNTED.replace("authority: header", "authority: header\n    fence: {{queue_timeout: 100ms}}")
    async with stack(store_url, tmp_path, policy, RecordingUpstream(slowly)) as gate:
        first = asyncio.ensure_future(pay(gate))
        await gate.upstream.until(lambda: len(gate.upstream.seen) == 1)
        busy = [(await pay(gate)).decision for _ in range(2)]
        released.set()

        assert busy == ["resource-busy"] * 2
        assert [(await first).status, (await pay(gate)).status, (await pay(gate)).status] == [200, 200, 429]


async def test_what_is_sent_later_is_paid_when_it_is_taken(store_url: str, raw: Any, tmp_path: Path) -> None:
    """Its sender is told at once, a repeat takes nothing more, and its delivery takes nothing."""
    policy = COUNTED.replace("mode: optional", "mode: required") + "    delivery: queued\n"
    async with stack(store_url, tmp_path, policy) as gate:
        told = [(await pay(gate, key)).status for key in ("k-1", "k-1", "k-2", "k-3")]
        await gate.upstream.until(lambda: len(gate.upstream.seen) == 2)
        make_due(raw)
        await judge(store_url, tmp_path)

        assert told[0] == 202 and told[1] in (200, 202) and told[2:] == [202, 429]
        assert (await pay(gate, "k-4")).status == 429


async def test_what_is_denied_is_given_back(store_url: str, raw: Any, tmp_path: Path) -> None:
    """An operator's no proves that nothing was done."""
    policy = COUNTED.replace("mode: optional", "mode: required") + "    approval: required\n"
    async with stack(store_url, tmp_path, policy) as gate:
        told = [(await pay(gate, key)).decision for key in ("k-1", "k-2", "k-3")]
        async with opened(store_url) as store:
            for record in (await intents(store, "awaiting_approval", None)).items:
                await decide(store, record, Decide("deny", "operator", None, "a test"))
        make_due(raw)
        await judge(store_url, tmp_path)

        assert told == ["awaiting-approval"] * 2 + ["quota-exceeded"]
        assert (await pay(gate, "k-4")).decision == "awaiting-approval"


async def test_what_failed_keeps_its_claim_while_it_may_still_be_sent(store_url: str, raw: Any, tmp_path: Path) -> None:
    """A gateway that was stopped may be about to send it: others have what is left beside it, until it is judged."""
    policy = SUMMED.replace("mode: optional", "mode: required") + "    delivery: queued\n"
    async with stack(store_url, tmp_path, policy, RecordingUpstream(answering(REFUSED))) as gate:
        failed = json.loads((await pay(gate, "k-1", "90")).body)["id"]

        async def has_failed() -> bool:
            proof = ("Fencing-Token: 1", "Fencing-Holder: a")
            shown = await ask(gate.port, "GET", f"/-/fence/intents/{failed}", *proof)
            return bool(json.loads(shown.body)["state"] == "failed")

        await until(has_failed)
        beside = [(await pay(gate, key, amount, id="2")).status for key, amount in (("k-2", "45"), ("k-3", "10"))]
        make_due(raw)
        await judge(store_url, tmp_path)

        assert beside == [429, 202]
        assert (await pay(gate, "k-4", "45", id="3")).status == 202
