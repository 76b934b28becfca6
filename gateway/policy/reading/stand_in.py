"""Members of a JSON object that say something of others: MongoDB's update operators, and references.

Mongoose takes a body for an update, and `{"$set": {"owner": 8}}` for `{"owner": 8}`. To fastjson and Json.NET
`{"$ref": "$.a"}` and its like are an object that stands elsewhere. superjson, which tRPC's servers use, has a `meta`
beside its `json`, which says what becomes of members: `{"values": {"dry_run": ["undefined"]}}` takes one away.
"""

import re
from collections.abc import Mapping

from gateway.core.frozen import frozen
from gateway.policy.reading.twin import Names

# Of JSON Schema: what it has is named, and not said.
_DEFINITIONS = "$defs"
# `{"$rename": {"a": "b"}}` writes `b`.
_RENAMING = "$rename"
_WRAPPED, _WRAPPED_BY_BLITZ = "json", "params"
# As its paths are spelled without escapes.
_WAY = re.compile(r"[\w-]++(?:\.[\w-]++)*+")


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


def is_remade(members: Mapping[str, object], way: tuple[str, ...]) -> bool:
    """Whether to superjson something else than what stands there may be at the end of a way, which begins here."""
    meta = members.get("meta") if way[0] in (_WRAPPED, _WRAPPED_BY_BLITZ) else None
    if isinstance(meta, dict) and way[0] == _WRAPPED_BY_BLITZ:
        meta = meta.get(_WRAPPED_BY_BLITZ)
    if not isinstance(meta, dict):
        return False
    values = meta.get("values") or {}
    if meta.get("referentialEqualities") or not isinstance(values, dict):
        return True
    return any(not _WAY.fullmatch(name) or tuple(name.split(".")) == way[1:][: name.count(".") + 1] for name in values)


def _named(operator: str, members: Mapping[str, object]) -> list[str]:
    named = list(members)
    if operator == _RENAMING:
        named += [new.partition("\0")[0] for new in members.values() if isinstance(new, str)]
    return named
