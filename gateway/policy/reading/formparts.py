"""The names of a multipart body's parts (RFC 7578), where all readers find the same ones.

Readers differ in what they take for a delimiter, a header or a quote. What is not spelled as common clients spell it
cannot be judged.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from gateway.core.decision import AMBIGUOUS_TARGET, OF_BODIES, Refused
from gateway.policy.reading.body_type import PLAIN_TYPE, TOKEN
from gateway.policy.reading.lenient_name import folded, readings
from gateway.policy.reading.multipart import boundary_of
from gateway.policy.reading.overriding import FORM_COMMANDS, overriding_among
from gateway.policy.reading.parameters import MOST_FIELDS

_LINE_END = b"\r\n"
_LOWER = bytes(range(256)).lower()
# As common clients draw them. Some readers put a boundary into a regular expression, or cut it at a mark.
_BOUNDARY = re.compile(rb"[0-9A-Za-z+_.-]+")
_HEADER = re.compile(rb"(" + TOKEN + rb"): ?([^\x00-\x08\x0a-\x1f\x7f]*)")
# A name without quotes, and a file's name as RFC 8187 spells it, are what some clients send.
_PARAMETER = rb"""; ?([a-z-]+\*?)=(?:"([^"\\]*)"|([!#$%&*+.^_`|~0-9A-Za-z'-]+))"""
_DISPOSITION = re.compile(rb"(?:form-data|attachment|inline|file)((?:" + _PARAMETER + rb")*)")
_PARAMETERS = re.compile(_PARAMETER)
# What a reader who knows no quotes takes for the name's beginning, within a value.
_NAME = re.compile(rb"name[\s*]*=", re.IGNORECASE)
# aws-multipart-parser looks for the first in a whole part, and where a file's name is anywhere in it for another one.
_NAME_IN_CONTENT, _FILE_IN_CONTENT = b'name="', b'filename="'
_IS_QUOTED = re.compile(rb'; ?name="')
_OF_A_FILE = re.compile(rb'; ?name="[^"]+"; ?filename="[^"]+"')
_KNOWN = frozenset((b"name", b"filename", b"filename*"))
# All that common clients send with a part. Rack looks for `Content-Disposition: …; name=` anywhere in a part's head, in
# the value of another header too.
_HEADERS = frozenset(
    (
        b"content-disposition",
        b"content-id",
        b"content-length",
        b"content-location",
        b"content-transfer-encoding",
        b"content-type",
        b"mime-version",
    )
)
# Rack from 3.1 on reads no Content-Disposition of over 1,536 bytes, and PHP cuts a line at 5 KiB. A file's name of 255
# bytes, spelled in both ways, has a thousand.
_LONGEST_HEAD = 1536
_NAMING = (b"content-disposition", b"content-id")
# What has headers of its own in it.
_OF_OTHERS = (b"multipart/", b"message/")
# RFC 2047. Tomcat and ASP.NET undo it in a part's name: `=?UTF-8?Q?id?=` is `id` to them. In a file's name .NET itself
# sends one.
_ENCODED_WORD = "=?"


@dataclass(frozen=True, slots=True)
class FormParts:
    """The names by what lenient readers make of them. `names`: as they are spelled, and with what may be an escape in
    them undone. `is_form`: it is a form's by its type."""

    _names: frozenset[str]
    names: tuple[str, ...] = ()
    is_form: bool = True

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
    if not _BOUNDARY.fullmatch(boundary):
        return _ambiguous("its boundary has other characters than letters, digits, `-`, `_`, `.` and `+`")
    if any(other in body.translate(_LOWER) for other in _other_boundaries(content_type)):
        return _ambiguous("the body has the text of a parameter before the boundary; say no charset")
    names: list[str] = []
    is_form = subtype == b"form-data"
    try:
        for part in _parts(body, boundary):
            for name in _names(part, is_form=is_form):
                if _ENCODED_WORD in name:
                    raise _Unclear("a part's name has `=?`, with which mail begins an encoded word; spell it in UTF-8")
                names += (name, unquote(name))
    except _Unclear as unclear:
        return _ambiguous(str(unclear))
    except UnicodeDecodeError:
        return _ambiguous("a part's name is not UTF-8")
    command = overriding_among(names, FORM_COMMANDS)
    if command is not None:
        return _ambiguous(f"part {command} changes how it is read")
    return FormParts(frozenset(reading for name in names for reading in readings(name)), tuple(names), is_form)


def _other_boundaries(content_type: bytes) -> Iterator[bytes]:
    """What some take for the boundary, in lower case, where the type has a charset before it: whoever reads the first
    parameter's value; aws-multipart-parser, which reads what stands between the first equals sign and the next."""
    first, _, behind = content_type.partition(b"=")
    if not first.lower().endswith(b"boundary"):
        value = behind.partition(b"=")[0].lower()
        yield value
        yield b"--" + value.partition(b";")[0].strip(b'"')


def _parts(body: bytes, boundary: bytes) -> Iterator[bytes]:
    """Header and content of each part. No text may stand before the first delimiter, nor behind the last.

    The boundary's own text stands in delimiters alone. Some readers look for it in lines without their ends, a bare one
    within it too (h3), some with the quotes around it (h3, parse-multipart-data), some without the dashes before it
    (CGI.pm, for two old browsers), and some put its type into lower case first.
    """
    dashes = b"--" + boundary
    first, last = dashes + _LINE_END, _LINE_END + dashes + b"--"
    # An empty line behind the end is an epilogue without a word: form-data-encoder, which got uses, writes one.
    whole = body.removesuffix(_LINE_END).removesuffix(_LINE_END)
    if whole == dashes + b"--":
        # A browser's form without a field.
        return
    if not whole.startswith(first) or not whole.endswith(last):
        raise _Unclear("it does not begin and end with its boundary")
    if body.count(dashes) > MOST_FIELDS:
        raise _Unclear(f"it has more than {MOST_FIELDS} parts, and some servers drop the others")
    parts = whole[len(first) : -len(last)].split(_LINE_END + first)
    if body.translate(_LOWER, _LINE_END).count(boundary.lower()) != len(parts) + 1:
        raise _Unclear("the text of its boundary stands where no part begins")
    yield from parts


def _names(part: bytes, *, is_form: bool) -> Iterator[str]:
    """What a part is called. Outside a form it need not be called anything; some go by Content-ID there."""
    head, end, content = part.partition(_LINE_END * 2)
    if not end:
        raise _Unclear("a part has no end of its headers")
    if len(head) > _LONGEST_HEAD:
        raise _Unclear(f"a part's headers have more than {_LONGEST_HEAD} bytes")
    headers: dict[bytes, bytes] = {}
    for line in head.split(_LINE_END):
        found = _HEADER.fullmatch(line)
        if found is None or found[1].lower() in headers:
            raise _Unclear("a part's headers are not plain, or there twice")
        headers[found[1].lower()] = found[2]
    _check_plain(headers)
    if headers.get(b"content-length", b"%d" % len(content)) != b"%d" % len(content):
        # Ktor goes on behind so many bytes, and needs no delimiter there.
        raise _Unclear("a part's Content-Length is not that of its content; leave it out")
    if b"content-disposition" in headers:
        disposition = headers[b"content-disposition"]
        yield _name_in(disposition)
        odd = _FILE_IN_CONTENT if _IS_QUOTED.match(disposition, disposition.find(b";")) else _NAME_IN_CONTENT
        if odd in content and not _OF_A_FILE.search(disposition):
            raise _Unclear(f"a part's content has `{odd.decode()}`, and it is no file with both names in quotes")
    elif is_form:
        raise _Unclear("a part has no name")
    if b"content-id" in headers:
        if is_form:
            raise _Unclear("a form's part has a Content-ID, which some take for its name")
        yield headers[b"content-id"].decode("utf-8").strip("<>")


def _check_plain(headers: dict[bytes, bytes]) -> None:
    """Nothing beside the header that names a part may name it to anybody."""
    unknown = next((name for name in headers if name not in _HEADERS), None)
    if unknown is not None:
        raise _Unclear(f"a part has a header {unknown.decode()}, which few send and some look into")
    if any(naming in value.lower() for value in headers.values() for naming in _NAMING):
        raise _Unclear("a part has another Content-Disposition in a header's value")
    if any(_NAME.search(value) for name, value in headers.items() if name != b"content-disposition"):
        raise _Unclear("a part has `name=` in another header than its Content-Disposition")
    kind = headers.get(b"content-type")
    if kind is not None and PLAIN_TYPE.fullmatch(kind) is None:
        raise _Unclear("a part's Content-Type is not one type with plain parameters")
    if kind is not None and kind.lower().startswith(_OF_OTHERS):
        # Python's reader of mail, which many took for a form's when `cgi` went, walks through messages too.
        raise _Unclear("a part is a message or has parts of its own; send a mail as `application/octet-stream`")


def _name_in(disposition: bytes) -> str:
    found = _DISPOSITION.fullmatch(disposition)
    parameters = [] if found is None else _PARAMETERS.findall(found[1])
    values: dict[bytes, bytes] = {key: quoted or bare for key, quoted, bare in parameters}
    # PHP takes single quotes for quotes.
    is_quoted_oddly = any(key == b"name" and b"'" in bare for key, _, bare in parameters)
    if len(values) < len(parameters) or not _KNOWN.issuperset(values) or b"name" not in values or is_quoted_oddly:
        raise _Unclear("a part's Content-Disposition is not plain")
    if next(iter(values)) != b"name" or any(map(_NAME.search, values.values())):
        # Formidable takes what follows the first `name=`, within a file's name too; others may take the last, or end a
        # quoted text at a semicolon.
        raise _Unclear("a part's name is not the first parameter of its Content-Disposition, or stands there twice")
    if b";" in values[b"name"]:
        raise _Unclear("a part's name has a semicolon")
    if not values[b"name"]:
        # Rack takes the file's name for it.
        raise _Unclear("a part's name is empty")
    return values[b"name"].decode("utf-8")


def _ambiguous(why: str) -> Refused:
    detail = f"Nothing was forwarded: a rule reads what some servers take from a body's parts too, and {why}."
    return Refused(AMBIGUOUS_TARGET, f"{detail} Send it as common clients do, or without a multipart body.", OF_BODIES)
