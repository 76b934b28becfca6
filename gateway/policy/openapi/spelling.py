"""How the values that name things are spelled: the same for all rules, or one thing would have two names."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from gateway.policy.openapi.operation import Operation
from gateway.policy.openapi.parameter import DOUBTFUL, FORMS, Kind
from gateway.policy.openapi.segment import Partial, Slot
from gateway.policy.openapi.translation import Translation
from gateway.policy.openapi.wording import comment
from gateway.policy.value_form import ValueForm

# The texts and placeholders (None) before a placeholder: where in an API's paths a kind of thing is named.
_Place = tuple[str | None, ...]


class Spellings:
    """By place what the document says, wherever it says it; `narrow` takes less than that."""

    def __init__(self, ruled: Iterable[tuple[Operation, Translation]]) -> None:
        kinds: defaultdict[_Place, set[Kind]] = defaultdict(set)
        for operation, path in ruled:
            for _, place, slot in _slots(path):
                kinds[place] |= {operation.kinds.get(slot.name, "text")} - {"text"}
        self._kinds: dict[_Place, Kind] = {place: min(some) for place, some in kinds.items() if len(some) == 1}
        self._narrowed: dict[_Place, str] = {}

    def forms(self, path: Translation) -> Mapping[str, ValueForm]:
        """By each placeholder of a path its form, where it has one."""
        formed = zip(path.names, (self._form(place) for _, place, _ in _slots(path)), strict=True)
        return {name: form for name, form in formed if form != "any"}

    def notes(self, path: Translation) -> tuple[str, ...]:
        """Why a form is narrower than the document says."""
        return tuple(self._narrowed[place] for _, place, _ in _slots(path) if place in self._narrowed)

    def asks(self, path: Translation) -> tuple[str, ...]:
        """What has several spellings all the same."""
        told = zip(path.names, (self._kinds.get(place, "text") for _, place, _ in _slots(path)), strict=True)
        return tuple(
            f"how is `{{{name}}}` spelled? It is {DOUBTFUL[kind]}, and each spelling is a resource of its own"
            for name, kind in told
            if kind in DOUBTFUL
        )

    def keeps_out(self, path: Translation, parts: Iterable[tuple[int, Partial]], operation: Operation) -> bool:
        """Whether what the rule of `path` would take of another operation is not of the forms; a text becomes a word
        for this, where that is enough.
        """
        at_place = {at: (place, slot) for at, place, slot in _slots(path)}
        known = [(*at_place[at], part) for at, part in parts if at in at_place]
        if any(not part.fits(self._form(place)) for place, _, part in known):
            return True
        for place, slot, part in known:
            if not slot.rest and place not in self._kinds and not part.fits("word"):
                told = f"Words only, so that no rule takes `{comment(str(operation))}`, which stays closed"
                self._narrowed.setdefault(place, told)
                return True
        return False

    def _form(self, place: _Place) -> ValueForm:
        return "word" if place in self._narrowed else FORMS.get(self._kinds.get(place, "text"), "any")


def _slots(path: Translation) -> Iterator[tuple[int, _Place, Slot]]:
    place: _Place = ()
    for at, segment in enumerate(path.segments):
        if isinstance(segment, Slot):
            yield at, place, segment
        place = (*place, segment if isinstance(segment, str) else None)
