"""Since when a promoted server may lack what was acknowledged."""

import pytest

from tests.history.promotions import in_step_at

OFFSETS = ((1.0, 100), (2.0, 200), (3.0, 300))
REPLICAS = {
    "has all": ("ip=127.0.0.1,port=1,state=online,offset=300,lag=0,type=replica", 3.0),
    "lags": ("ip=127.0.0.1,port=1,state=online,offset=250,lag=0", 2.0),
    "has nothing of it": ("ip=127.0.0.1,port=1,state=online,offset=50,lag=0", None),
    "is being sent everything": ("ip=127.0.0.1,port=1,state=send_bulk,offset=300,lag=0", None),
    "is not there": ("", None),
}


@pytest.mark.parametrize(("replica", "at"), REPLICAS.values(), ids=REPLICAS)
def test_in_step(replica: str, at: float | None) -> None:
    """A replica has what was acknowledged until the primary was where the replica is."""
    assert in_step_at(OFFSETS, replica) == at
