"""A compiled policy file: its upstream and its entries, each with the place that findings and trails name."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import PurePath

from gateway.core.rule import Rule, Upstream
from gateway.core.term import Term
from gateway.policy.compensation import Compensation
from gateway.policy.condition import Condition, GraphqlCondition, is_of_body
from gateway.policy.finding import Finding
from gateway.policy.fingerprint import NO_FINGERPRINT, Fingerprint
from gateway.policy.key import Key
from gateway.policy.only import Only
from gateway.policy.part import Part
from gateway.policy.pattern import READ_METHODS, Pattern
from gateway.policy.query import Query
from gateway.policy.reading.jsonbody import Pointer
from gateway.policy.template import Template


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands in a policy file. Counted from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"

    def of(self, label: str) -> str:
        """An entry, for the log: without the directory, as a worker reads copies in another one."""
        return f"{label} at {PurePath(self.file).name}:{self.line}"

    def finding(self, message: str) -> Finding:
        return Finding(self.file, self.line, self.column, message)


@dataclass(frozen=True, slots=True)
class Matcher:
    """What all entries have in common: which requests they take. `places` are the patterns'."""

    upstream: Upstream
    patterns: tuple[Pattern, ...]
    places: tuple[Place, ...]
    conditions: tuple[Condition, ...]
    place: Place

    @property
    def reads_body(self) -> bool:
        return any(map(is_of_body, self.conditions))

    @property
    def reads_graphql(self) -> bool:
        return any(isinstance(condition, GraphqlCondition) for condition in self.conditions)


@dataclass(frozen=True, slots=True)
class Entry:
    """One of `writes`, compiled: which requests it takes, and the template of the resource that they write.

    `key` is where their intents are named, None where they have none; `fingerprint` what two of one name are compared
    by. `compensation` is the request that takes one back; `weight` how much one counts where they are added up.
    `amounts`: for each of the rule's budgets where a write's amount is found, None where it has none. `only`: all that
    a write may say, None where nobody closed the list. `places`: what of its paths names no resource, and has a form.
    """

    matcher: Matcher
    rule: Rule
    template: Template
    key: Key | None = None
    fingerprint: Fingerprint = NO_FINGERPRINT
    compensation: Compensation | None = None
    weight: int = 1
    amounts: tuple[Pointer | None, ...] = ()
    only: Only | None = None
    places: tuple[Part, ...] = ()

    @property
    def naming_parts(self) -> Iterator[Part]:
        """By which its resource and its intents are named."""
        yield from self.template.parts
        for template in () if self.key is None else self.key.templates:
            yield from template.parts

    @property
    def has_amounts(self) -> bool:
        """Whether a write's body has to be read for its budgets."""
        return any(self.amounts)

    @property
    def label(self) -> str:
        return f"rule {self.rule.name}"


@dataclass(frozen=True, slots=True)
class ReadOnly:
    """One of `read_only`: mutating methods that change nothing. `only`: as a rule's."""

    matcher: Matcher
    only: Only | None = None

    @property
    def label(self) -> str:
        return "read_only"


@dataclass(frozen=True, slots=True)
class Closed:
    """One of `closed`: requests that are refused, reads too. `anywhere`: it names no paths, and takes all that others
    take, and reads."""

    matcher: Matcher
    anywhere: bool = False

    @property
    def label(self) -> str:
        return "closed"

    @property
    def closes_reads(self) -> bool:
        return any(not READ_METHODS.isdisjoint(pattern.methods) for pattern in self.matcher.patterns)


AnyEntry = Entry | ReadOnly | Closed


@dataclass(frozen=True, slots=True)
class Policy:
    """One file. `place` is the upstream's name, `mount_place` its mount, `query` how it tells what was applied."""

    upstream: Upstream
    entries: tuple[Entry, ...]
    read_only: tuple[ReadOnly, ...]
    closed: tuple[Closed, ...]
    place: Place
    mount_place: Place
    query: Query | None = None

    @property
    def every_entry(self) -> tuple[AnyEntry, ...]:
        return (*self.entries, *self.read_only, *self.closed)


def of_another_term(policy: Policy) -> Policy:
    """The same policy in another set, as it was compiled: what was judged under the former one is judged anew."""
    upstream = replace(policy.upstream, term=Term())
    return replace(
        policy,
        upstream=upstream,
        entries=tuple(_entry_at(upstream, one) for one in policy.entries),
        read_only=tuple(replace(one, matcher=replace(one.matcher, upstream=upstream)) for one in policy.read_only),
        closed=tuple(replace(one, matcher=replace(one.matcher, upstream=upstream)) for one in policy.closed),
    )


def _entry_at(upstream: Upstream, entry: Entry) -> Entry:
    return replace(
        entry,
        matcher=replace(entry.matcher, upstream=upstream),
        rule=replace(entry.rule, upstream=upstream),
        compensation=None if entry.compensation is None else replace(entry.compensation, upstream=upstream),
    )
