"""Who writes at each upstream, told from the writes in flight."""

import pytest

from gateway.core.census import Flown, Writers, writers
from gateway.core.epoch import Epoch
from gateway.core.write import ResourceKey

NONE = Writers(0, 0)


def flown(resource: str, epoch: int, upstream: str = "reports", rule: str = "write") -> Flown:
    return Flown(upstream, rule, ResourceKey(resource), Epoch(epoch))


@pytest.mark.parametrize(
    ("in_flight", "found"),
    [
        ((), {"reports": NONE, "mail": NONE}),
        ((flown("r/1", 1), flown("r/1", 1)), {"reports": Writers(1, 1), "mail": NONE}),
        ((flown("r/1", 1), flown("r/2", 1)), {"reports": Writers(2, 2), "mail": NONE}),
        ((flown("r/1", 1), flown("r/1", 2)), {"reports": Writers(2, 1), "mail": NONE}),
        ((flown("r/1", 1), flown("m/1", 9, "mail")), {"reports": Writers(1, 1), "mail": Writers(1, 1)}),
        ((flown("r/1", 1), flown("r/1", 2, rule="watched")), {"reports": Writers(1, 1), "mail": NONE}),
        ((flown("r/1", 1, "of another gateway"),), {"reports": NONE, "mail": NONE}),
    ],
    ids=[
        "nobody writes",
        "one epoch writes twice to one resource",
        "the same number is another epoch of another resource",
        "two epochs write to one resource",
        "each upstream has its own",
        "a rule that only observes holds nobody back",
        "the upstream of another gateway is its own to tell",
    ],
)
def test_writers_are_counted_by_upstream(in_flight: tuple[Flown, ...], found: dict[str, Writers]) -> None:
    """More holders than resources is what the fence prevents."""
    assert writers(in_flight, ("reports", "mail"), frozenset({("reports", "watched")})) == found
