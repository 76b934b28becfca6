"""How much of rules' budgets is used, for operators."""

import json
from collections.abc import Sequence

from gateway.core.budget import Budget, Fullest, Usage
from gateway.core.epoch import parse_u64
from gateway.core.rule import Rule
from gateway.store.answer import number, text
from gateway.store.fence import FenceStore
from gateway.store.keys import budget_script_keys
from gateway.store.script import BUDGET_PARTS, Script
from gateway.store.views.page import PAGE, BadCursor, Page

USAGE = Script("usage", BUDGET_PARTS)

# What the script shows of each.
_SHOWN = 4
# Numbers that Lua counts exactly.
_AT_MOST = 1 << 53


async def usages(store: FenceStore, rules: Sequence[Rule], cursor: str | None) -> Page[tuple[Rule, Usage]]:
    """A page of what is used of the budgets of these rules, rule by rule, what was used last first.

    Raises BadCursor and StoreUnavailable. Of one that was changed, what was used of it before is not shown.
    """
    at, over = _read(cursor, len(rules))
    items: list[tuple[Rule, Usage]] = []
    while at < len(rules) and len(items) < PAGE:
        wanted = PAGE - len(items)
        seen, found = await _of_rule(store, rules[at], over, wanted)
        items += ((rules[at], usage) for usage in found)
        at, over = (at, over + seen) if seen == wanted else (at + 1, 0)
    return Page(tuple(items), f"{at}.{over}" if at < len(rules) else None)


async def fullest(store: FenceStore, rules: Sequence[Rule]) -> tuple[Fullest, ...]:
    """Of each budget of these rules the most that anybody has used, among the hundred that used the rule's last.

    Raises StoreUnavailable.
    """
    found = []
    for rule in rules:
        _, used = await _of_rule(store, rule, 0, PAGE)
        found += [_fullest(rule, budget, used) for budget in rule.budgets]
    return tuple(found)


def _fullest(rule: Rule, budget: Budget, used: Sequence[Usage]) -> Fullest:
    own = [usage for usage in used if usage.budget is budget]
    count = max((usage.count for usage in own), default=0)
    return Fullest(rule.upstream.name, rule.name, budget, count, max((usage.sum for usage in own), default=0))


async def _of_rule(store: FenceStore, rule: Rule, over: int, wanted: int) -> tuple[int, list[Usage]]:
    """How many were looked at, and those of which anything is used."""
    answer = await store.run(USAGE, budget_script_keys(rule.upstream.name, rule.name), str(over), str(wanted))
    budgets = {budget.name: budget for budget in rule.budgets}
    found = []
    for start in range(0, len(answer.rest), _SHOWN):
        key, count, total, leaves_at_ms = answer.rest[start : start + _SHOWN]
        name, by = json.loads(text(key))
        if number(count) and name in budgets:
            found.append(Usage(budgets[name], by, number(count), number(total), number(leaves_at_ms)))
    return len(answer.rest) // _SHOWN, found


def _read(cursor: str | None, rules: int) -> tuple[int, int]:
    """Which rule is next, and how many of its usages are behind."""
    if not cursor:
        return 0, 0
    at, _, over = cursor.partition(".")
    number_of_rule, behind = parse_u64(at), parse_u64(over)
    if number_of_rule is None or behind is None or number_of_rule >= rules or behind > _AT_MOST:
        raise BadCursor
    return number_of_rule, behind
