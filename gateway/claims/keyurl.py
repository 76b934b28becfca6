"""Keys from a JWKS URL: fetched when they are first wanted, again when a claim names an unknown one, and now and then.

PyJWT's own client blocks, and asks for each unknown `kid`: whoever invents one a second would have it ask as often.
"""

import asyncio
from collections.abc import Awaitable, Callable

from gateway.claims.fault import KeyFault
from gateway.claims.keys import Key, KeySet, read_keys
from gateway.core.rule import Algorithm, KeyUrl

# For a `kid` that nobody knows, at most this often: an issuer publishes a key before it signs with it.
_UNKNOWN_EVERY_S = 30.0
# A key that was withdrawn is trusted at most this much longer, while the URL answers.
_STALE_AFTER_S = 300.0
# While there are no keys at all, every write waits for them; this often the URL is asked.
_FIRST_EVERY_S = 2.0

# Bounded in time and size, and without redirects, by whoever implements it.
Fetch = Callable[[KeyUrl], Awaitable[bytes | KeyFault]]


class UrlKeys:
    """The keys of one URL. While it is away, or answers with anything but keys, the last ones stay.

    `now` is monotonic, in seconds; `told` is given each fault.
    """

    def __init__(self, url: KeyUrl, fetch: Fetch, now: Callable[[], float], told: Callable[[str], None]) -> None:
        self._url = url
        self._fetch = fetch
        self._now = now
        self._told = told
        self._keys: KeySet | None = None
        self._fetched_at: float | None = None
        self._fetching: asyncio.Task[None] | None = None

    async def find(self, algorithm: Algorithm, key_id: str | None) -> tuple[Key, ...] | None:
        """The keys that fit; None while none can be had at all."""
        if self._keys is None:
            if self._is_due(_FIRST_EVERY_S):
                await self._refreshed()
            return None if self._keys is None else self._keys.fitting(algorithm, key_id)
        found = self._keys.fitting(algorithm, key_id)
        if not found and self._is_due(_UNKNOWN_EVERY_S):
            await self._refreshed()
            return self._keys.fitting(algorithm, key_id)
        if self._is_due(_STALE_AFTER_S):
            self._begin()
        return found

    def close(self) -> None:
        if self._fetching is not None:
            self._fetching.cancel()

    def _is_due(self, every_s: float) -> bool:
        """Whether a fetch is under way that may be joined, or the last one began long enough ago."""
        if self._fetching is not None or self._fetched_at is None:
            return True
        return self._now() - self._fetched_at >= every_s

    async def _refreshed(self) -> None:
        # A caller that leaves takes the fetch from nobody else who waits for it.
        await asyncio.shield(self._begin())

    def _begin(self) -> asyncio.Task[None]:
        if self._fetching is None:
            self._fetched_at = self._now()
            self._fetching = asyncio.get_running_loop().create_task(self._refresh())
        return self._fetching

    async def _refresh(self) -> None:
        try:
            content = await self._fetch(self._url)
            keys = content if isinstance(content, KeyFault) else read_keys(content)
            if isinstance(keys, KeySet):
                self._keys = keys
            else:
                self._told(f"the keys at {self._url} were not fetched: {keys.why}")
        finally:
            self._fetching = None
