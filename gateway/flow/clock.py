"""The gateway's own clock: it goes on while the process or the machine is suspended (G7)."""

import time
from functools import partial

from gateway.core.clock import Deadline

# CLOCK_MONOTONIC stands still while a laptop or a virtual machine sleeps. Where CLOCK_BOOTTIME does not exist (macOS),
# CLOCK_MONOTONIC is the one that counts sleep.
_BOOT = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class BootClock:
    """Two clocks, the earlier expiry wins: the wall clock covers a suspended guest whose boot clock was frozen too."""

    # No function of its own: a write asks twenty times.
    boot = staticmethod(partial(time.clock_gettime, _BOOT))

    def after(self, seconds: float) -> Deadline:
        return Deadline(time.clock_gettime(_BOOT) + seconds, time.clock_gettime(time.CLOCK_REALTIME) + seconds)

    def left(self, deadline: Deadline) -> float:
        boot = deadline.boot - time.clock_gettime(_BOOT)
        wall = deadline.wall - time.clock_gettime(time.CLOCK_REALTIME)
        return boot if boot < wall else wall
