"""What only the whole set shows: rules without an order, rules that never match, names and mounts taken twice."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from gateway.core.rule import Rule
from gateway.policy.aspect import aspects_of
from gateway.policy.condition import Condition
from gateway.policy.entry import AnyEntry, Closed, Place, Policy
from gateway.policy.finding import Finding
from gateway.policy.pattern import Pattern
from gateway.policy.review.overlap import Made, overlapping

# Of thousands of rules that are all alike there would be millions of pairs.
_RIVALS_TOLD = 10


def lint(policies: Iterable[Policy]) -> tuple[Finding, ...]:
    """Every conflict between policies, and between the entries of each. Each is shown at the later of the two."""
    every = tuple(policies)
    found = [*_names(every), *_mounts(every), *_shadowed(every), *_authorities(every)]
    for policy in every:
        found.extend(_unordered(policy))
    return tuple(sorted(found, key=lambda finding: (finding.file, finding.line, finding.column, finding.message)))


def _names(policies: tuple[Policy, ...]) -> Iterator[Finding]:
    seen: dict[str, Place] = {}
    for policy in policies:
        name = policy.upstream.name
        first = seen.setdefault(name, policy.place)
        if first is not policy.place:
            yield policy.place.finding(f"upstream `{name}` is already at {first}; write another name")


def _mounts(policies: tuple[Policy, ...]) -> Iterator[Finding]:
    seen: dict[tuple[str | None, tuple[str, ...]], Policy] = {}
    for policy in policies:
        mount = policy.upstream.mount
        first = seen.setdefault((mount.host, mount.segments), policy)
        if first is not policy:
            yield policy.mount_place.finding(
                f"upstream `{first.upstream.name}` is mounted at the same path and host ({first.mount_place}); write "
                "another `mount`"
            )


def _shadowed(policies: tuple[Policy, ...]) -> Iterator[Finding]:
    """Rules whose every request belongs to an upstream that is mounted deeper."""
    mounts = {(policy.upstream.mount.host, policy.upstream.mount.segments): policy for policy in policies}
    for policy in policies:
        own = policy.upstream.mount
        for entry in (one for one in policy.every_entry if not (isinstance(one, Closed) and one.anywhere)):
            for pattern, place in zip(entry.matcher.patterns, entry.matcher.places, strict=True):
                fixed = _literal_prefix(pattern)
                for length in range(len(own.segments) + 1, len(fixed) + 1):
                    deeper = mounts.get((own.host, fixed[:length]))
                    if deeper is not None:
                        yield place.finding(
                            f"`{pattern.text}` can never match: its requests belong to upstream "
                            f"`{deeper.upstream.name}` ({deeper.mount_place}); write the rule there"
                        )


def _literal_prefix(pattern: Pattern) -> tuple[str, ...]:
    fixed: list[str] = []
    for segment in pattern.segments:
        if segment is None:
            break
        fixed.append(segment)
    return tuple(fixed)


@dataclass(frozen=True, slots=True)
class _Way:
    """One pattern of an entry, as a way to be matched."""

    entry: AnyEntry
    pattern: Pattern
    place: Place

    @property
    def conditions(self) -> tuple[Condition, ...]:
        return self.entry.matcher.conditions


def _unordered(policy: Policy) -> Iterator[Finding]:
    """Two entries for one method and the same paths, and no condition that keeps them apart. What is closed on a
    condition comes before all that is open on one."""
    groups: defaultdict[tuple[str, object], list[_Way]] = defaultdict(list)
    for entry in policy.every_entry:
        if isinstance(entry, Closed) and entry.matcher.conditions:
            continue
        for pattern, place in zip(entry.matcher.patterns, entry.matcher.places, strict=True):
            way = _Way(entry, pattern, place)
            for method in pattern.methods:
                groups[(method, (pattern.shape, bool(way.conditions)))].append(way)
    conflicts: defaultdict[tuple[Place, Place], list[str]] = defaultdict(list)
    ways_at: dict[Place, _Way] = {}
    for (method, _), ways in groups.items():
        for pair in _rivals(ways):
            first, second = sorted(pair, key=lambda way: (way.place.line, way.place.column))
            ways_at |= {first.place: first, second.place: second}
            methods = conflicts[(first.place, second.place)]
            if method not in methods:
                methods.append(method)
    for (one, other), methods in conflicts.items():
        yield other.finding(_conflict(", ".join(methods), ways_at[one], ways_at[other]))


def _conflict(methods: str, first: _Way, second: _Way) -> str:
    if first.entry is second.entry:
        return f"this matches the same {methods} requests as `{first.pattern.text}` before it; remove one"
    return (
        f"this matches the same {methods} requests as {first.entry.label} at {first.place}, and neither is more "
        "specific; change a path, or give them `when` conditions with different values on one pointer, header, "
        "query parameter, form field or GraphQL operation"
    )


def _rivals(ways: list[_Way]) -> Iterator[tuple[_Way, _Way]]:
    """The pairs that one request can meet: of nothing that both look at they want different values."""
    for at, (way, aspects) in enumerate(zip(ways, aspects_of([way.conditions for way in ways]), strict=True)):
        earlier = (1 << at) - 1
        for aspect, condition in zip(aspects, way.conditions, strict=True):
            earlier &= aspect.rivals(condition)
        for _ in range(_RIVALS_TOLD):
            if not earlier:
                break
            yield ways[(earlier & -earlier).bit_length() - 1], way
            earlier &= earlier - 1


def _authorities(policies: tuple[Policy, ...]) -> Iterator[Finding]:
    """One resource has one source of epochs, or two would overtake each other at random; one mode: what is only
    observed goes past the fence that the other rule promises; and one count of its writes, which has all of them or is
    none."""
    made = [Made(entry) for policy in policies for entry in policy.entries]
    for one, other in overlapping(made):
        first, second = sorted((one, other), key=lambda each: (each.place.file, each.place.line))
        what, told = _differing(first.rule, second.rule)
        yield second.place.finding(
            f"rule {second.rule.name} ({told(second.rule)}) can make the same resource as rule "
            f"{first.rule.name} at {first.place} ({told(first.rule)}); give both one {what}, or "
            "begin their resources with different text"
        )


def _differing(one: Rule, other: Rule) -> tuple[str, Callable[[Rule], str]]:
    if (one.authority, one.signed) != (other.authority, other.signed):
        return "authority", _authority
    return ("mode", _mode) if one.mode != other.mode else ("revision", _revision)


def _revision(rule: Rule) -> str:
    return f"`revision: {rule.revision}`" if rule.revision == "gateway" else "`revision: 'off'`"


def _mode(rule: Rule) -> str:
    return f"`mode: {rule.mode}`"


def _authority(rule: Rule) -> str:
    return f"`authority: {rule.authority}`" + ("" if rule.signed is None else f", {rule.signed}")
