"""Results that came too late: refused writes that a person should see, and how they are kept in quarantine."""

import base64
import hashlib
from dataclasses import dataclass
from typing import Literal

from gateway.core.decision import HOLDER_MISMATCH, LEASE_EXPIRED, STALE_EPOCH, Decision, Refused
from gateway.core.epoch import Epoch
from gateway.core.intent import TOOK_EFFECT
from gateway.core.kept_request import KeptRequest
from gateway.core.request import Headers
from gateway.core.rule import Rule
from gateway.core.write import ResourceKey, Write

# How much of a late result was kept.
Extent = Literal["whole", "head", "nothing"]

# 128 bits, of which nobody has to guess any: only operators read what is kept.
_DIGEST_BYTES = 16


@dataclass(frozen=True, slots=True)
class LateResult:
    """A write that was refused because another holder, or none, has its resource now; and the request that it was.

    `highest_epoch` ruled when it was refused. `intent` is the id of its intent's record, if there is one.
    """

    decision: Decision
    write: Write
    highest_epoch: int | None
    intent: str | None
    request: KeptRequest

    @property
    def digest(self) -> str:
        """22 characters of base64url that are the same when the same holder sends the same thing again.

        The same bytes under another idempotency key are another action, whether the rule counts keys or the upstream.
        Each part is written with its length: `a:b` and `c` are not `a` and `b:c`. Of bodies that were not kept nothing
        is known, so that one takes the place of the other.
        """
        write, request = self.write, self.request
        who = write.tenant, write.principal, write.resource, str(write.epoch), write.holder or ""
        digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)
        for part in (*who, request.method, request.target, self._key):
            digest.update(f"{len(part)}:{part}".encode("utf-8", "surrogateescape"))
        digest.update(b"head" if request.body is None else b"whole:" + request.body)
        return base64.urlsafe_b64encode(digest.digest()).rstrip(b"=").decode("ascii")

    @property
    def _key(self) -> str:
        if self.write.intent is not None:
            return self.write.intent.key
        return (Headers(self.request.headers).first(b"idempotency-key") or b"").decode("latin-1")


@dataclass(frozen=True, slots=True)
class Quarantined:
    """A late result as it lies in quarantine, without the request. Instants in milliseconds of the store's clock.

    `holder` is None where the request named none and an older lease had him. `target` has no query, which may hold
    secrets. `size` is the body's, in bytes; None where it was not kept.
    """

    id: str
    decision: str
    resource: ResourceKey
    epoch: Epoch
    highest_epoch: Epoch | None
    holder: str | None
    principal: str
    tenant: str
    upstream: str
    rule: str
    intent: str | None
    method: str
    target: str
    size: int | None
    received_at_ms: int
    expires_at_ms: int


def is_late(refused: Refused, epoch: int) -> bool:
    """Whether a write of `epoch` came too late, and not only in the wrong form or at a bad moment.

    What has been applied already is not lost, and who repeats it not late. A lease whose secret is wrong is no lease
    that was overtaken: that one's epoch is below the highest. The second write of a strict epoch is refused by the same
    word, though nobody has overtaken it.
    """
    if refused.facts.intent_state in TOOK_EFFECT:
        return False
    if refused.decision is STALE_EPOCH:
        return refused.facts.highest_epoch != epoch
    return refused.decision in (HOLDER_MISMATCH, LEASE_EXPIRED)


def is_proved(refused: Refused, rule: Rule) -> bool:
    """Whether whoever is late has shown that the resource was once his.

    A claim's signature is checked first, and the newest lease's secret. That of an overtaken lease is gone, so that
    anybody could have made it up; a bare epoch has none.
    """
    if rule.authority == "lease":
        return refused.decision is not STALE_EPOCH
    return rule.authority == "signed"
