"""The budgets of the rules in force: how much of each is used, and by whom."""

from aiohttp import web

from gateway.admin.answer import page, refusal
from gateway.admin.query import read_query
from gateway.admin.running import RUNNING
from gateway.core.budget import Usage, spelled
from gateway.core.decision import Refused
from gateway.core.problem import instant
from gateway.core.rule import Rule
from gateway.store.views.budget_views import usages


async def list_budgets(request: web.Request) -> web.Response:
    """A page of what is used, rule by rule, what was used last first; with `upstream` or `rule`, of these alone."""
    query = read_query(request, "upstream", "rule", "cursor")
    if isinstance(query, Refused):
        return refusal(query)
    running = request.app[RUNNING]
    every = (entry.rule for entry in running.rules().entries if entry.rule.budgets)
    rules = [
        rule
        for rule in every
        if query.get("upstream") in (None, rule.upstream.name) and query.get("rule") in (None, rule.name)
    ]
    found = await usages(running.store, rules, query.get("cursor"))
    return page([_members(rule, usage) for rule, usage in found.items], found.next)


def _members(rule: Rule, usage: Usage) -> dict[str, object]:
    """Amounts are texts: a JSON number would lose digits of some."""
    budget = usage.budget
    return {
        "upstream": rule.upstream.name,
        "rule": rule.name,
        "per": budget.per,
        "by": usage.by,
        "window_s": budget.window_s,
        "count": usage.count,
        "count_limit": budget.count,
        "value": None if budget.value is None else f"json:{budget.value}",
        "total": None if budget.value is None else spelled(usage.sum),
        "total_limit": None if budget.total is None else spelled(budget.total),
        "oldest_leaves_at": instant(usage.leaves_at_ms),
    }
