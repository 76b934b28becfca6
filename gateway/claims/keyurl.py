"""Keys from a JWKS URL: fetched when they are first wanted, again when a claim names an unknown one, and now and then.

PyJWT's own client blocks, and asks for each unknown `kid`: whoever invents one a second would have it ask as often.
"""

import asyncio
import math
from collections.abc import Awaitable, Callable

from gateway.claims.fault import KeyFault
from gateway.claims.keys import Key, KeySet, read_keys
from gateway.core.rule import Algorithm, KeyUrl

# For a `kid` that nobody knows, at most this often: an issuer publishes a key before it signs with it.
_UNKNOWN_EVERY_S = 30.0
# A key that was withdrawn is trusted at most this much longer, while the URL answers: no claim is judged by older keys
# before the URL was asked.
_STALE_AFTER_S = 300.0
# Where claims keep coming, the keys are renewed beside them before any has to wait for that.
_RENEW_AFTER_S = 240.0
# A URL that failed just now is taken to be away for so long: claims do not wait for it again and again.
_AWAY_FOR_S = 60.0
# While there are no keys at all, every write waits for them; this often the URL is asked.
_FIRST_EVERY_S = 2.0

# Bounded in time and size, and without redirects, by whoever implements it.
Fetch = Callable[[KeyUrl], Awaitable[bytes | KeyFault]]


class UrlKeys:
    """The keys of one URL. While it is away, or answers with anything but a JWKS, the last ones stay; a JWKS without a
    key that can be used withdraws them all.

    `now` is monotonic, in seconds; `told` is given each fault. Each instant is None before there was one: of the last
    fetch its beginning and its end, and of the last that brought keys its beginning.
    """

    def __init__(self, url: KeyUrl, fetch: Fetch, now: Callable[[], float], told: Callable[[str], None]) -> None:
        self._url = url
        self._fetch = fetch
        self._now = now
        self._told = told
        self._keys: KeySet | None = None
        self._fetched_at: float | None = None
        self._ended_at: float | None = None
        self._known_at: float | None = None
        self._fetching: asyncio.Task[None] | None = None

    async def find(self, algorithm: Algorithm, key_id: str | None) -> tuple[Key, ...] | None:
        """The keys that fit; None while none can be had at all."""
        if self._keys is None:
            if self._is_due(_FIRST_EVERY_S):
                await self._refreshed()
            return self._fitting(algorithm, key_id)
        found = self._keys.fitting(algorithm, key_id)
        if self._is_stale() or (not found and self._is_due(_UNKNOWN_EVERY_S)):
            await self._refreshed()
            return self._fitting(algorithm, key_id)
        if self._since(self._known_at) >= _RENEW_AFTER_S and self._is_due(_UNKNOWN_EVERY_S):
            self._begin()
        return found

    def reach(self, url: KeyUrl) -> None:
        """Fetch from here from now on: its trust is another one. The keys stay until it has answered."""
        if url != self._url:
            self._url = url
            self._known_at = self._ended_at = None

    def close(self) -> None:
        if self._fetching is not None:
            self._fetching.cancel()

    def _fitting(self, algorithm: Algorithm, key_id: str | None) -> tuple[Key, ...] | None:
        return None if self._keys is None else self._keys.fitting(algorithm, key_id)

    def _is_due(self, every_s: float) -> bool:
        """Whether a fetch is under way that may be joined, or the last one began long enough ago."""
        return self._fetching is not None or self._since(self._fetched_at) >= every_s

    def _is_stale(self) -> bool:
        """Whether the URL has to be asked before the keys are used, and has not just failed."""
        return self._since(self._known_at) >= _STALE_AFTER_S and self._since(self._ended_at) >= _AWAY_FOR_S

    def _since(self, instant: float | None) -> float:
        return math.inf if instant is None else self._now() - instant

    async def _refreshed(self) -> None:
        # A caller that leaves takes the fetch from nobody else who waits for it.
        await asyncio.shield(self._begin())

    def _begin(self) -> asyncio.Task[None]:
        if self._fetching is None:
            self._fetched_at = self._now()
            self._fetching = asyncio.get_running_loop().create_task(self._refresh())
        return self._fetching

    async def _refresh(self) -> None:
        url, began = self._url, self._now()
        try:
            content = await self._fetch(url)
            keys = content if isinstance(content, KeyFault) else read_keys(content)
            if isinstance(keys, KeySet):
                self._keys = keys
                self._known_at = began if url is self._url else None
            else:
                if keys.is_empty:
                    self._keys = None
                self._told(f"the keys at {url} were not fetched: {keys.why}")
        finally:
            self._ended_at = self._now() if url is self._url else None
            self._fetching = None
