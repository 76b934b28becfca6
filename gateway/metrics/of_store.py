"""What the store says, whichever gateway of it is asked."""

import math
from collections.abc import Iterable, Mapping
from functools import partial
from typing import TypeVar

from prometheus_client import CollectorRegistry, Gauge

from gateway.core.budget import UNIT, Fullest
from gateway.core.census import Census, Writers

_Label = TypeVar("_Label", bound=str)


class OfStore:
    """What all gateways of a store have in common: each tells the same. Of a store that is away nobody knows."""

    def __init__(self, registry: CollectorRegistry) -> None:
        gauge = partial(Gauge, registry=registry)
        by_state, by_upstream, by_budget = ("state",), ("upstream",), ("upstream", "rule", "budget", "what")
        self._intents = gauge(
            "fencegate_intents",
            "Intents in the store by their state, writes in flight without a key included. Up to 2 s old; of applied, "
            "not applied, denied, expired, superseded and compensated ones up to 62 s.",
            by_state,
        )
        self._oldest = gauge(
            "fencegate_oldest_seconds", "How long the oldest intent has been in this state; 0 for none.", by_state
        )
        self._pauses = gauge("fencegate_pauses", "Pauses in force, by what they name.", ("selector",))
        self._letters = gauge(
            "fencegate_notifications_kept",
            "Notifications in the store: those that wait to be sent, and dead letters.",
            by_state,
        )
        self._holders = gauge(
            "fencegate_active_holders",
            "Epochs of resources with a write in flight, through all gateways of the store; without rules that only "
            "observe. Never more than fencegate_active_resources.",
            by_upstream,
        )
        self._resources = gauge("fencegate_active_resources", "Resources with such a write in flight.", by_upstream)
        self._budget_used = gauge(
            "fencegate_budget_used",
            "What is used of a rule's budget by whoever has used most of it, among the hundred that used the rule's "
            "budgets last: how many writes, and what their amounts add up to. Up to 15 s old.",
            by_budget,
        )
        self._budget_limit = gauge(
            "fencegate_budget_limit",
            "What each tenant, principal, holder or resource may use of it within its window.",
            by_budget,
        )
        self._regressed = gauge(
            "fencegate_store_regressed",
            "Whether the store has lost acknowledged work, and nobody has accepted that. NaN while the store is away.",
        )

    def set_budgets(self, budgets: Iterable[Fullest]) -> None:
        """Of each budget of the rules in force; none while nobody knows."""
        self._budget_used.clear()
        self._budget_limit.clear()
        for one in budgets:
            labels = one.upstream, one.rule, one.budget.label
            if one.budget.count is not None:
                self._budget_used.labels(*labels, "writes").set(one.count)
                self._budget_limit.labels(*labels, "writes").set(one.budget.count)
            if one.budget.total is not None:
                self._budget_used.labels(*labels, "total").set(one.sum / UNIT)
                self._budget_limit.labels(*labels, "total").set(one.budget.total / UNIT)

    def set(self, census: Census | None, writers: Mapping[str, Writers]) -> None:
        for gauge in (self._intents, self._oldest, self._pauses, self._letters, self._holders, self._resources):
            # A number from before would hide that nobody knows.
            gauge.clear()
        self._regressed.set(math.nan if census is None else census.regressed)
        if census is None:
            return
        _set(self._intents, census.intents)
        _set(self._oldest, census.oldest_s)
        _set(self._pauses, census.pauses)
        _set(self._letters, census.letters)
        _set(self._holders, {name: found.holders for name, found in writers.items()})
        _set(self._resources, {name: found.resources for name, found in writers.items()})


def _set(gauge: Gauge, numbers: Mapping[_Label, float]) -> None:
    for label, number in numbers.items():
        gauge.labels(label).set(number)
