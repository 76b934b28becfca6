"""What a body that calls itself something else says to servers that read any body as a form.

Bottle does, whatever the type is, and JSON as well: to it `{"a": "&id=8&b="}` has a field `id`.
"""

import re
from string import punctuation
from urllib.parse import unquote_plus

from gateway.core.decision import AMBIGUOUS_TARGET, OF_BODIES, Refused
from gateway.policy.reading.lenient_name import folded, readings

# Bottle's MEMFILE_MAX: it answers 413 to what is longer. So uploads stream under a rule that looks at a query.
MOST_BYTES = 100 << 10
# What has other marks than a field's name has mostly is text of JSON that stands between two `&`.
_OTHER_MARKS = punctuation.translate(str.maketrans("", "", "-._[]"))
_PLAIN = re.compile(f"[^{re.escape(_OTHER_MARKS)}]*")


def names_within(body: bytes) -> frozenset[str]:
    """All that some reader takes for a field's name, folded, and with other marks as it stands; none of a body that is
    too long for such a form."""
    if len(body) > MOST_BYTES:
        return frozenset()
    pairs = body.decode("utf-8", "replace").replace(";", "&").split("&")
    names = map(unquote_plus, {pair.partition("=")[0] for pair in pairs})
    return frozenset(reading for name in names if name for reading in _readings(name))


def names_within_json(body: bytes) -> frozenset[str]:
    """As `names_within`. Without a separator the first name is all there is, and it begins as JSON does."""
    return names_within(body) if b"&" in body or b";" in body else frozenset()


def said_within(name: str, names: frozenset[str]) -> Refused | None:
    """The refusal of a name that a rule looks at elsewhere, where it is among those of a body."""
    if folded(name) not in names and name not in names:
        return None
    detail = f"Nothing was forwarded: a server that reads any body as a form finds {name} in this one, beside the URL's"
    return Refused(
        AMBIGUOUS_TARGET, f"{detail}. Send it without; in JSON, spell `&` as \\u0026 and `;` as \\u003b.", OF_BODIES
    )


def _readings(name: str) -> tuple[str, ...]:
    return readings(name) if _PLAIN.fullmatch(name) else (name,)
