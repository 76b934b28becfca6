"""A rule's `values`: how what names its resource is spelled."""

from dataclasses import replace

from gateway.core.rule import Mount
from gateway.policy.finding import Wrong
from gateway.policy.part import Part
from gateway.policy.report import Report
from gateway.policy.source import Path
from gateway.policy.template import Piece, Template
from gateway.policy.value_form import ValueForm

# The policy's own words, which no request can spell in another way.
_OF_CALLERS = ("principal", "tenant")
# Where servers differ in what is a delimiter, a blank, or the same in other characters. So they do in a header that
# chooses the account: Vault takes `ns1`, `/ns1` and `ns1/` for one namespace. A mount's `opaque` is of paths alone.
_OF_PATHS = ("path", "rest")


def with_values(
    report: Report, path: Path, values: ValueForm | dict[str, ValueForm] | None, template: Template, mount: Mount
) -> Template:
    """The rule's template with the form of each of its parts. Faults are noted; `path` is that of the rule.

    Nothing said, values of a path and a header are `unreserved`; but a path's where the mount says that what they have
    in them is opaque.
    """
    is_opaque = "opaque" in (mount.encoded_slash, mount.delimiters, mount.plus)
    parts = {part.text for part in template.parts if part.origin not in _OF_CALLERS}
    if isinstance(values, str):
        return _formed(template, dict.fromkeys(parts, values), is_opaque=is_opaque)
    for name in values or ():
        if name not in parts:
            report.take_key((*path, "values", name), Wrong(_unknown(name, parts)))
    return _formed(template, values or {}, is_opaque=is_opaque)


def _formed(template: Template, forms: dict[str, ValueForm], *, is_opaque: bool) -> Template:
    pieces = (_with_form(piece, forms, is_opaque=is_opaque) for piece in template.pieces)
    return replace(template, pieces=tuple(pieces))


def _with_form(piece: Piece, forms: dict[str, ValueForm], *, is_opaque: bool) -> Piece:
    if isinstance(piece, str):
        return piece
    return replace(piece, form=forms.get(piece.text, _default(piece, is_opaque=is_opaque)))


def _default(part: Part, *, is_opaque: bool) -> ValueForm:
    is_plain = part.origin == "header" or (part.origin in _OF_PATHS and not is_opaque)
    return "unreserved" if is_plain else "any"


def _unknown(name: str, parts: set[str]) -> str:
    if not parts:
        return f"the resource takes nothing from a request, and so no `{name}`; remove this"
    example = min(parts)
    return f"`{name}` is nothing that the resource takes from a request; write it as there, such as `{example}`"
