"""A rule's `values`: how what names its resource, and what else its paths have, is spelled."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from gateway.policy.compile.listed_values import listed_parts
from gateway.policy.entry import Matcher
from gateway.policy.finding import Wrong
from gateway.policy.part import Part
from gateway.policy.pattern import Pattern
from gateway.policy.report import Report
from gateway.policy.source import Path
from gateway.policy.template import Piece, Template
from gateway.policy.value_form import NamedForm, ValueForm

# As a policy has them.
_Said = NamedForm | list[Any]

# The policy's own words, which no request can spell in another way.
_OF_CALLERS = ("principal", "tenant")
# Where servers differ in what is a delimiter, a blank, or the same in other characters. So they do in a header that
# chooses the account: Vault takes `ns1`, `/ns1` and `ns1/` for one namespace. A mount's `opaque` is of paths alone.
_OF_PATHS = ("path", "rest")


def with_values(
    report: Report, path: Path, values: _Said | dict[str, _Said] | None, template: Template, matcher: Matcher
) -> tuple[Template, tuple[Part, ...]]:
    """The rule's template with the form of each of its parts, and what else of its paths has one. Faults are noted;
    `path` is that of the rule.

    Nothing said, values of a path and a header are `unreserved`; but a path's where the mount says that what they have
    in them is opaque.
    """
    mount = matcher.upstream.mount
    is_opaque = "opaque" in (mount.encoded_slash, mount.delimiters, mount.plus)
    parts = {part.text for part in template.parts if part.origin not in _OF_CALLERS}
    where = (*path, "values")
    if isinstance(values, list) and len(parts) > 1:
        report.add(where, f"the resource has several parts; say of which this is the list: `{{{min(parts)}: [...]}}`")
    if isinstance(values, str | list):
        form = _form(report, where, values)
        return _formed(template, dict.fromkeys(parts, form), is_opaque=is_opaque), ()
    places = {part.text: part for pattern in matcher.patterns for part in _places(pattern) if part.text not in parts}
    for name in values or ():
        if name not in parts and name not in places:
            report.take_key((*where, name), Wrong(_unknown(name, parts)))
    forms = {name: _form(report, (*where, name), said) for name, said in (values or {}).items()}
    others = tuple(replace(part, form=forms[name]) for name, part in places.items() if forms.get(name, "any") != "any")
    return _formed(template, forms, is_opaque=is_opaque), others


def _places(pattern: Pattern) -> Iterator[Part]:
    yield from (Part(f"path.{name}", "path", name) for _, name in pattern.names)
    if pattern.rest is not None:
        yield Part(f"path.{pattern.rest}", "rest", pattern.rest)


def _form(report: Report, path: Path, said: _Said) -> ValueForm:
    return listed_parts(report, path, said) if isinstance(said, list) else said


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
        return f"the resource takes nothing from a request, and the path has no `{name}`; remove this"
    example = min(parts)
    return f"`{name}` is nothing that the resource or the path has; write it as there, such as `{example}`"
