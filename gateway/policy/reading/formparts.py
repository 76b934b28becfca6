"""The names of a multipart body's parts (RFC 7578), where all readers find the same ones.

Readers differ in what they take for a delimiter, a header or a quote. What is not spelled as common clients spell it
cannot be judged.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from gateway.core.decision import AMBIGUOUS_TARGET, Refused
from gateway.policy.reading.lenient_name import folded, readings
from gateway.policy.reading.multipart import boundary_of
from gateway.policy.reading.overriding import FORM_COMMANDS, overriding_among
from gateway.policy.reading.parameters import MOST_FIELDS

_LINE_END = b"\r\n"
_HEADER = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+): ?([^\x00-\x08\x0a-\x1f\x7f]*)")
# A name without quotes, and a file's name as RFC 8187 spells it, are what some clients send.
_PARAMETER = rb"""; ?([a-z-]+\*?)=(?:"([^"\\;]*)"|([!#$%&*+.^_`|~0-9A-Za-z'-]+))"""
_DISPOSITION = re.compile(rb"(?:form-data|attachment|inline|file)((?:" + _PARAMETER + rb")*)")
_PARAMETERS = re.compile(_PARAMETER)
_KNOWN = frozenset((b"name", b"filename", b"filename*"))


@dataclass(frozen=True, slots=True)
class FormParts:
    """The names by what lenient readers make of them."""

    _names: frozenset[str]

    def has(self, name: str) -> bool:
        """Whether some reader finds a part of this name."""
        return folded(name) in self._names


class _Unclear(ValueError):
    """What some readers take for something else."""


def read_form_parts(content_type: bytes, body: bytes) -> FormParts | Refused:
    """The names of the parts. Refused: `ambiguous-target` for what two readers may take apart in two ways."""
    found = boundary_of(content_type)
    if found is None:
        return _ambiguous("its Content-Type does not say one plain boundary")
    subtype, boundary = found
    names: list[str] = []
    try:
        for part in _parts(body, boundary):
            for name in _names(part, is_form=subtype == b"form-data"):
                names += (name, unquote(name))
    except _Unclear as unclear:
        return _ambiguous(str(unclear))
    except UnicodeDecodeError:
        return _ambiguous("a part's name is not UTF-8")
    command = overriding_among(names, FORM_COMMANDS)
    if command is not None:
        return _ambiguous(f"part {command} changes how it is read")
    return FormParts(frozenset(reading for name in names for reading in readings(name)))


def _parts(body: bytes, boundary: bytes) -> Iterator[bytes]:
    """Header and content of each part. Nothing may stand before the first delimiter, nor behind the last."""
    dashes = b"--" + boundary
    first, last = dashes + _LINE_END, _LINE_END + dashes + b"--"
    whole = body.removesuffix(_LINE_END)
    if not whole.startswith(first) or not whole.endswith(last):
        raise _Unclear("it does not begin and end with its boundary")
    if body.count(dashes) > MOST_FIELDS:
        raise _Unclear(f"it has more than {MOST_FIELDS} parts, and some servers drop the others")
    parts = whole[len(first) : -len(last)].split(_LINE_END + first)
    if body.count(dashes) != len(parts) + 1:
        raise _Unclear("its boundary stands where no part begins")
    yield from parts


def _names(part: bytes, *, is_form: bool) -> Iterator[str]:
    """What a part is called. Outside a form it need not be called anything; some go by Content-ID there."""
    head, end, _ = part.partition(_LINE_END * 2)
    if not end:
        raise _Unclear("a part has no end of its headers")
    headers: dict[bytes, bytes] = {}
    for line in head.split(_LINE_END):
        found = _HEADER.fullmatch(line)
        if found is None or found[1].lower() in headers:
            raise _Unclear("a part's headers are not plain, or there twice")
        headers[found[1].lower()] = found[2]
    if headers.get(b"content-type", b"").lower().startswith(b"multipart/"):
        raise _Unclear("a part has parts of its own")
    if any(b"content-disposition" in name and name != b"content-disposition" for name in headers):
        raise _Unclear("a part's header looks like another Content-Disposition")
    if b"content-disposition" in headers:
        yield _name_in(headers[b"content-disposition"])
    elif is_form:
        raise _Unclear("a part has no name")
    elif b"content-id" in headers:
        yield headers[b"content-id"].decode("utf-8").strip("<>")


def _name_in(disposition: bytes) -> str:
    found = _DISPOSITION.fullmatch(disposition)
    parameters = [] if found is None else _PARAMETERS.findall(found[1])
    values: dict[bytes, bytes] = {key: quoted or bare for key, quoted, bare in parameters}
    # PHP takes single quotes for quotes.
    is_quoted_oddly = any(key == b"name" and b"'" in bare for key, _, bare in parameters)
    if len(values) < len(parameters) or not _KNOWN.issuperset(values) or b"name" not in values or is_quoted_oddly:
        raise _Unclear("a part's Content-Disposition is not plain")
    return values[b"name"].decode("utf-8")


def _ambiguous(why: str) -> Refused:
    detail = f"Nothing was forwarded: a rule reads what some servers take from a body's parts too, and {why}."
    return Refused(AMBIGUOUS_TARGET, f"{detail} Send it as common clients do, or without a multipart body.")
