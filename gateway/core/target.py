"""One reading of a request's target, or none: what two readers could take for two resources is ambiguous.

The bytes that came are what is forwarded; the segments here are only what rules and templates look at.
"""

import re
from dataclasses import dataclass

from gateway.core.frozen import frozen

_ESCAPE = re.compile("%[0-9A-Fa-f]{2}")
# Printable ASCII without blank, '"', '#', '<', '>', '\', '^', '`', '{', '|', '}': RFC 3986 plus what clients send bare.
_PATH = re.compile(r"[!$%&'()*+,\-./0-9:;=@A-Z_a-z~\[\]]*")
_QUERY = re.compile(r"[\x21\x22\x24-\x7e]*")
# A path in which nothing is decoded; as most are.
_PLAIN = re.compile(r"/[!$&'()*+,\-./0-9:=@A-Z_a-z~\[\]]*")


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """A target that is refused, and what is wrong with it."""

    why: str


@frozen
class Target:
    """`raw` as it came; `segments` percent-decoded once; `query` the raw text after the first `?`, or None."""

    raw: str
    path: str
    segments: tuple[str, ...]
    query: str | None

    @property
    def has_encoded_slash(self) -> bool:
        return "%2F" in self.path or "%2f" in self.path

    def query_pairs(self) -> list[str]:
        """The query's parameters, decoded and without empty ones, names and values in turn: sorted by name, those of
        one name in their order."""
        if not self.query:
            return []
        pairs = (pair.partition("=") for pair in self.query.split("&") if pair)
        decoded = [(_form_decoded(name), _form_decoded(value)) for name, _, value in pairs]
        return [text for pair in sorted(decoded, key=lambda pair: pair[0]) for text in pair]

    def query_values(self, name: str) -> list[str]:
        """Every value of the query parameter `name`, decoded as a form field (`+` is a blank)."""
        return [value for key, value in query_fields(self.query or "") if key == name]


def has_empty_piece(segment: str) -> bool:
    """Whether to a reader who takes an encoded slash for a slash there is an empty segment, which many leave out."""
    return "/" in segment and (segment.startswith("/") or segment.endswith("/") or "//" in segment)


def query_fields(query: str) -> list[tuple[str, str]]:
    """Names and values of a query's parameters, decoded likewise, empty ones too."""
    pairs = (pair.partition("=") for pair in query.split("&"))
    return [(_form_decoded(name), _form_decoded(value)) for name, _, value in pairs]


def _form_decoded(text: str) -> str:
    return _percent_decoded(text.replace("+", " "))


def _percent_decoded(text: str) -> str:
    """Decode each escape once. Bytes that are not UTF-8 become lone surrogates, which no template accepts."""
    if "%" not in text:
        return text
    parts = re.split("((?:%[0-9A-Fa-f]{2})+)", text)
    for at in range(1, len(parts), 2):
        parts[at] = bytes.fromhex(parts[at].replace("%", "")).decode("utf-8", "surrogateescape")
    return "".join(parts)


def read_target(raw: str) -> Target | Ambiguous:
    """Read an origin-form target (RFC 9112, section 3.2.1).

    Refused: other forms, dot segments (also as `%2e`), empty segments but a last one, path parameters, backslashes,
    control characters, escapes that are none, and text that is not UTF-8. An encoded slash stays a slash inside its
    segment: whether that may be is the mount's to say, and a template spells it `%2F` in a resource.
    """
    path, mark, query = raw.partition("?")
    if _PLAIN.fullmatch(path) and "//" not in path and "/." not in path and _QUERY.fullmatch(query):
        return Target(raw, path, tuple(path[1:].split("/")), query if mark else None)
    if not path.startswith("/"):
        return Ambiguous("the target does not begin with a slash")
    if not _PATH.fullmatch(path) or not _QUERY.fullmatch(query):
        return Ambiguous("the target holds a character that must be percent-encoded")
    segments: list[str] = []
    pieces = path[1:].split("/")
    for at, piece in enumerate(pieces):
        if not piece and at < len(pieces) - 1:
            return Ambiguous("the path has an empty segment")
        segment = _read_segment(piece)
        if isinstance(segment, Ambiguous):
            return segment
        segments.append(segment)
    return Target(raw, path, tuple(segments), query if mark else None)


def _read_segment(piece: str) -> str | Ambiguous:
    if ";" in piece:
        return Ambiguous("the path has a parameter (;)")
    if piece in (".", ".."):
        return Ambiguous("the path has a dot segment")
    if "%" not in piece:
        return piece
    if piece.count("%") != len(_ESCAPE.findall(piece)):
        return Ambiguous("the path has a percent sign that begins no escape")
    decoded = _percent_decoded(piece)
    if any(part in (".", "..") for part in decoded.split("/")):
        return Ambiguous("the path has an encoded dot segment")
    if ";" in decoded:
        return Ambiguous("the path has an encoded parameter (;)")
    if "\\" in decoded:
        return Ambiguous("the path has an encoded backslash")
    if any(ch < " " or ch == "\x7f" or "\ud800" <= ch <= "\udfff" for ch in decoded):
        return Ambiguous("the path has an encoded control character, or bytes that are not UTF-8")
    return decoded
