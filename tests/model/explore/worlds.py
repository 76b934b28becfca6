"""The worlds that are explored: small ones with every change, large ones now and then."""

from collections.abc import Mapping

from tests.model.explore.world import Bounds

SMALL: Mapping[str, Bounds] = {
    "takeover": Bounds(gateways=1, keyed=0, plain=1, ticks=2),
    "repeat": Bounds(keyed=1, plain=0, ticks=2, resolutions=1),
    "retry": Bounds(gateways=1, keyed=1, plain=0, ticks=2, retries=True),
    "elsewhere": Bounds("header", gateways=1, keyed=1, plain=0, ticks=2),
    "loss": Bounds(keyed=1, plain=0, ticks=0, losses=1),
}

# A lease that outlives what may still be in flight after a loss.
_LONG_MS = 3500

LARGE: Mapping[str, Bounds] = {
    "death and delay": Bounds(keyed=1, plain=0, ticks=3, slow=1, deaths=1, resolutions=1),
    "breaking off": Bounds(keyed=0, plain=1, ticks=2, deaths=1, pieces=True),
    "two writes each": Bounds(gateways=1, keyed=1, plain=1, ticks=2, pieces=True),
    "three holders": Bounds(holders=3, keyed=1, plain=0, ticks=2, deaths=1, resolutions=1),
    "leases": Bounds(gateways=1, grants=2, renewals=1, releases=1, keyed=0, plain=1, ticks=2),
    "retry and death": Bounds(keyed=1, plain=0, ticks=2, slow=1, deaths=1, retries=True),
    "elsewhere, and loss": Bounds("header", keyed=0, plain=1, ticks=1, deaths=1, losses=1),
    "emptied": Bounds(keyed=1, plain=0, ticks=1, emptied=1),
    "emptied, and epochs from elsewhere": Bounds("header", keyed=1, plain=0, ticks=1, emptied=1),
    "loss and death": Bounds(keyed=1, plain=0, ticks=2, deaths=1, losses=1, lease_ms=_LONG_MS),
    "loss and delay": Bounds(gateways=1, keyed=1, plain=0, ticks=2, slow=1, losses=1, lease_ms=_LONG_MS),
    "loss and retry": Bounds(
        gateways=1, keyed=1, plain=0, ticks=2, resolutions=1, losses=1, retries=True, lease_ms=_LONG_MS
    ),
}
