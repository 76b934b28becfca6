"""Intents: one business action each, named by an idempotency key, its states, and the answer that it is kept with.

(nothing) ─► in_flight ─► applied
                 ├─────► not_applied   the key is free: the next attempt is in_flight again
                 └─────► unknown ─► applied | not_applied   late evidence, a query, or an operator

What is not sent while its caller waits is parked first:

(nothing) ─► awaiting_approval ─► queued   somebody approved it
                 └─────► denied | expired | superseded   the last two leave the key free
(nothing) ─► queued ─► in_flight ─► as above, but for not_applied: queued again | failed
                 └─────► superseded | failed   the key is free; an operator may have a failed one sent again

What was done may be taken back by its compensation, which is an intent of its own:

applied ─► compensating ─► compensated     and back to applied, where that is proved not applied
"""

import binascii
import hashlib
from dataclasses import field
from typing import Literal, NewType

from gateway.core.frozen import frozen
from gateway.core.request import HeaderPairs
from gateway.core.target import Target

IntentId = NewType("IntentId", str)
State = Literal[
    "in_flight",
    "applied",
    "not_applied",
    "unknown",
    "awaiting_approval",
    "queued",
    "denied",
    "expired",
    "superseded",
    "failed",
    "compensating",
    "compensated",
]
ResolvedBy = Literal["query", "operator"]

# What may follow what; None is an intent that nobody has seen. The scripts make no other step (tests/model).
_BEGUN: frozenset[State] = frozenset({"in_flight", "awaiting_approval", "queued"})
TRANSITIONS: dict[State | None, frozenset[State]] = {
    None: _BEGUN,
    # queued, failed: of a delivery that is proved not applied.
    "in_flight": frozenset({"applied", "not_applied", "unknown", "queued", "failed"}),
    # in_flight: a further attempt, where the upstream itself refuses the second by the forwarded key.
    "unknown": frozenset({"applied", "not_applied", "in_flight"}),
    # applied, here and below: evidence came late, and says that something had been done after all.
    "not_applied": _BEGUN | {"applied"},
    # compensated: its compensation was believed not to be applied, and was after all.
    "applied": frozenset({"compensating", "compensated"}),
    "compensating": frozenset({"applied", "compensated"}),
    "compensated": frozenset(),
    # unknown: a store that went back in time may have forgotten that it was sent.
    "awaiting_approval": frozenset({"queued", "denied", "expired", "superseded", "applied", "unknown"}),
    "queued": frozenset({"in_flight", "superseded", "failed", "applied", "unknown"}),
    "denied": frozenset(),
    "expired": _BEGUN | {"applied"},
    "superseded": _BEGUN | {"applied"},
    "failed": _BEGUN | {"applied"},
}

# It was done, whether or not it was taken back since: it is answered from its record, and never sent again.
TOOK_EFFECT: frozenset[State] = frozenset({"applied", "compensating", "compensated"})

# 128 bits: within one tenant, resource and target, two keys never meet.
_DIGEST_BYTES = 16
# Before the digest a record's id names the shard that has it, in three hexadecimal digits (store/keys.py).
_SHARD_LENGTH = 3
_URL_SAFE = bytes.maketrans(b"+/", b"-_")
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


@frozen
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

    def saying(self, fingerprint: bytes) -> "Intent":
        """The same intent, with what its request says."""
        return Intent(self.key, self.tenant, self.target, self.digest, fingerprint)


@frozen
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
    kept = []
    for pair in headers:
        name = pair[0].lower()
        if name in _REPLAYED_HEADERS or name in more:
            kept.append(pair)
    return KeptAnswer(status, tuple(kept), body)


def unpack_answer(packed: bytes) -> KeptAnswer:
    """The inverse of `KeptAnswer.pack`."""
    head, _, body = packed.partition(_HEAD_ENDS)
    status, *lines = head.split(b"\r\n")
    pairs = (line.partition(b": ") for line in lines)
    return KeptAnswer(int(status), tuple((name, value) for name, _, value in pairs), body)


def intent_digest(
    tenant: str, resource: str, method: str, host: str | None, target: Target, key: str, *, round: bytes = b""
) -> str:
    """22 characters of base64url that name an intent. `host` is that of a mount by host, or the agent's own where that
    is forwarded: two APIs may share a path. `round`: with what a call goes on, at most 16 bytes; empty at its first.

    Two spellings of one target are one: a retry may come through another client. Each part is written with its length:
    `a:b` and `c` are not `a` and `b:c`; and the segments with their number, so that none is taken for the query.
    """
    segments = target.segments
    parts = (tenant, resource, method, host or "", str(len(segments)), *segments, *target.query_pairs(), key)
    spelled = "".join([f"{len(part)}:{part}" for part in parts])
    spelled_bytes = spelled.encode("utf-8", "surrogateescape")
    digest = hashlib.blake2b(spelled_bytes, digest_size=_DIGEST_BYTES, person=round).digest()
    # What base64.urlsafe_b64encode does, in half the time.
    return binascii.b2a_base64(digest, newline=False).translate(_URL_SAFE, b"=").decode("ascii")


def digest_of(id: IntentId) -> str:
    """The digest of the intent that has a record of this id."""
    return id[_SHARD_LENGTH:]
