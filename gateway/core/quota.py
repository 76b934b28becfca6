"""Quotas: how much of what a principal may use, and what one call uses of it."""

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
    """What one call uses: a write; a resource, if it is a new one; a lease, by its secret's digest, for so many ms."""

    write: bool = False
    resource: str | None = None
    lease: bytes | None = None
    lease_ms: int = 0
