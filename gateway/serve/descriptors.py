"""How many files and connections the system lets a process have open."""

import contextlib
import resource

from gateway.log import Log


def raise_limit() -> None:
    """As many as the system allows; the soft limit of a login shell is for programs that use select()."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def allowed_connections(wanted: int, log: Log) -> int:
    """As many of a worker's descriptors as its callers may take: upstreams, the store and spooled bodies want some."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0] * 3 // 4
    if wanted > most:
        log.warning("the system allows fewer connections than --max-connections", wanted=wanted, allowed=most)
    return min(wanted, most)
