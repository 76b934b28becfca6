"""What a failed write takes of its rule's budgets before it is sent again: over a real store, through one gateway."""

from pathlib import Path
from typing import Any

import pytest

from gateway.core.decision import Refused
from gateway.core.record import IntentRecord
from gateway.core.write import Write
from gateway.flow.retrying import judge_retry
from gateway.policy.load import load_policies
from gateway.policy.ruleset import RuleSet
from gateway.store.fence import FenceStore
from gateway.store.parking import request_of, retry
from gateway.store.views.intent_views import intents
from tests.proxy.test_budgets import COUNTED, SUMMED, judge, pay
from tests.recording import RecordingUpstream, answering
from tests.stack import Stack, stack
from tests.store.due import make_due
from tests.store.fences import opened
from tests.until import until

REFUSED = b"HTTP/1.1 422 No\r\nContent-Length: 0\r\n\r\n"


def queued(policy: str) -> str:
    return policy.replace("mode: optional", "mode: required") + "    delivery: queued\n"


def rules_of(directory: Path) -> RuleSet:
    rules = load_policies(directory / "policies", {})
    assert isinstance(rules, RuleSet)
    return rules


async def failed(gate: Stack, store: FenceStore, amount: str) -> IntentRecord:
    """One payment that its upstream refuses for good."""
    assert (await pay(gate, "k-1", amount)).status == 202

    async def is_there() -> bool:
        return bool((await intents(store, "failed", None)).items)

    await until(is_there)
    [record] = (await intents(store, "failed", None)).items
    return record


async def judged(store: FenceStore, record: IntentRecord, rules: RuleSet) -> Write | Refused:
    kept = await request_of(store, record.id)
    assert kept is not None
    return await judge_retry(record, kept, rules)


async def send_again(store: FenceStore, record: IntentRecord, rules: RuleSet) -> IntentRecord | Refused:
    write = await judged(store, record, rules)
    assert not isinstance(write, Refused)
    return await retry(store, record, note="the key is renewed", by="operator", write=write)


@pytest.mark.parametrize(
    ("policy", "amount", "others"),
    [(COUNTED, "1", ("1", "1")), (SUMMED, "60", ("50",))],
    ids=["count", "total"],
)
async def test_what_is_sent_again_takes_its_place_anew(
    policy: str, amount: str, others: tuple[str, ...], store_url: str, raw: Any, tmp_path: Path
) -> None:
    """Its place was given back, and others have it: beyond the budget nothing is queued."""
    upstream = RecordingUpstream(answering(REFUSED))
    async with stack(store_url, tmp_path, queued(policy), upstream) as gate, opened(store_url) as store:
        record = await failed(gate, store, amount)
        make_due(raw)
        await judge(store_url, tmp_path)
        upstream.answer = answering(b"HTTP/1.1 204 No Content\r\n\r\n")
        for at, other in enumerate(others):
            assert (await pay(gate, f"other-{at}", other)).status == 202

        refused = await send_again(store, record, rules_of(tmp_path))

        assert isinstance(refused, Refused) and refused.decision.name == "quota-exceeded"
        after = await store.recall(record.id)
        assert after is not None and after.state == "failed"


async def test_what_has_room_is_sent_again(store_url: str, raw: Any, tmp_path: Path) -> None:
    """And counts: what comes later finds less room."""
    async with (
        stack(store_url, tmp_path, queued(SUMMED), RecordingUpstream(answering(REFUSED))) as gate,
        opened(store_url) as store,
    ):
        record = await failed(gate, store, "60")
        make_due(raw)
        await judge(store_url, tmp_path)

        again = await send_again(store, record, rules_of(tmp_path))

        assert isinstance(again, IntentRecord) and again.state == "queued"
        assert (await pay(gate, "k-2", "50")).decision == "quota-exceeded"


@pytest.mark.parametrize(
    ("was", "now", "told"),
    [
        ("/payments", "/transfers", "the policy no longer takes it: no rule takes it. Mend the policy"),
        ("delivery: queued", "approval: required", "its rule wants an approval now, and it has none"),
        ("json:/amount", "json:/sum", "what it takes of the budgets cannot be told"),
    ],
    ids=["no rule takes it", "an approval is wanted", "no amount"],
)
async def test_what_the_rules_no_longer_take_is_not_sent_again(
    was: str, now: str, told: str, store_url: str, tmp_path: Path
) -> None:
    """By an operator's word neither, who is told why."""
    async with (
        stack(store_url, tmp_path, queued(SUMMED), RecordingUpstream(answering(REFUSED))) as gate,
        opened(store_url) as store,
    ):
        record = await failed(gate, store, "60")
        file = next((tmp_path / "policies").iterdir())
        file.write_text(file.read_text().replace(was, now))

        refused = await judged(store, record, rules_of(tmp_path))

        assert isinstance(refused, Refused) and refused.decision.name == "wrong-state" and told in refused.detail
