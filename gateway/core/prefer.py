"""`Prefer: wait=N` (RFC 7240): how long a caller would rather wait than be told that its write was taken."""

import re

from gateway.core.request import Headers

# Below the minute after which proxies on the way give a silent connection up.
LONGEST_WAIT_S = 55
_WAIT = re.compile(rb'\s*wait\s*=\s*"?([0-9]{1,9})"?\s*(?:;.*)?', re.IGNORECASE)


def preferred_wait_s(headers: Headers) -> int | None:
    """Whole seconds, at most 55; None where nothing is preferred. A preference that cannot be read is none.

    Where it stands twice, the first counts (section 2).
    """
    for value in headers.all(b"prefer"):
        for preference in value.split(b","):
            wait = _WAIT.fullmatch(preference)
            if wait is not None:
                return min(int(wait[1]), LONGEST_WAIT_S)
    return None
