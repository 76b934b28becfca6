"""How the values that name things are spelled: the same for all rules, or one thing would have two names."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from gateway.policy.openapi.operation import Operation
from gateway.policy.openapi.parameter import DOUBTFUL, FORMS, Kind, common_kind
from gateway.policy.openapi.segment import Partial
from gateway.policy.openapi.translation import Place, Translation
from gateway.policy.openapi.wording import comment
from gateway.policy.reading.twin import squeezed
from gateway.policy.value_form import ValueForm

# Kinds that have, or may have, what a rule takes only where it says so.
_DELIMITED: frozenset[Kind] = frozenset({"moment", "address", "mail", "link", "other", "mixed"})
_LISTED = "where the API takes a word in two spellings (ASP.NET `red`, `RED` and `0`), list them in `values`"


class Spellings:
    """By the place before a placeholder what the document says of it, wherever it says it. `takes_any`: what no form is
    written for takes whatever stands there, as the mount says of some characters that they mean nothing.
    """

    def __init__(self, ruled: Iterable[tuple[Operation, Translation]], *, takes_any: bool = False) -> None:
        self._default: ValueForm = "any" if takes_any else "unreserved"
        kinds: defaultdict[Place, set[Kind]] = defaultdict(set)
        listed: defaultdict[Place, set[str]] = defaultdict(set)
        unlisted: set[Place] = set()
        for operation, path in ruled:
            for _, place, slot in path.placed_slots():
                kinds[place] |= {operation.kinds.get(slot.name, "text")} - {"text"}
                listed[place].update(operation.listed.get(slot.name, ()))
                unlisted |= set() if slot.name in operation.listed else {place}
        self._kinds: dict[Place, Kind] = {place: common_kind(some) for place, some in kinds.items() if some}
        self._listed: dict[Place, frozenset[str]] = {
            place: frozenset(words) for place, words in listed.items() if place not in unlisted
        }
        self._half_listed = {place for place, words in listed.items() if words and place in unlisted}
        self._narrowed: dict[Place, str] = {}
        self._asked: set[Place] = set()

    def forms(self, path: Translation) -> Mapping[str, ValueForm]:
        """By each placeholder of a path its form, where it has one."""
        formed = zip(path.names, (self._form(place) for _, place, _ in path.placed_slots()), strict=True)
        return {name: form for name, form in formed if form != "any"}

    def notes(self, path: Translation) -> tuple[str, ...]:
        """Why a form is narrower than the document says."""
        return tuple(self._narrowed[place] for _, place, _ in path.placed_slots() if place in self._narrowed)

    def asks(self, path: Translation) -> Iterator[str]:
        """What has several spellings all the same: once for all rules of a thing, at the first of them."""
        for name, (_, place, _) in zip(path.names, path.placed_slots(), strict=True):
            kind = self._kinds.get(place, "text")
            if kind == "word" and place in self._half_listed and place not in self._asked:
                self._asked.add(place)
                yield f"is `{{{name}}}` one of some words? Not everywhere are they listed; {_LISTED}"
            alike = _alike(self._listed.get(place, frozenset()))
            if alike is not None and place not in self._asked:
                self._asked.add(place)
                yield f"is {alike} of `{{{name}}}` one thing? Each is a resource of its own; leave one out of `values`"
            if kind in DOUBTFUL and place not in self._asked and place not in self._listed:
                self._asked.add(place)
                asked = (
                    f"how is `{{{name}}}` spelled? It is {DOUBTFUL[kind]}, and each spelling is a resource of its own"
                )
                is_refused = kind in _DELIMITED and self._form(place) == "any"
                yield f"{asked}; more than letters, digits and `-._~` wants `values: any`" if is_refused else asked

    def unsaid(self, path: Translation) -> tuple[str, ...]:
        """The placeholders of which the document does not say how they are spelled."""
        return tuple(
            slot.name
            for _, place, slot in path.placed_slots()
            if self._form(place) == "any" and self._kinds.get(place, "text") == "text"
        )

    def keeps_out(self, path: Translation, parts: Iterable[tuple[int, Partial]], operation: Operation) -> bool:
        """Whether what the rule of `path` would take of another operation is not of the forms; a text becomes a word
        for this, where that is enough.
        """
        at_place = {at: (place, slot) for at, place, slot in path.placed_slots()}
        known = [(*at_place[at], part) for at, part in parts if at in at_place]
        if any(not part.fits(self._taken(place)) for place, _, part in known):
            return True
        for place, slot, part in known:
            is_open = place not in self._listed and self._kinds.get(place, "text") in ("text", "other", "mixed")
            if not slot.rest and is_open and not part.fits("word"):
                told = f"Words only, so that no rule takes `{comment(str(operation))}`, which stays closed"
                self._narrowed.setdefault(place, told)
                return True
        return False

    def _taken(self, place: Place) -> ValueForm:
        """What is taken there: a form, or what counts without one."""
        form = self._form(place)
        return self._default if form == "any" else form

    def _form(self, place: Place) -> ValueForm:
        if place in self._narrowed:
            return "word"
        return self._listed.get(place, FORMS.get(self._kinds.get(place, "text"), "any"))


def _alike(words: Iterable[str]) -> str | None:
    """The first two that differ in case, marks or blanks alone."""
    first: dict[str, str] = {}
    for word in sorted(words):
        other = first.setdefault(squeezed(word), word)
        if other != word:
            return f"`{comment(other)}` and `{comment(word)}`"
    return None
