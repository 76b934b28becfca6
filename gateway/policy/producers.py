"""Which rule can make a given resource: the way back from a name to a template, for lease calls."""

from collections.abc import Iterable

from gateway.core.caller import Caller
from gateway.policy.entry import Entry
from gateway.policy.part import Part
from gateway.policy.template import Template
from gateway.policy.value_form import ValueForm

# A template with placeholders in the places of another one makes the same resources, whatever it calls them.
Skeleton = tuple[str, ...]
VALUE, REST, PRINCIPAL, TENANT = "{}", "{...}", "{principal}", "{tenant}"


def skeleton(template: Template) -> Skeleton:
    """The template with each placeholder replaced by what kind of value it takes."""
    return tuple(piece if isinstance(piece, str) else _kind(piece) for piece in template.pieces)


def _kind(part: Part) -> str:
    return {"rest": REST, "principal": PRINCIPAL, "tenant": TENANT}.get(part.origin, VALUE)


class Producers:
    """One entry for each distinct skeleton and forms of its values, found by the resource's first segment where that is
    literal."""

    __slots__ = ("_by_head", "_headless")

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._by_head: dict[str, list[Entry]] = {}
        self._headless: list[Entry] = []
        first: dict[tuple[Skeleton, tuple[ValueForm, ...]], Entry] = {}
        for entry in entries:
            forms = tuple(part.form for part in entry.template.parts)
            first.setdefault((skeleton(entry.template), forms), entry)
        for entry in first.values():
            head = literal_head(entry.template)
            (self._headless if head is None else self._by_head.setdefault(head, [])).append(entry)

    def find(self, resource: str, caller: Caller | None) -> Entry | None:
        """The first entry whose template can make `resource` for `caller`; None: for anybody."""
        head = resource.partition("/")[0]
        for entry in (*self._by_head.get(head, []), *self._headless):
            if entry.template.matches(resource, caller):
                return entry
        return None


def literal_head(template: Template) -> str | None:
    """The first segment of every resource that the template makes; None if a placeholder is in it."""
    piece = template.pieces[0]
    if isinstance(piece, Part) or ("/" not in piece and len(template.pieces) > 1):
        return None
    return piece.partition("/")[0]
