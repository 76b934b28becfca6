"""What is reserved of rules' budgets. All of a rule's are under one tag, so that one script takes from each or none."""

import json
from math import ceil

from gateway.core.budget import UNIT, Budget
from gateway.core.decision import BEYOND_ANY_BUDGET, BUDGET_EXCEEDED, Facts, Refused
from gateway.core.intent import IntentId
from gateway.core.rule import Rule
from gateway.core.write import TicketId, Write
from gateway.store import reply
from gateway.store.answer import number, unknown_word
from gateway.store.fence import FenceStore
from gateway.store.keys import budget_script_keys
from gateway.store.script import BUDGET_PARTS, Script

RESERVE = Script("reserve", BUDGET_PARTS)
GIVE_BACK = Script("give_back", BUDGET_PARTS)
CONFIRM = Script("confirm", BUDGET_PARTS)

# Past a ticket's deadline: its grace, and a call that waits for the store. By then the sweeper has ended it.
_MARGIN_MS = 10_000
# For how long what became of a write without a key is known (scripts/parts/intent.lua).
_KEPT_MS = 86_400_000


async def reserve(store: FenceStore, write: Write, attempt: TicketId, *, in_doubt: bool = False) -> Refused | None:
    """Take what a write costs of each of its rule's budgets, or nothing. Raises StoreUnavailable.

    Refused: `quota-exceeded`. Whoever repeats the call for the same attempt takes nothing more, and nor does a further
    attempt of an action that is `in_doubt`.
    """
    rule = write.rule
    for budget, cost in zip(rule.budgets, write.costs, strict=True):
        if budget.total is not None and cost > budget.total:
            return _too_large(write, budget)
    life_ms = round(rule.upstream.timeouts.total_s * 1000) + _MARGIN_MS
    known_ms = _KEPT_MS if write.intent is None else round(rule.intent.retain_s * 1000)
    wanted = await _wanted(store, write)
    about = (reply.intent_of(write, attempt), attempt, write.resource, str(life_ms), str(known_ms))
    doubt = "in-doubt" if in_doubt else ""
    answer = await store.run(RESERVE, budget_script_keys(rule.upstream.name, rule.name), *about, wanted, doubt)
    match answer.word:
        case "reserved":
            return None
        case "quota-exceeded":
            at, left_ms = map(number, answer.rest)
            return _exceeded(write, rule.budgets[at - 1], left_ms)
        case _:
            raise unknown_word(answer)


async def give_back(store: FenceStore, rule: Rule, record: IntentId, *attempts: str) -> None:
    """Free what attempts have reserved that did nothing. Raises StoreUnavailable."""
    await store.run(GIVE_BACK, budget_script_keys(rule.upstream.name, rule.name), record, *attempts)


async def _wanted(store: FenceStore, write: Write) -> str:
    wanted = []
    for budget, cost in zip(write.rule.budgets, write.costs, strict=True):
        key = json.dumps([budget.name, await _whose(store, write, budget)], ensure_ascii=False)
        limits = ("" if limit is None else str(limit) for limit in (budget.count, budget.total))
        wanted.append([key, str(round(budget.window_s * 1000)), str(cost), *limits])
    return json.dumps(wanted, ensure_ascii=False)


async def _whose(store: FenceStore, write: Write, budget: Budget) -> str:
    match budget.per:
        case "tenant":
            return write.tenant
        case "principal":
            return write.principal
        case "resource":
            return write.resource
        case "holder":
            return write.holder or await _lease_holder(store, write)


async def _lease_holder(store: FenceStore, write: Write) -> str:
    """Who writes with a lease's secret need not name itself. Without that lease nothing will be admitted."""
    lease = await store.lookup(write.resource)
    return lease.holder if lease is not None and lease.epoch == write.epoch else ""


def _exceeded(write: Write, budget: Budget, left_ms: int) -> Refused:
    after_s = max(1, ceil(left_ms / 1000))
    detail = f"Nothing was done: {_spelled(write.rule, budget)}, and that is used up. Retry in {after_s} s."
    return Refused(BUDGET_EXCEEDED, detail, Facts(write.resource, write.epoch, retry_after_s=after_s))


def _too_large(write: Write, budget: Budget) -> Refused:
    detail = f"Nothing was done: {_spelled(write.rule, budget)}, and this alone is more. Stop: it can never be done."
    return Refused(BEYOND_ANY_BUDGET, detail, Facts(write.resource, write.epoch))


def _spelled(rule: Rule, budget: Budget) -> str:
    limits = []
    if budget.count is not None:
        limits.append(f"{budget.count} writes")
    if budget.total is not None:
        limits.append(f"{budget.total // UNIT} of json:{budget.value}")
    return f"rule {rule.name} allows each {budget.per} {' and '.join(limits)} within {budget.window_s:g} s"


async def confirm(store: FenceStore, rule: Rule, record: IntentId) -> None:
    """It was done: what it took stays taken, and nobody need ask any more. Raises StoreUnavailable."""
    await store.run(CONFIRM, budget_script_keys(rule.upstream.name, rule.name), record)
