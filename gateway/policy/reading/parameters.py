"""One reading of a request's query, or a refusal: never the first of two values, nor what only some servers see."""

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote_plus

from gateway.core.decision import AMBIGUOUS_TARGET, OF_NAMES, Refused
from gateway.core.target import Target, query_fields
from gateway.policy.reading.fields import unreadable
from gateway.policy.reading.lenient_name import folded, is_unclosed, readings
from gateway.policy.reading.overriding import may_override, overriding_among

# What common servers read at most (PHP, Express, Tomcat); some drop the others in silence. Tomcat counts a query and a
# form together.
MOST_FIELDS = 1000
_ESCAPE = re.compile("%[0-9A-Fa-f]{2}")
# Where qs (Express, Koa) ends a name that it looks for: of this and the first equals sign it takes this.
_BRACKET_ENDS = re.compile(r"(?:\]|%5[Dd])=")
# SvelteKit runs a page's action by the name of the first parameter that begins so (`?/save`), whatever follows.
_ACTION = "/"
_SURROGATE = re.compile("[\ud800-\udfff]")
_WIDE_ESCAPE = re.compile("%u([0-9A-Fa-f]{4})", re.IGNORECASE)
_BAD_NAME = Refused(
    AMBIGUOUS_TARGET,
    "Nothing was forwarded: a query parameter's name has a percent sign that begins no escape. To servers that read "
    "`%u0065` as `e`, or drop what is none, it is another name. Spell it %25.",
    OF_NAMES,
)


def read_query(target: Target, name: str) -> str | Refused | None:
    """The value of the query parameter `name`, None without it.

    Refused: two of them; a query that two readers take apart in two ways, whatever its parameter is; and text that is
    not UTF-8.
    """
    if target.query is None:
        return None
    parameters = _read_parameters(target.query)
    alike = parameters.alike.get(folded(name), [])
    if any(spelled != name for spelled, _ in alike):
        return _ambiguous(f"query parameter {name} is there in another spelling too")
    if len(alike) > 1:
        return _ambiguous(f"query parameter {name} is there {len(alike)} times")
    if name.startswith(_ACTION) and _actions_in(target.query) > 1:
        return _ambiguous(f"a rule looks at query parameter {name}, and another begins with a slash too", "Send one.")
    if parameters.fault is not None:
        return _ambiguous(parameters.fault)
    if not alike:
        return None
    (_, value), *_ = alike
    return value if value.isascii() or not _SURROGATE.search(value) else unreadable(f"query parameter {name}")


def names_in_query(target: Target) -> tuple[str, ...] | Refused:
    """The names of all parameters, as they are spelled. Refused: a query that two readers take apart in two ways."""
    if target.query is None:
        return ()
    fault = _read_parameters(target.query).fault
    if fault is not None:
        return _ambiguous(fault)
    return tuple(name for name, value in query_fields(target.query) if name or value)


def overrides_method(target: Target) -> Refused | None:
    """The refusal of a request whose query would make another method or path of it: a read would write, and a write
    would be another rule's, or none's."""
    query = target.query
    if not query or ("%" not in query and not may_override(query)):
        return None
    if "%" in query and any(has_bad_escape(pair.partition("=")[0]) for pair in query.split("&")):
        return _BAD_NAME
    pairs = query.replace(";", "&").split("&")
    names = (unquote_plus(pair.partition("=")[0], errors="surrogateescape") for pair in pairs)
    found = overriding_among(map(without_wide_escapes, names))
    if found is None:
        return None
    detail = f"Nothing was forwarded: query parameter {found} would make another request of this one."
    return Refused(AMBIGUOUS_TARGET, f"{detail} Send the one that is meant, without it.", OF_NAMES)


def fields_in(query: str | None) -> int:
    """How many parameters a query has, empty ones too."""
    return query.count("&") + 1 if query else 0


def has_bad_escape(text: str) -> bool:
    """Whether a percent sign begins no escape (RFC 3986, section 2.1): some servers drop it, some the whole text."""
    return "%" in text and text.count("%") != len(_ESCAPE.findall(text))


def without_wide_escapes(name: str) -> str:
    """A name as System.Web and Perl's CGI read it, to which `%u0065` is an `e`. Asked of what a semicolon may separate:
    elsewhere such a name is refused before."""
    return _WIDE_ESCAPE.sub(lambda found: chr(int(found[1], 16)), name) if "%" in name else name


def has_late_bracket(text: str) -> bool:
    """Whether qs ends the name of some pair behind its first equals sign: `a=b]=c` is a value of `a=b]` to it.

    As they come: newer ones undo `%5D` before they look, none does the other escapes.
    """
    if _BRACKET_ENDS.search(text) is None:
        return False
    return any(_BRACKET_ENDS.search(pair.partition("=")[2]) for pair in text.split("&"))


@dataclass(frozen=True, slots=True)
class _Parameters:
    """Names and values by what lenient readers make of the name, and what makes all of them ambiguous."""

    alike: Mapping[str, list[tuple[str, str]]]
    fault: str | None


def _actions_in(query: str) -> int:
    return sum(name.startswith(_ACTION) for name, _ in query_fields(query))


# Rules ask for one parameter after the other of the same request.
@lru_cache(maxsize=1)
def _read_parameters(query: str) -> _Parameters:
    fault = _fault(query)
    if fault is not None:
        return _Parameters({}, fault)
    alike: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for name, value in query_fields(query):
        if is_unclosed(name):
            fault = "a query parameter's name has a bracket that is not closed, which PHP reads as an underscore"
        elif not name.isascii() and _SURROGATE.search(name):
            fault = "a query parameter's name is not UTF-8"
        for reading in readings(name):
            alike[reading].append((name, value))
    return _Parameters(dict(alike), fault)


def _fault(query: str) -> str | None:
    """What makes a query ambiguous before it is taken apart."""
    if ";" in query:
        return "the query has a bare semicolon, which some read as a separator (spell it %3B)"
    if query.count("&") >= MOST_FIELDS:
        return f"the query has more than {MOST_FIELDS} parameters, and some servers drop the others"
    if has_late_bracket(query):
        return "the query has `]=` in a value, where some end a name (spell the equals sign %3D)"
    return "the query has a percent sign that begins no escape (spell it %25)" if has_bad_escape(query) else None


def _ambiguous(why: str, advice: str = "Send one value, once.") -> Refused:
    return Refused(AMBIGUOUS_TARGET, f"Nothing was forwarded: {why}. {advice}", OF_NAMES)
