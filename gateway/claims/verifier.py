"""Verifies signed claims: the header's form, a key that the rule trusts, the signature, then what the claim says."""

from collections.abc import Callable
from dataclasses import replace

from jwt import PyJWTError
from jwt.api_jws import PyJWS

from gateway.claims.keyfile import FileKeys
from gateway.claims.keys import Key
from gateway.claims.keyurl import Fetch, UrlKeys
from gateway.core.claim import ClaimProof, Wanted, judge_claim, read_claim_header
from gateway.core.clock import Clock
from gateway.core.decision import KEYS_UNAVAILABLE, TOKEN_INVALID, Facts, Refused
from gateway.core.rule import Algorithm, KeyFile, KeyUrl, SharedSecret, Signed
from gateway.core.token import SignedClaim
from gateway.core.write import ResourceKey

# Keys from the network or a disk come back within seconds, or an operator has to look.
_RETRY_AFTER_S = 2


class Verifier:
    """Implements `ports.Claims`. `told` hears of keys that cannot be had. They grow old while the machine sleeps."""

    def __init__(self, clock: Clock, fetch: Fetch, told: Callable[[str], None]) -> None:
        self._clock = clock
        self._fetch = fetch
        self._told = told
        self._sources: dict[KeyFile | KeyUrl, FileKeys | UrlKeys] = {}
        self._jws = PyJWS()

    async def verify(self, claim: SignedClaim, terms: Signed, resource: ResourceKey) -> ClaimProof | Refused:
        wanted = Wanted(resource, terms.audience)
        header = read_claim_header(claim.text, wanted)
        if isinstance(header, Refused):
            return header
        algorithm = next((one for one in terms.algorithms if one == header.algorithm), None)
        if algorithm is None:
            return wanted.refuse(TOKEN_INVALID, f"is not signed with {' or '.join(terms.algorithms)}")
        keys = await self._keys(terms, algorithm, header.key_id)
        if keys is None:
            detail = "Not forwarded: the keys that verify signed claims cannot be had now. Retry with the same token."
            facts = Facts(resource=resource, retry_after_s=_RETRY_AFTER_S)
            return Refused(KEYS_UNAVAILABLE, detail, facts, f"no keys from {terms.keys}")
        for key in keys:
            payload = self._payload(claim, key, algorithm)
            if payload is not None:
                return judge_claim(payload, wanted, self._clock.after(0))
        return wanted.refuse(TOKEN_INVALID, "is not signed with a key that the rule trusts")

    def close(self) -> None:
        """End what is being fetched."""
        for source in self._sources.values():
            if isinstance(source, UrlKeys):
                source.close()

    async def _keys(self, terms: Signed, algorithm: Algorithm, key_id: str | None) -> tuple[Key, ...] | None:
        if isinstance(terms.keys, SharedSecret):
            return (Key(None, frozenset(("HS256",)), terms.keys.secret),)
        source = self._sources.get(terms.keys)
        if source is None:
            source = self._renewed(terms.keys) or self._source(terms.keys)
            self._sources[terms.keys] = source
        return await source.find(algorithm, key_id)

    def _renewed(self, keys: KeyFile | KeyUrl) -> UrlKeys | None:
        """The source of the same URL whose authority's file has changed: its keys stay while the URL is away."""
        for known, source in self._sources.items():
            if isinstance(source, UrlKeys) and isinstance(keys, KeyUrl) and _is_place_of(keys, known):
                del self._sources[known]
                source.reach(keys)
                return source
        return None

    def _source(self, keys: KeyFile | KeyUrl) -> FileKeys | UrlKeys:
        if isinstance(keys, KeyFile):
            return FileKeys(keys.path, self._clock.boot, self._told, keys.kept)
        return UrlKeys(keys, self._fetch, self._clock.boot, self._told)

    def _payload(self, claim: SignedClaim, key: Key, algorithm: Algorithm) -> bytes | None:
        """The payload, if `key` signed it with `algorithm`, whatever else the header says."""
        assert algorithm in key.algorithms
        try:
            payload: bytes = self._jws.decode_complete(claim.text, key.key, [algorithm])["payload"]
        except (PyJWTError, ValueError, TypeError):
            return None
        return payload


def _is_place_of(keys: KeyUrl, known: KeyFile | KeyUrl) -> bool:
    """Whether both are read at one URL, under trust in files of the same names."""
    return isinstance(known, KeyUrl) and replace(known, tls=replace(known.tls, pem=None)) == replace(
        keys, tls=replace(keys.tls, pem=None)
    )
