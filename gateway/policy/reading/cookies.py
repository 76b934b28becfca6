"""What a cookie says of a name that a rule looks at elsewhere.

PHP without a php.ini, as in its official image, puts cookies into `$_REQUEST` behind the query and the form.
"""

from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import unquote_plus

from gateway.core.decision import AMBIGUOUS_TARGET, OF_NAMES, Refused
from gateway.core.request import Headers
from gateway.policy.reading.lenient_name import folded, readings


def cookie_named(headers: Headers, names: Iterable[str]) -> Refused | None:
    """The refusal of a request with a cookie that some reader takes for one of `names`, whatever its value is."""
    lines = headers.all(b"cookie")
    if not lines:
        return None
    sent = _readings(b";".join(lines))
    return next((_beside(name) for name in names if folded(name) in sent), None)


# Rules ask for one name after the other of the same request.
@lru_cache(maxsize=1)
def _readings(cookies: bytes) -> frozenset[str]:
    names = (pair.partition(b"=")[0].decode("utf-8", "replace").strip() for pair in cookies.split(b";"))
    return frozenset(reading for name in names for reading in readings(unquote_plus(name)))


def _beside(name: str) -> Refused:
    detail = f"Nothing was forwarded: a rule looks at {name}, and a cookie is called so: some servers take the cookie."
    return Refused(AMBIGUOUS_TARGET, f"{detail} Send the request without that cookie.", OF_NAMES)
