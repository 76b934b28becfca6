"""A lease: an epoch, its holder and a deadline by the store's clock."""

from dataclasses import dataclass, field

from gateway.core.epoch import Epoch
from gateway.core.quota import Counted
from gateway.core.token import digest_secret

# Renewing at a third of the term leaves two more tries before it ends.
RENEW_FRACTION = 3
# Shorter terms end between two heartbeats of a busy agent; longer ones keep a dead one's resource for a day.
TTL_RANGE_S = (1, 86_400)


@dataclass(frozen=True, slots=True)
class LeaseMark:
    """Of a call with an idempotency key: which call it is, and what its secret is made of, in one.

    `repeats`: its lease was there, under this very secret; it is found again, and never granted anew.
    """

    spelled: bytes
    repeats: bool = False


@dataclass(frozen=True, slots=True)
class LeaseSecret:
    """What proves a lease, in base64url. It belongs to one epoch: none is granted under the secret of an ended one.

    `mark` is None for a call without a key, whose repeat nobody recognises.
    """

    text: str = field(repr=False)
    mark: LeaseMark | None = None

    @property
    def digest(self) -> bytes:
        return digest_secret(self.text)


@dataclass(frozen=True, slots=True)
class Lease:
    """Instants in milliseconds of the store's clock since 1970. `in_flight` counts older writes that have not ended.

    `left_ms` is what was left of the term when it was renewed. `overtakes`: the lease that this grant has ended, where
    it counts for a quota.
    """

    resource: str
    holder: str
    epoch: Epoch
    ttl_ms: int
    expires_at_ms: int
    in_flight: int
    left_ms: int | None = None
    overtakes: Counted | None = None

    @property
    def drained(self) -> bool:
        return self.in_flight == 0

    @property
    def renew_after_ms(self) -> int:
        return self.ttl_ms // RENEW_FRACTION
