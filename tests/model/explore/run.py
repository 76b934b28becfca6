"""One exploration, from a server to its figures."""

from tests.model.explore.faults import Fault
from tests.model.explore.gateway import SHARD, Gateways
from tests.model.explore.moves import Moves
from tests.model.explore.search import Explored, explore
from tests.model.explore.shelf import Shelf
from tests.model.explore.world import Bounds


def run(url: str, bounds: Bounds, *, depth: int | None = None, most: int | None = None) -> Explored:
    """The product as it is. It empties the server's database again and again."""
    return _run(url, Fault("", "", bounds), depth, most)


def run_with(url: str, fault: Fault) -> Explored:
    """With a fault planted, in the world that must show it."""
    return _run(url, fault, None, None)


def _run(url: str, fault: Fault, depth: int | None, most: int | None) -> Explored:
    gateways = Gateways(Shelf(url, fault.changes, SHARD), fault.bounds.gateways)
    try:
        return explore(Moves(gateways, fault.bounds, fault.conduct), depth, most)
    finally:
        gateways.close()
