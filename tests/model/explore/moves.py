"""What may happen next in a world, and what is true of each."""

from collections.abc import Iterator

from tests.model.explore import promises, questions
from tests.model.explore.asking import Asking, Move
from tests.model.explore.gateway import FIRST, Gateways, Memory
from tests.model.explore.leases import Leases
from tests.model.explore.mishaps import Mishaps
from tests.model.explore.promises import Books, Broken
from tests.model.explore.questions import INTENT, tickets_in
from tests.model.explore.shelf import State
from tests.model.explore.world import GRACE_MS, TTL_MS, Bounds, World, beginning
from tests.model.explore.writes import HONEST, Conduct, Writes

# Until every ticket is past its deadline and grace, however late it was made.
_AT_LAST_MS = 10 * (TTL_MS + GRACE_MS)


class Moves:
    """Of a world within its bounds."""

    def __init__(self, gateways: Gateways, bounds: Bounds, conduct: Conduct = HONEST) -> None:
        asking = Asking(gateways, forgets=bounds.losses + bounds.emptied == 0)
        self._gateways = gateways
        self._bounds = bounds
        self._all = (
            Leases(asking, bounds),
            Writes(asking, bounds, conduct),
            Mishaps(asking, bounds, tells_of_loss=conduct.tells_of_loss),
        )
        self._records: dict[State, tuple[Books, Books]] = {}

    def beginning(self) -> World:
        shelf = self._gateways.shelf
        return beginning(self._bounds, shelf.begun_with(shelf.empty, FIRST), Memory(origin=FIRST))

    @property
    def script_runs(self) -> int:
        return self._gateways.shelf.calls

    def of(self, world: World) -> Iterator[Move]:
        """Everything that may happen next."""
        for some in self._all:
            yield from some.of(world)

    def broken_in(self, world: World) -> Broken:
        """Of the records, now and once all is over."""
        known = self._records.get(world.store)
        if known is None:
            known = self._records[world.store] = self._look_into(world.store)
        return promises.of_records(world, INTENT, *known)

    def _look_into(self, state: State) -> tuple[Books, Books]:
        at_last = self._gateways.shelf.later(state, _AT_LAST_MS)
        for ticket in tickets_in(at_last):
            _, at_last, _ = self._gateways.ask(0, at_last, Memory(), questions.sweep, ticket)
        return self._books_of(state), self._books_of(at_last)

    def _books_of(self, state: State) -> Books:
        states = {}
        for id in questions.records_in(state):
            record, _, _ = self._gateways.ask(0, state, Memory(), questions.recall, id)
            states[id] = record.state
        return Books(states, tickets_in(state))
