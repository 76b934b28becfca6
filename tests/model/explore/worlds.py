"""The worlds that are explored: small ones with every change, large ones now and then."""

from collections.abc import Mapping

from tests.model.explore.world import Bounds

SMALL: Mapping[str, Bounds] = {
    "takeover": Bounds(keyed=0, plain=1, ticks=2),
    "repeat": Bounds(keyed=1, plain=0, ticks=2, resolutions=1),
    "retry": Bounds(gateways=1, keyed=1, plain=0, ticks=2, deaths=0, retries=True),
    "elsewhere": Bounds("header", keyed=1, plain=0, ticks=2, grants=1),
    "loss": Bounds(keyed=1, plain=0, ticks=0, losses=1),
}

# A lease outlives what may still be in flight after a loss only where it is longer than that.
_LONG_MS = 2500

LARGE: Mapping[str, Bounds] = {
    "deaths": Bounds(keyed=1, plain=0, ticks=3, deaths=1, slow=1, resolutions=1),
}
