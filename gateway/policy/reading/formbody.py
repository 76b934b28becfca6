"""A form body (`application/x-www-form-urlencoded`; WHATWG URL, section 5) read in the one way no reader differs from.

Of two equal names some readers take the first, some the last, some a list; a semicolon separates pairs for some;
`_method` and `_charset_` change what all the rest means.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote_plus

from gateway.core.decision import AMBIGUOUS_TARGET, BODY_TOO_LARGE, OF_BODIES, Refused
from gateway.policy.finding import Wrong
from gateway.policy.reading.lenient_name import folded, is_unclosed, readings
from gateway.policy.reading.overriding import FORM_COMMANDS, overriding_among
from gateway.policy.reading.parameters import MOST_FIELDS, fields_in, has_bad_escape, has_late_bracket

# Tomcat's `maxPostSize`, the smallest bound beyond which a common server acts on the request without its form. PHP's
# `post_max_size` is 8 MiB; in Go, `FormValue` finds nothing beyond 10 MB. Others answer 413.
MOST_BYTES = 2 << 20

# Go's decoder, Sinatra and Starlette parse whatever comes, and stop behind the first value.
_BLANKS, _JSON_BEGINS = " \t\r\n", ("{", "[", '"')


@dataclass(frozen=True, slots=True)
class Form:
    """The fields, each with its name as sent, by what lenient readers make of the name. None: there was no `=`.

    `names`: all of them as sent, those of which nobody makes anything too.
    """

    _fields: Mapping[str, list[tuple[str, str | None]]]
    names: tuple[str, ...] = ()

    def field(self, name: str) -> str | Refused | None:
        """The value of one field, None without it. Refused if another reader could see another value."""
        alike = self._fields.get(folded(name), [])
        if not alike:
            return None
        if len(alike) > 1:
            return ambiguous_form(f"field {name} is there {len(alike)} times, or in another spelling too")
        (spelled, value), *_ = alike
        if spelled != name:
            return ambiguous_form(f"field {name} is there in another spelling")
        return ambiguous_form(f"field {name} has no equals sign") if value is None else value

    def has(self, name: str) -> bool:
        """Whether some reader finds a field of this name."""
        return folded(name) in self._fields


def read_form(body: bytes, query: str | None = None) -> Form | Refused:
    """Parse a body that comes beside `query`. Refused: what has two readings, whichever field is asked for."""
    if len(body) > MOST_BYTES:
        detail = f"Nothing was forwarded: a rule reads this body as a form, and it is larger than {MOST_BYTES} bytes"
        return Refused(BODY_TOO_LARGE, f"{detail}: some servers drop such a form. Send less.", OF_BODIES)
    try:
        text = body.decode("ascii")
    except UnicodeDecodeError:
        return ambiguous_form("it has bytes that must be percent-encoded")
    if text.lstrip(_BLANKS)[:1] in _JSON_BEGINS:
        return ambiguous_form("it begins as JSON does, which some parse whatever it is called")
    if ";" in text:
        return ambiguous_form("it has a bare semicolon, which some read as a separator (spell it %3B)")
    if has_bad_escape(text):
        return ambiguous_form("it has a percent sign that begins no escape (spell it %25)")
    if fields_in(text) + fields_in(query) > MOST_FIELDS:
        return ambiguous_form(f"it has more than {MOST_FIELDS} fields with the query, and some servers drop the others")
    if has_late_bracket(text):
        return ambiguous_form("it has `]=` in a value, where some end a name (spell the equals sign %3D)")
    fields: defaultdict[str, list[tuple[str, str | None]]] = defaultdict(list)
    names: list[str] = []
    try:
        for pair in filter(None, text.split("&")):
            name, equals, value = pair.partition("=")
            spelled = unquote_plus(name, errors="strict")
            if is_unclosed(spelled):
                return ambiguous_form("a name has a bracket that is not closed, which PHP reads as an underscore")
            field = (spelled, unquote_plus(value, errors="strict") if equals else None)
            if spelled or field[1]:
                names.append(spelled)
            for reading in readings(spelled):
                fields[reading].append(field)
    except UnicodeDecodeError:
        return ambiguous_form("an escape in it is not UTF-8")
    command = overriding_among(names, FORM_COMMANDS)
    if command is not None:
        return ambiguous_form(f"field {command} would change how it is read")
    return Form(dict(fields), tuple(names))


def ambiguous_form(why: str) -> Refused:
    detail = f"Nothing was forwarded: the body is read as a form, and {why}. Send each field once, in UTF-8."
    return Refused(AMBIGUOUS_TARGET, detail, OF_BODIES)


def parse_field(name: str) -> str | Wrong:
    """The name of a field that a rule reads."""
    if not name or not name.isprintable() or name != name.strip() or "[" in name or "]" in name:
        return Wrong(
            f"`{name}` is no plain field's name; servers read brackets, blanks at an end and control characters in "
            "more than one way"
        )
    if overriding_among((name,), FORM_COMMANDS):
        return Wrong(f"field `{name}` changes how a form is read, and a form with it is refused; read another one")
    return name
