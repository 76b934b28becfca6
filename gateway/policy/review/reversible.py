"""How much of what rules let agents do can be taken back: by weight, for a set of policies and for each upstream."""

from collections.abc import Iterable
from dataclasses import dataclass

from gateway.policy.entry import Entry
from gateway.policy.ruleset import RuleSet


@dataclass(frozen=True, slots=True)
class Coverage:
    """The weight of rules whose writes have a compensation, and of all rules. `name` is the upstream's."""

    name: str
    reversible: int
    weight: int

    def __str__(self) -> str:
        part = f" ({100 * self.reversible // self.weight}%)" if self.weight else ""
        return f"{self.reversible} of {self.weight}{part}"


def reversible_coverage(ruleset: RuleSet) -> tuple[Coverage, ...]:
    """The whole set first, without a name, then its upstreams, those without rules left out.

    A rule under which keys are optional counts: whoever sends a key can be helped.
    """
    by_upstream: dict[str, list[Entry]] = {}
    for entry in ruleset.entries:
        by_upstream.setdefault(entry.rule.upstream.name, []).append(entry)
    whole = _coverage("", ruleset.entries)
    return (whole, *(_coverage(name, entries) for name, entries in by_upstream.items()))


def _coverage(name: str, entries: Iterable[Entry]) -> Coverage:
    every = list(entries)
    reversible = sum(entry.weight for entry in every if entry.compensation is not None)
    return Coverage(name, reversible, sum(entry.weight for entry in every))
