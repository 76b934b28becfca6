"""What a run amounts to, in numbers."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from tests.history.history import Call, History


@dataclass(frozen=True, slots=True)
class Figures:
    """`recovery_s`: by kind of fault, the median and the longest time from its end to the next write that was answered
    as applied. `promoted_s`: the same from when sentinels named another primary, of writes that were asked for since;
    `promotions` counts these, `losses` those after which operators were told that something is missing. `unanswered`:
    calls that got no answer, or did not wait for it."""

    writes: int
    reads: int
    leases: int
    unanswered: int
    forwarded: int
    executed: int
    decisions: Mapping[str, int]
    states: Mapping[str, int]
    faults: Mapping[str, int]
    recovery_s: Mapping[str, tuple[float, float]]
    promotions: int
    losses: int
    promoted_s: tuple[float, float] | None
    violations: int

    def to_document(self) -> dict[str, object]:
        return asdict(self)

    def lines(self) -> Iterable[str]:
        """For people."""
        yield f"writes {self.writes}, reads {self.reads}, lease calls {self.leases}, unanswered {self.unanswered}"
        yield f"came to the API {self.forwarded}, took effect {self.executed}"
        for title, counts in (("told", self.decisions), ("table", self.states), ("faults", self.faults)):
            yield f"{title}: " + (", ".join(f"{name} {count}" for name, count in counts.items()) or "none")
        for kind, (usual, longest) in self.recovery_s.items():
            yield f"recovery after {kind}: {usual:.2f} s, at most {longest:.2f} s"
        if self.promotions:
            yield f"failovers {self.promotions}, after which something was lost and told {self.losses}"
        if self.promoted_s:
            usual, longest = self.promoted_s
            yield f"first write asked for after a failover: {usual:.2f} s, at most {longest:.2f} s"
        yield f"violations: {self.violations}"


def count(history: History, disturbances: Iterable[Mapping[str, Any]], violations: int) -> Figures:
    """Of a history and the nemesis' log."""
    log = list(disturbances)
    kinds = Counter(call.kind for call in history.calls)
    return Figures(
        kinds["write"],
        kinds["read"],
        kinds["grant"] + kinds["renew"] + kinds["release"],
        sum(call.answered is None for call in history.calls),
        len(history.passages),
        len(history.executions),
        dict(Counter(call.decision for call in history.calls if call.decision).most_common()),
        dict(Counter(intent.state for intent in history.intents).most_common()),
        dict(sorted(Counter(str(line["kind"]) for line in log if line["event"] == "fault").items())),
        _recoveries(history.calls, log),
        sum(line["event"] == "promoted" for line in log),
        len(history.losses),
        _after_promotions(history.calls, log),
        violations,
    )


def _recoveries(calls: Iterable[Call], log: Iterable[Mapping[str, Any]]) -> dict[str, tuple[float, float]]:
    applied = sorted(call.answered for call in calls if call.answered is not None and call.outcome == "applied")
    took = defaultdict[str, list[float]](list)
    for line in log:
        if line["event"] == "healed":
            following = next((at for at in applied if at > line["at"]), None)
            if following is not None:
                took[str(line["kind"])].append(following - line["at"])
    return {kind: _usual_and_longest(times) for kind, times in sorted(took.items())}


def _after_promotions(calls: Iterable[Call], log: Iterable[Mapping[str, Any]]) -> tuple[float, float] | None:
    applied = sorted((call.answered, call.at) for call in calls if call.answered and call.outcome == "applied")
    took = list[float]()
    for line in log:
        if line["event"] == "promoted":
            following = next((answered for answered, at in applied if at > line["at"]), None)
            if following is not None:
                took.append(following - line["at"])
    return _usual_and_longest(took) if took else None


def _usual_and_longest(times: Sequence[float]) -> tuple[float, float]:
    return round(median(times), 3), round(max(times), 3)
