"""Intents: one business action each, named by an idempotency key, its states, and the answer that it is kept with.

(nothing) ─► in_flight ─► applied
                 ├─────► not_applied   the key is free: the next attempt is in_flight again
                 └─────► unknown ─► applied | not_applied   late evidence, a query, or an operator
"""

import base64
import hashlib
from dataclasses import dataclass, field
from typing import Literal, NewType

from gateway.core.request import HeaderPairs
from gateway.core.target import Target

IntentId = NewType("IntentId", str)
State = Literal["in_flight", "applied", "not_applied", "unknown"]
ResolvedBy = Literal["query", "operator"]

# What may follow what; None is an intent that nobody has seen. The scripts make no other step (tests/model).
TRANSITIONS: dict[State | None, frozenset[State]] = {
    None: frozenset({"in_flight"}),
    "in_flight": frozenset({"applied", "not_applied", "unknown"}),
    # in_flight: a further attempt, where the upstream itself refuses the second by the forwarded key.
    "unknown": frozenset({"applied", "not_applied", "in_flight"}),
    "not_applied": frozenset({"in_flight", "applied"}),
    "applied": frozenset(),
}

# 128 bits: within one tenant, resource and target, two keys never meet.
_DIGEST_BYTES = 16
# What describes the body, or names what was made: true of the answer whenever it is read.
_REPLAYED_HEADERS = frozenset(
    (
        b"content-encoding",
        b"content-language",
        b"content-location",
        b"content-type",
        b"etag",
        b"last-modified",
        b"link",
        b"location",
    )
)
_HEAD_ENDS = b"\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Intent:
    """One business action as a request names it.

    It is (tenant, resource, method and target, key): the same key elsewhere is another intent. `digest` names these
    four in one word, also to an upstream that takes keys itself: all tenants share one credential there.
    `fingerprint` says what the request said; empty where the rule does not compare.
    `target` is for people: `POST /mail`, without the query, which may hold secrets.
    """

    key: str
    tenant: str
    target: str
    digest: str
    fingerprint: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """An upstream's answer as it is replayed: the headers of the allow-list, the body byte for byte."""

    status: int
    headers: HeaderPairs
    body: bytes = field(repr=False)

    def pack(self) -> bytes:
        """One string of bytes: the status, the header lines, an empty line, the body."""
        lines = [b"%d" % self.status, *(name + b": " + value for name, value in self.headers)]
        return b"\r\n".join(lines) + _HEAD_ENDS + self.body


def keep_answer(status: int, headers: HeaderPairs, body: bytes, more: frozenset[bytes]) -> KeptAnswer:
    """An answer as it is kept. `more` are header names, in lower case, that a policy allows beyond the usual ones.

    Never cookies, dates, limits or request ids: they belong to one exchange and one caller.
    """
    return KeptAnswer(status, tuple(pair for pair in headers if pair[0].lower() in _REPLAYED_HEADERS | more), body)


def unpack_answer(packed: bytes) -> KeptAnswer:
    """The inverse of `KeptAnswer.pack`."""
    head, _, body = packed.partition(_HEAD_ENDS)
    status, *lines = head.split(b"\r\n")
    pairs = (line.partition(b": ") for line in lines)
    return KeptAnswer(int(status), tuple((name, value) for name, _, value in pairs), body)


def intent_digest(tenant: str, resource: str, method: str, host: str | None, target: Target, key: str) -> str:
    """22 characters of base64url that name an intent. `host` is that of a mount by host: two APIs may share a path.

    Two spellings of one target are one: a retry may come through another client. Each part is written with its length:
    `a:b` and `c` are not `a` and `b:c`.
    """
    parts = (tenant, resource, method, host or "", *target.segments, "?", *target.query_pairs(), key)
    spelled = "".join(f"{len(part)}:{part}" for part in parts)
    digest = hashlib.blake2b(spelled.encode("utf-8", "surrogateescape"), digest_size=_DIGEST_BYTES).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode("ascii")
