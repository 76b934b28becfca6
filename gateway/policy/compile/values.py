"""A rule's `values`: how what names its resource is spelled."""

from dataclasses import replace

from gateway.policy.finding import Wrong
from gateway.policy.part import Part
from gateway.policy.report import Report
from gateway.policy.source import Path
from gateway.policy.template import Template
from gateway.policy.value_form import ValueForm

# The policy's own words, which no request can spell in another way.
_OF_CALLERS = ("principal", "tenant")


def with_values(report: Report, path: Path, values: ValueForm | dict[str, ValueForm], template: Template) -> Template:
    """The rule's template with the form of each of its parts. Faults are noted; `path` is that of the rule."""
    if values == "any":
        return template
    parts = {part.text for part in template.parts if part.origin not in _OF_CALLERS}
    if isinstance(values, str):
        return _formed(template, dict.fromkeys(parts, values))
    for name in values:
        if name not in parts:
            report.take_key((*path, "values", name), Wrong(_unknown(name, parts)))
    return _formed(template, values)


def _formed(template: Template, forms: dict[str, ValueForm]) -> Template:
    pieces = (
        replace(piece, form=forms.get(piece.text, "any")) if isinstance(piece, Part) else piece
        for piece in template.pieces
    )
    return replace(template, pieces=tuple(pieces))


def _unknown(name: str, parts: set[str]) -> str:
    if not parts:
        return f"the resource takes nothing from a request, and so no `{name}`; remove this"
    example = min(parts)
    return f"`{name}` is nothing that the resource takes from a request; write it as there, such as `{example}`"
