"""How much each principal may have kept of what nobody can check: a made-up token costs the store next to nothing."""

from gateway.core.clock import Clock

# Of one principal, in this time and in one process. Overtaken holders are few, and each sends its result once or twice.
_BYTES = 4 << 20
_WITHIN_S = 60.0


class Allowance:
    """Bytes that are given out and grow back. Principals are those of the policies, so that there are not many."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._used: dict[tuple[str, str], tuple[float, float]] = {}

    def take(self, tenant: str, principal: str, size: int) -> bool:
        """Take `size` bytes, or nothing."""
        now = self._clock.boot()
        used, at = self._used.get((tenant, principal), (0.0, now))
        used = max(0.0, used - (now - at) * _BYTES / _WITHIN_S)
        if used + size > _BYTES:
            return False
        self._used[tenant, principal] = used + size, now
        return True
