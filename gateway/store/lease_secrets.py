"""Secrets of leases that were asked for with a key: the same one while the lease lives, for nobody else to find."""

import base64
import hashlib
import hmac
import json
import secrets

from gateway.core.lease import LeaseMark, LeaseSecret
from gateway.core.write import ResourceKey
from gateway.store.answer import number
from gateway.store.keys import PEPPER, resource_keys
from gateway.store.links.topology import Topology

# Bytes that name a call with a key, and as many that are drawn for each of its grants (`scripts/grant.lua`). The first
# of them are the same for all calls of a principal.
_MARK_HALF = 16
# In base64, as which they are a part of a key's name.
_OF_PRINCIPAL = 3


class LeaseSecrets:
    """256 bits each, from a key that only the store has, so that all gateways find the same."""

    def __init__(self, link: Topology) -> None:
        self._link = link

    async def secret_of(
        self, call: tuple[str, str, str], resource: ResourceKey, holder: str, now_ms: int
    ) -> LeaseSecret:
        """That of the call, its tenant, principal and key, while its lease lives. Where there is none, what it is made
        of is drawn anew, for the script to judge. `now_ms`: by the store's clock. Raises StoreUnavailable.
        """
        tenant, principal, key = call
        pepper = await self._peppered()
        of_principal = base64.urlsafe_b64encode(_named(pepper, tenant, principal)[:_OF_PRINCIPAL])
        named = (of_principal + _named(pepper, tenant, principal, key, resource, holder))[:_MARK_HALF]
        found = await self._link.call("HMGET", resource_keys(resource)[0], "k", "x")
        assert isinstance(found, list)
        live, expires = found
        repeats = isinstance(live, bytes) and live[:_MARK_HALF] == named and number(expires or 0) > now_ms
        mark = live if isinstance(live, bytes) and repeats else named + secrets.token_bytes(_MARK_HALF)
        digest = hmac.digest(pepper, mark, hashlib.sha256)
        return LeaseSecret(base64.urlsafe_b64encode(digest).rstrip(b"=").decode(), LeaseMark(mark, repeats))

    async def _peppered(self) -> bytes:
        """Asked each time: a store that was emptied has another one, and all gateways have to find the same."""
        pepper = await self._link.call("GET", PEPPER)
        if pepper is None:
            await self._link.call("SET", PEPPER, secrets.token_bytes(32), "NX")
            pepper = await self._link.call("GET", PEPPER)
        assert isinstance(pepper, bytes)
        return pepper


def _named(pepper: bytes, *about: str) -> bytes:
    """256 bits that nobody can make without the store's key."""
    return hmac.digest(pepper, json.dumps(about).encode(), hashlib.sha256)
