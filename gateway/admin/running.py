"""What the admin listener is given: the running gateway, as far as operators see and change it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from aiohttp import web

from gateway.core.check import Check
from gateway.flow.compensating import Compensating
from gateway.log import Log
from gateway.metrics.parent import ParentMetrics
from gateway.policy.finding import Finding
from gateway.policy.ruleset import RuleSet
from gateway.store.fence import FenceStore
from gateway.store.views.census import Counting


@dataclass(frozen=True, slots=True)
class Running:
    """The parent's store connection, its policies and its workers.

    `reload` reads the policies again, in the workers too, and returns what is wrong with them: nothing, if they are now
    in force. `workers_ready` counts those that accept requests. `unfit`: what makes the store unsafe. `counting`: how
    much the store has of what. `audit_retain_s`: how long events of the audit trail are kept. `policies_are_known`:
    whether somebody has looked at their files lately; else workers refuse writes.
    """

    store: FenceStore
    rules: Callable[[], RuleSet]
    reload: Callable[[], Awaitable[tuple[Finding, ...]]]
    workers_ready: Callable[[], int]
    is_stopping: Callable[[], bool]
    metrics: ParentMetrics
    log: Log
    compensating: Compensating
    unfit: Callable[[], tuple[Check, ...]] = tuple
    counting: Counting = field(kw_only=True)
    audit_retain_s: float = field(default=604_800.0, kw_only=True)
    policies_are_known: Callable[[], bool] = field(default=lambda: True, kw_only=True)


# Who calls, as far as is known: all operators share the admin token.
OPERATOR = "operator"

RUNNING: web.AppKey[Running] = web.AppKey("running")
