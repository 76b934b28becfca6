"""Quotas: how much of what a principal may use, and what one call uses of it."""

import hashlib
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Quota:
    """Whose, and how much at most; None: as much as it likes.

    `leases` are live at once, `writes_per_minute` asked for within sixty seconds, `resources` new ones within a day.
    """

    principal: str
    leases: int | None = None
    writes_per_minute: int | None = None
    resources: int | None = None


@dataclass(frozen=True, slots=True)
class Spending:
    """What one call uses: a write; a resource, if it is a new one; a lease, under any name, for so many ms."""

    write: bool = False
    resource: str | None = None
    lease: bytes | None = None
    lease_ms: int = 0


@dataclass(frozen=True, slots=True)
class Counted:
    """A lease that counts: for whose quota, and under which name."""

    principal: str
    entry: bytes


def lease_entry(resource: str, epoch: int, secret_digest: bytes) -> bytes:
    """The name under which a granted lease counts.

    Whoever shows another resource, epoch or secret names another entry, and can end none but the lease's own.
    """
    return hashlib.sha256(b"%d.%s%s" % (epoch, secret_digest, resource.encode())).digest()[:16]
