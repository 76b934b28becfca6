"""Requests as the store keeps them: deflated where that pays, told of in JSON, within bounds."""

import asyncio
import base64
import hashlib
import json
import zlib
from dataclasses import dataclass

from gateway.core.compensation import Unavailable, Undo
from gateway.core.kept_request import KeptRequest, unpack_request
from gateway.core.late import LateResult
from gateway.core.request import Headers
from gateway.store.keys import shard_of

# Of less there is too little to gain.
_SHORTEST = 160
# The fastest level: what is kept here is read once, if at all.
_LEVEL = 1
# Before what is deflated; the packed form itself begins with a digit.
_MARK = b"z"
# Digesting and deflating more than this takes over a millisecond, and the event loop would wait for it.
_AT_ONCE = 64 << 10
# 256 bits: an agent that wrote two requests with one digest could have the other one approved.
_DIGEST_BYTES = 32

# What the store spends on one beside the request. Spelled in `scripts/parts/parking.lua` as well.
_OVERHEAD = 1024

# Of one principal and one resource: a person reads no more of them, and who repeats himself takes nobody's place.
_EACH = 20
# Of one shard. A script looks at all of them: a quarter of a millisecond in which the store serves nobody else.
_IN_A_SHARD = 256


@dataclass(frozen=True, slots=True)
class QuarantineBounds:
    """How long what came too late is kept, in seconds, and how many bytes of it in all shards together."""

    seconds: float = 604_800.0
    bytes: int = 256 << 20

    def words(self, used: int) -> str:
        """As the script reads them, where `used` bytes are taken."""
        room = max(0, self.bytes - used)
        return f"lives:{round(self.seconds * 1000)} each:{_EACH} shard:{_IN_A_SHARD} room:{room}"


@dataclass(frozen=True, slots=True)
class Spelled:
    """A late result in the words of the store: its id, what is told of it, and the request."""

    id: str
    about: str
    request: bytes


@dataclass(frozen=True, slots=True)
class ParkedRequest:
    """A request that is kept to be sent later: as it is stored, and the digest that names it."""

    packed: bytes
    digest: str

    @property
    def bytes(self) -> int:
        """What it takes of the store's room."""
        return len(self.packed) + _OVERHEAD


async def parked(request: KeptRequest) -> ParkedRequest:
    """A large body is digested and deflated in a thread."""
    if len(request.body or b"") <= _AT_ONCE:
        return _park(request)
    return await asyncio.to_thread(_park, request)


def digest_request(request: KeptRequest) -> str:
    """43 characters of base64url: who approves a request approves this one, and no other has its digest."""
    digest = hashlib.blake2b(request.pack(), digest_size=_DIGEST_BYTES).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode("ascii")


async def spelled(late: LateResult) -> Spelled:
    """A large body is digested and deflated in a thread."""
    if len(late.request.body or b"") <= _AT_ONCE:
        return _spell(late)
    return await asyncio.to_thread(_spell, late)


def deflate_request(request: KeptRequest) -> bytes:
    """A request as it is stored: never longer than its packed form. What has a coding is not deflated again."""
    packed = request.pack()
    if len(packed) < _SHORTEST or Headers(request.headers).first(b"content-encoding") is not None:
        return packed
    return min(_MARK + zlib.compress(packed, _LEVEL), packed, key=len)


def spelled_undo(undo: Undo | None) -> tuple[str | bytes, ...]:
    """What would take a write back, as `settle.lua` keeps it: the request, or why there is none. It is short."""
    if undo is None:
        return ()
    return ("none", undo.why) if isinstance(undo, Unavailable) else ("request", deflate_request(undo))


def inflate_request(stored: bytes) -> KeptRequest:
    """The inverse of `deflate_request`."""
    if not stored.startswith(_MARK):
        return unpack_request(stored)
    return unpack_request(zlib.decompress(stored[len(_MARK) :]))


def _park(request: KeptRequest) -> ParkedRequest:
    return ParkedRequest(deflate_request(request), digest_request(request))


def _spell(late: LateResult) -> Spelled:
    write, request = late.write, late.request
    about = {
        "decision": late.decision.name,
        "resource": write.resource,
        "epoch": str(write.epoch),
        "highest_epoch": "" if late.highest_epoch is None else str(late.highest_epoch),
        "holder": write.holder or "",
        "principal": write.principal,
        "trace": write.trace_id,
        "tenant": write.tenant,
        "upstream": write.rule.upstream.name,
        "rule": write.rule.name,
        "intent": late.intent or "",
        "method": request.method,
        "target": request.target.partition("?")[0],
        "size": -1 if request.body is None else len(request.body),
    }
    return Spelled(shard_of(write.resource) + late.digest, json.dumps(about), deflate_request(request))
