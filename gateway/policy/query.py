"""How an upstream is asked what became of an intent, and what its answer says."""

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal
from urllib.parse import quote

from gateway.core.decision import Refused
from gateway.core.record import IntentRecord
from gateway.core.request import Headers, Request
from gateway.core.rule import Mount
from gateway.core.target import Ambiguous, read_target
from gateway.policy.condition import Amount, Scalar, scalar
from gateway.policy.lenient.cut_path import is_divided
from gateway.policy.reading.jsonbody import JsonReader, Missing, Pointer

Verdict = Literal["applied", "not_applied", "duplicated", "unclear"]
Subject = Literal["intent.key", "intent.upstream_key", "intent.id", "intent.resource"]
Comparison = Literal[">", ">=", "<", "<="]

SUCCESS = frozenset(range(200, 300))
_OF_ONE: frozenset[Subject] = frozenset({"intent.upstream_key", "intent.id"})
# What a cache has may be older than the attempt (RFC 9111, section 5.2.1.4).
_HEADERS = Headers(((b"Accept", b"application/json"), (b"Cache-Control", b"no-cache")))


@dataclass(frozen=True, slots=True)
class Bound:
    """What a number is compared with."""

    comparison: Comparison
    amount: Decimal

    def holds(self, found: Decimal) -> bool:
        match self.comparison:
            case ">":
                return found > self.amount
            case ">=":
                return found >= self.amount
            case "<":
                return found < self.amount
            case "<=":
                return found <= self.amount


@dataclass(frozen=True, slots=True)
class Expected:
    """What a pointer has to lead to: one of the values, or a number within one of the bounds."""

    pointer: Pointer
    values: frozenset[Scalar] = frozenset()
    bounds: tuple[Bound, ...] = ()

    def holds(self, body: JsonReader) -> bool:
        """Never for a body that two readers may read differently."""
        found = body.find_in_answer(self.pointer)
        if isinstance(found, Missing | Refused):
            return False
        value = scalar(found)
        return value in self.values or (
            isinstance(value, Amount) and any(bound.holds(value.value) for bound in self.bounds)
        )


@dataclass(frozen=True, slots=True)
class Proof:
    """What an answer has to be to prove one thing: one of the statuses, with all that is expected of its JSON body."""

    statuses: frozenset[int] = SUCCESS
    expected: tuple[Expected, ...] = ()

    def holds(self, status: int, body: JsonReader) -> bool:
        return status in self.statuses and all(one.holds(body) for one in self.expected)


@dataclass(frozen=True, slots=True)
class Query:
    """`capabilities.query`, compiled. The target is `texts` with a `subjects` between each two of them.

    `not_before_s`: seconds after the end of an attempt's connection before which a no does not count, because the
    upstream may still be at it. `mount`: how the upstream reads paths.
    """

    method: Literal["GET", "HEAD"]
    texts: tuple[str, ...]
    subjects: tuple[Subject, ...]
    applied: Proof | None = None
    not_applied: Proof | None = None
    duplicated: Proof | None = None
    not_before_s: float = 1.0
    mount: Mount = field(default_factory=Mount)

    @property
    def names_one(self) -> bool:
        """Whether it asks for one intent and nothing else. A key alone is another's too: in another tenant, for another
        resource, at another target.
        """
        return not _OF_ONE.isdisjoint(self.subjects)

    def request_for(self, record: IntentRecord, digest: str) -> Request | None:
        """The request that asks about an intent; `digest` is its `upstream_key`.

        None: it cannot be asked about. It has no key and the target wants one, or what stands in the path would lead
        elsewhere: `..`, a slash or a question mark where servers decode it, an ending that they cut off. A no from
        there would let the write run again.
        """
        formats = self.mount.format_endings
        raw = self.texts[0]
        for subject, text in zip(self.subjects, self.texts[1:], strict=True):
            value = _value(subject, record, digest)
            if value is None:
                return None
            if formats is not None and formats.has(value) and "?" not in raw and _ends_path(text):
                return None
            raw += quote(value, safe="", errors="surrogateescape") + text
        target = read_target(raw)
        if isinstance(target, Ambiguous) or is_divided(target, self.mount):
            return None
        return Request(self.method, target, _HEADERS)

    def judge(self, status: int, body: bytes) -> Verdict:
        """What an answer says. Anything that is not exactly one of the proofs says nothing."""
        reader = JsonReader(body)
        if self.duplicated is not None and self.duplicated.holds(status, reader):
            return "duplicated"
        yes = self.applied is not None and self.applied.holds(status, reader)
        no = self.not_applied is not None and self.not_applied.holds(status, reader)
        if yes == no:
            return "unclear"
        return "applied" if yes else "not_applied"


def _ends_path(text: str) -> bool:
    """Whether nothing of the path follows where this does; a slash at its end is none."""
    return text.partition("?")[0] in ("", "/")


def _value(subject: Subject, record: IntentRecord, digest: str) -> str | None:
    match subject:
        case "intent.key":
            return record.key
        case "intent.upstream_key":
            return digest
        case "intent.id":
            return record.id
        case "intent.resource":
            return record.resource
