"""Pauses that are wider than one resource: which writes an operator has stopped, wherever they go.

A resource's own pause is no matter of this module: it is in the resource's fence record, and the scripts refuse.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from gateway.core.decision import PAUSED, Facts, Refused
from gateway.core.epoch import Epoch
from gateway.core.record import IntentRecord
from gateway.core.rule import Rule

Kind = Literal["all", "upstream", "rule", "tenant", "holder"]


@dataclass(frozen=True, slots=True)
class Scope:
    """Which writes a pause stops: all there are, or those of one name.

    `upstream` says where a rule is; None: the rules of this name in every upstream.
    """

    kind: Kind
    name: str = ""
    upstream: str | None = None

    def __str__(self) -> str:
        if self.kind == "all":
            return "all writes"
        where = "" if self.upstream is None else f" of upstream {self.upstream}"
        return f"all writes of {self.kind} {self.name}{where}"


@dataclass(frozen=True, slots=True)
class WidePause:
    """All writes in its scope are refused until an operator ends it. `created_at_ms`: the store's clock, since 1970."""

    id: str
    scope: Scope
    reason: str
    by: str
    created_at_ms: int


PausesInForce = Mapping[Scope, WidePause]


def stopping(pauses: PausesInForce, rule: Rule, tenant: str, holder: str | None) -> WidePause | None:
    """The widest pause that stops a write of this rule; `holder` is None where nobody knows yet who that is."""
    scopes = _scopes(rule.upstream.name, rule.name, tenant, holder)
    return next((pauses[scope] for scope in scopes if scope in pauses), None)


def stopping_parked(pauses: PausesInForce, record: IntentRecord) -> WidePause | None:
    """The widest pause that keeps what waits from being sent."""
    scopes = _scopes(record.upstream, record.rule, record.tenant, record.holder or None)
    return next((pauses[scope] for scope in scopes if scope in pauses), None)


def is_paused(pause: WidePause, resource: str | None, epoch: Epoch | None = None) -> Refused:
    """The refusal of a write. The reason is the operators' own, and in the log only."""
    detail = f"Not forwarded: {pause.scope} are stopped by an operator. Wait: somebody has to look at it first."
    return Refused(PAUSED, detail, Facts(resource=resource, epoch=epoch), f"pause {pause.id}: {pause.reason}")


def _scopes(upstream: str, rule: str, tenant: str, holder: str | None) -> Iterator[Scope]:
    yield Scope("all")
    yield Scope("upstream", upstream)
    yield Scope("tenant", tenant)
    yield Scope("rule", rule)
    yield Scope("rule", rule, upstream)
    if holder is not None:
        yield Scope("holder", holder)
