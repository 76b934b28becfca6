"""Members of a JSON object that say something of others: MongoDB's update operators, and references.

Mongoose takes a body for an update, and `{"$set": {"owner": 8}}` for `{"owner": 8}`. To fastjson and Json.NET
`{"$ref": "$.a"}` and its like are an object that stands elsewhere.
"""

from collections.abc import Mapping

from gateway.core.frozen import frozen
from gateway.policy.reading.twin import Names

# Of JSON Schema: what it has is named, and not said.
_DEFINITIONS = "$defs"
# `{"$rename": {"a": "b"}}` writes `b`.
_RENAMING = "$rename"


@frozen
class Operated:
    """What an operator names."""

    operator: str
    names: Names

    def leading(self, way: tuple[str, ...]) -> str | None:
        """How it names a place on the way."""
        found = next(self.names.leading(way), None)
        return None if found is None else f"{self.operator}/{found}"


def operated_in(members: Mapping[str, object]) -> tuple[Operated, ...]:
    """What each operator of an object names."""
    return tuple(
        Operated(name, Names(_named(name, below)))
        for name, below in members.items()
        if is_operator(name) and isinstance(below, dict)
    )


def is_operator(name: str) -> bool:
    """Whether what an object has by this name may be members of its own."""
    return name.startswith("$") and name != _DEFINITIONS


def is_reference(members: Mapping[str, object]) -> bool:
    """Whether some readers take another object for this one."""
    return isinstance(members.get("$ref"), str)


def _named(operator: str, members: Mapping[str, object]) -> list[str]:
    named = list(members)
    if operator == _RENAMING:
        named += [new.partition("\0")[0] for new in members.values() if isinstance(new, str)]
    return named
