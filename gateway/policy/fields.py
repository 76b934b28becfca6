"""One reading of a request's header or query parameter, or a refusal: never the first of two values."""

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from gateway.core.caller import parse_idempotency_key
from gateway.core.decision import AMBIGUOUS_TARGET, HEADER_MALFORMED, RESOURCE_UNRESOLVED, Refused
from gateway.core.hop_by_hop import nominated
from gateway.core.request import Headers
from gateway.core.target import Target, query_fields
from gateway.policy.hidden import seen

_SURROGATE = re.compile("[\ud800-\udfff]")


def read_header(headers: Headers, name: str) -> str | Refused | None:
    """The text of the header `name` (lower case), None without it.

    Refused: two of them, one that `Connection` takes away before the upstream sees it, and text that is not UTF-8. A
    name with underscores or dots counts as the one with dashes, because CGI and its heirs read them as one.
    """
    key = name.encode("ascii")
    if key in headers.respelled():
        return _ambiguous(f"header {name} is there in two spellings")
    value = headers.first(key)
    if value is None:
        return None
    if key in headers.repeated():
        return _ambiguous(f"header {name} is there {len(headers.all(key))} times")
    if key in nominated(headers.all(b"connection")):
        return _ambiguous(f"Connection names header {name}, which would not reach the upstream")
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return _unreadable(f"header {name}")


def read_idempotency_key(headers: Headers) -> str | Refused | None:
    """The key in `Idempotency-Key`, None without that header. Its quoted and its bare form are one key.

    Refused: two of them, what is no key, and another spelling of the name, which the upstream may read as this header.
    It is the gateway's to read whatever `Connection` says: it need not reach the upstream.
    """
    value = headers.first(b"idempotency-key")
    if b"idempotency-key" in headers.respelled():
        return Refused(HEADER_MALFORMED, "Nothing was forwarded: spell Idempotency-Key with a dash, and send it once.")
    if value is None:
        return None
    if b"idempotency-key" in headers.repeated():
        times = len(headers.all(b"idempotency-key"))
        return Refused(HEADER_MALFORMED, f"Idempotency-Key was sent {times} times; send it once.")
    key = parse_idempotency_key(value)
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
    parameters = _read_parameters(target.query)
    alike = parameters.alike.get(folded(name), [])
    if any(spelled != name for spelled, _ in alike):
        return _ambiguous(f"query parameter {name} is there in another spelling too")
    if len(alike) > 1:
        return _ambiguous(f"query parameter {name} is there {len(alike)} times")
    if parameters.fault is not None:
        return _ambiguous(parameters.fault)
    if not alike:
        return None
    (_, value), *_ = alike
    return value if value.isascii() or not _SURROGATE.search(value) else _unreadable(f"query parameter {name}")


@dataclass(frozen=True, slots=True)
class _Parameters:
    """Names and values by what lenient readers make of the name, and what makes all of them ambiguous."""

    alike: Mapping[str, list[tuple[str, str]]]
    fault: str | None


# Rules ask for one parameter after the other of the same request.
@lru_cache(maxsize=1)
def _read_parameters(query: str) -> _Parameters:
    alike: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    fault = None
    if ";" in query:
        fault = "the query has a bare semicolon, which some read as a separator (spell it %3B)"
    for name, value in query_fields(query):
        alike[folded(name)].append((name, value))
        if is_unclosed(name):
            fault = "a query parameter's name has a bracket that is not closed, which PHP reads as an underscore"
    return _Parameters(alike, fault)


def folded(name: str) -> str:
    """What lenient readers make of a name: case, what nobody sees, and brackets behind it do not count.

    To what is written in C it ends at a NUL. PHP reads dots and blanks inside it as underscores.
    """
    if name.isascii() and name.isidentifier():
        return name.casefold()
    ended = seen(name.strip(" \t\0"))
    return ended.partition("[")[0].strip(" \t").casefold().replace(".", "_").replace(" ", "_")


def is_unclosed(name: str) -> bool:
    """Whether a bracket in a name is not closed: `a[b` is `a_b` to PHP, and `a` or `a[b` to others."""
    _, bracket, rest = name.partition("[")
    return bool(bracket) and "]" not in rest


def _ambiguous(why: str) -> Refused:
    return Refused(AMBIGUOUS_TARGET, f"Nothing was forwarded: {why}. Send one value, once.")


def _unreadable(what: str) -> Refused:
    return Refused(RESOURCE_UNRESOLVED, f"Nothing was forwarded: {what} is not UTF-8. Send it as UTF-8.")
