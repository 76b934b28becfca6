"""The operation that a GraphQL request asks for, as far as rules look at it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from gateway.core.decision import Refused
from gateway.policy.reading.jsonbody import JsonValue, Missing

OperationKind = Literal["query", "mutation", "subscription"]

# Names of the caller's: in a refusal they are for people.
_SHOWN, _LENGTH = 8, 64


@dataclass(frozen=True, slots=True)
class Operation:
    """Its type, and the names of its root fields, at least one: what it does, whatever its own name is.

    `argument` finds what the path's first name, an argument of all root fields alike, has at the rest of the path.
    """

    kind: OperationKind
    fields: frozenset[str]
    argument: Callable[[tuple[str, ...]], JsonValue | Missing | Refused] = field(repr=False, compare=False)

    def __str__(self) -> str:
        names = [name[:_LENGTH] for name in sorted(self.fields)[:_SHOWN]]
        more = ["..."] if len(self.fields) > _SHOWN else []
        return f"{self.kind} {{ {', '.join(names + more)} }}"
