"""What a cookie says of a name that a rule looks at elsewhere.

PHP without a php.ini, as in its official image, puts cookies into `$_REQUEST` behind the query and the form.
"""

from collections.abc import Iterable
from urllib.parse import unquote_plus

from gateway.core.decision import AMBIGUOUS_TARGET, OF_NAMES, Refused
from gateway.core.request import Headers
from gateway.policy.reading.lenient_name import folded, readings


def cookie_named(headers: Headers, names: Iterable[str]) -> Refused | None:
    """The refusal of a request with a cookie that some reader takes for one of `names`, whatever its value is."""
    lines = headers.all(b"cookie")
    if not lines:
        return None
    wanted = {folded(name): name for name in names}
    for pair in b";".join(lines).split(b";"):
        sent = pair.partition(b"=")[0].decode("utf-8", "replace")
        for reading in readings(unquote_plus(sent.strip())) if sent else ():
            if reading in wanted:
                return _beside(wanted[reading])
    return None


def _beside(name: str) -> Refused:
    detail = f"Nothing was forwarded: a rule looks at {name}, and a cookie is called so: some servers take the cookie."
    return Refused(AMBIGUOUS_TARGET, f"{detail} Send the request without that cookie.", OF_NAMES)
