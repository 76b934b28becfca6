"""W3C Trace Context, Level 2: what `traceparent` and `tracestate` say of the trace that a request belongs to."""

import re
from dataclasses import dataclass

_Pairs = tuple[tuple[bytes, bytes], ...]

# Sampled, and that the trace's id is random (section 3.2.2.5); nothing else has a meaning yet.
SAMPLED, RANDOM = 0x01, 0x02
_NAMES = frozenset((b"traceparent", b"tracestate"))
_PARENT = re.compile(rb"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-[!-~]*)?")
_NO_VERSION = b"ff"
# Section 3.3.1.3: a name, of one vendor or of a tenant of one, and a value that does not end with a blank.
_MEMBER = re.compile(
    r"([a-z][a-z0-9_*/-]{0,255}|[a-z0-9][a-z0-9_*/-]{0,240}@[a-z][a-z0-9_*/-]{0,13})"
    r"=([ -+\--<>-~]{0,255}[!-+\--<>-~])"
)
_MOST_MEMBERS = 32
# Section 3.3.1.5: as much has to be passed on at least. Whoever sends 8 KiB of it has another aim.
_LONGEST_STATE = 512


@dataclass(frozen=True, slots=True)
class TraceContext:
    """A place in a trace: ids of 32 and 16 lower-case hexadecimal digits; `state` as `tracestate` spells it."""

    trace_id: str
    span_id: str
    flags: int = 0
    state: str = ""

    @property
    def is_sampled(self) -> bool:
        return bool(self.flags & SAMPLED)

    @property
    def fields(self) -> _Pairs:
        """The two fields that say so to whoever is asked next."""
        parent = f"00-{self.trace_id}-{self.span_id}-{self.flags:02x}".encode("ascii")
        fields = ((b"traceparent", parent),)
        return (*fields, (b"tracestate", self.state.encode("ascii"))) if self.state else fields


def read_trace_context(parents: list[bytes], states: list[bytes]) -> TraceContext | None:
    """The place that the values of both fields name; None where `traceparent` is not there once and well-formed: a new
    trace begins then, and what `tracestate` says is of no trace (section 4.2).
    """
    found = _PARENT.fullmatch(parents[0]) if len(parents) == 1 else None
    if found is None:
        return None
    version, trace_id, span_id, flags, more = found.groups()
    if version == _NO_VERSION or (version == b"00" and more) or not (trace_id.strip(b"0") and span_id.strip(b"0")):
        return None
    # Of a later version only the first flag is sure to mean the same.
    known = SAMPLED | RANDOM if version == b"00" else SAMPLED
    return TraceContext(trace_id.decode(), span_id.decode(), int(flags, 16) & known, _read_state(states))


def _read_state(values: list[bytes]) -> str:
    """The list's members, as many of the first as fit into 512 characters; nothing of one that is malformed."""
    members = [member.strip(" \t") for member in b",".join(values).decode("latin-1").split(",")]
    members = [member for member in members if member]
    names = [member.partition("=")[0] for member in members]
    if len(members) > _MOST_MEMBERS or len(set(names)) < len(names) or not all(map(_MEMBER.fullmatch, members)):
        return ""
    state = ",".join(members)
    while len(state) > _LONGEST_STATE:
        state = state.rpartition(",")[0]
    return state


def without_trace(pairs: _Pairs) -> _Pairs:
    """The fields of a request but for those that name a trace."""
    return tuple(pair for pair in pairs if pair[0].lower() not in _NAMES)
