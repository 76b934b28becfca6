"""Verification that is made when the first claim comes: its libraries take ten megabytes in each worker."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from gateway.core.claim import ClaimProof
from gateway.core.decision import Refused
from gateway.core.rule import Signed
from gateway.core.token import SignedClaim
from gateway.core.write import ResourceKey

if TYPE_CHECKING:
    from gateway.claims.verifier import Verifier


class Verification:
    """Implements `ports.Claims` by a Verifier that is made late.

    No claim waits for the libraries: a policy that takes claims has loaded them, in a thread.
    """

    def __init__(self, make: "Callable[[], Verifier]") -> None:
        self._make = make
        self._verifier: Verifier | None = None

    async def verify(self, claim: SignedClaim, terms: Signed, resource: ResourceKey) -> ClaimProof | Refused:
        if self._verifier is None:
            self._verifier = self._make()
        return await self._verifier.verify(claim, terms, resource)

    def close(self) -> None:
        if self._verifier is not None:
            self._verifier.close()
