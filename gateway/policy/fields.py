"""One reading of a request's header or query parameter, or a refusal: never the first of two values."""

from gateway.core.caller import parse_idempotency_key
from gateway.core.decision import AMBIGUOUS_TARGET, HEADER_MALFORMED, RESOURCE_UNRESOLVED, Refused
from gateway.core.request import Headers
from gateway.core.target import Target


def read_header(headers: Headers, name: str) -> str | Refused | None:
    """The text of the header `name` (lower case), None without it.

    Refused: two of them, one that `Connection` takes away before the upstream sees it, and text that is not UTF-8. A
    name with underscores counts as the one with dashes, because CGI and its heirs read both as one.
    """
    key = name.encode("ascii")
    values = headers.all(key)
    if any(other != key and other.replace(b"_", b"-") == key for other in headers.names()):
        return _ambiguous(f"header {name} is there in two spellings")
    if not values:
        return None
    if len(values) > 1:
        return _ambiguous(f"header {name} is there {len(values)} times")
    if any(key in _options(line) for line in headers.all(b"connection")):
        return _ambiguous(f"Connection names header {name}, which would not reach the upstream")
    try:
        return values[0].decode("utf-8")
    except UnicodeDecodeError:
        return _unreadable(f"header {name}")


def read_idempotency_key(headers: Headers) -> str | Refused | None:
    """The key in `Idempotency-Key`, None without that header. Its quoted and its bare form are one key.

    Refused: two of them, what is no key, and a name with an underscore, which the upstream may read as this header.
    It is the gateway's to read whatever `Connection` says: it need not reach the upstream.
    """
    values = headers.all(b"idempotency-key")
    if headers.all(b"idempotency_key"):
        return Refused(HEADER_MALFORMED, "Nothing was forwarded: spell Idempotency-Key with a dash, and send it once.")
    if not values:
        return None
    if len(values) > 1:
        return Refused(HEADER_MALFORMED, f"Idempotency-Key was sent {len(values)} times; send it once.")
    key = parse_idempotency_key(values[0])
    if key is None:
        detail = "Nothing was forwarded: Idempotency-Key must be 1 to 255 visible ASCII characters, bare or in quotes."
        return Refused(HEADER_MALFORMED, f"{detail} Send such a key, the same one with each retry.")
    return key


def read_query(target: Target, name: str) -> str | Refused | None:
    """The value of the query parameter `name`, None without it.

    Refused: two of them, a bare `;` in the query (a separator to some readers), and text that is not UTF-8.
    """
    if target.query is None:
        return None
    values = target.query_values(name)
    alike = [other for other in target.query_names() if other != name and folded(other) == folded(name)]
    if alike:
        return _ambiguous(f"query parameter {name} is there in another spelling too")
    if len(values) > 1:
        return _ambiguous(f"query parameter {name} is there {len(values)} times")
    if any(is_unclosed(other) for other in target.query_names()):
        return _ambiguous("a query parameter's name has a bracket that is not closed, which PHP reads as an underscore")
    if ";" in target.query:
        return _ambiguous("the query has a bare semicolon, which some read as a separator (spell it %3B)")
    if not values:
        return None
    if any("\ud800" <= ch <= "\udfff" for ch in values[0]):
        return _unreadable(f"query parameter {name}")
    return values[0]


def folded(name: str) -> str:
    """What lenient readers make of a name: case, blanks and NUL around it, and brackets behind it do not count.

    To what is written in C it ends at a NUL. PHP reads dots and blanks inside it as underscores.
    """
    ended = name.strip(" \t\0").partition("\0")[0]
    return ended.partition("[")[0].strip(" \t").casefold().replace(".", "_").replace(" ", "_")


def is_unclosed(name: str) -> bool:
    """Whether a bracket in a name is not closed: `a[b` is `a_b` to PHP, and `a` or `a[b` to others."""
    _, bracket, rest = name.partition("[")
    return bool(bracket) and "]" not in rest


def _options(line: bytes) -> list[bytes]:
    return [option.strip(b" \t").lower().replace(b"_", b"-") for option in line.split(b",")]


def _ambiguous(why: str) -> Refused:
    return Refused(AMBIGUOUS_TARGET, f"Nothing was forwarded: {why}. Send one value, once.")


def _unreadable(what: str) -> Refused:
    return Refused(RESOURCE_UNRESOLVED, f"Nothing was forwarded: {what} is not UTF-8. Send it as UTF-8.")
