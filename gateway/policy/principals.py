"""Who may call: the principals in force, found by the digest of the key that a request presents."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from gateway.core.caller import Caller
from gateway.core.decision import HEADER_MALFORMED, UNAUTHENTICATED, Refused
from gateway.core.request import Headers

_ANYBODY = Caller()


def digest_key(key: bytes) -> bytes:
    """What is kept of a principal's key.

    A key is random and at least 16 characters long, so that neither a salt nor a slow hash would add anything; and
    looking a digest up tells a clock nothing about the key that it belongs to.
    """
    return hashlib.sha256(key).digest()


@dataclass(frozen=True, slots=True)
class Principals:
    """All principals. With none, everybody may call and do everything."""

    _by_digest: Mapping[bytes, Caller] = field(default_factory=dict, repr=False)
    _refused: Refused | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(set(self.names()))

    def __bool__(self) -> bool:
        """Asked on every request: counting them takes as long as they are many."""
        return bool(self._by_digest)

    def names(self) -> Iterable[str]:
        return (caller.principal for caller in self._by_digest.values())

    def tenants(self) -> frozenset[str]:
        """Of all who may call."""
        return frozenset(caller.tenant for caller in self._by_digest.values() or (_ANYBODY,))

    def named(self, name: str) -> Caller | None:
        """The principal of this name."""
        return next((caller for caller in self._by_digest.values() if caller.principal == name), None)

    def refusing(self, refused: Refused) -> "Principals":
        """The same, of whom nobody is let in by a key."""
        return Principals(self._by_digest, refused)

    def identify(self, headers: Headers) -> Caller | Refused:
        """Whose key `Fencegate-Key` is. Refused: `unauthenticated`, and `header-malformed` where there are two; or as
        `refusing` says.
        """
        if not self._by_digest:
            return _ANYBODY
        if self._refused is not None:
            return self._refused
        keys = headers.all(b"fencegate-key")
        if len(keys) > 1:
            return Refused(HEADER_MALFORMED, f"Fencegate-Key was sent {len(keys)} times; send it once.")
        if not keys:
            return Refused(UNAUTHENTICATED, "Nothing was done: send your key in Fencegate-Key with every request.")
        caller = self._by_digest.get(digest_key(keys[0]))
        if caller is None:
            detail = "Nothing was done: nobody has the key in Fencegate-Key."
            return Refused(UNAUTHENTICATED, f"{detail} Stop; an operator has to give you one.")
        return caller
