"""Since when a promoted server may lack what was acknowledged."""

import pytest

from tests.history.promotions import in_step_at

OFFSETS = ((1.0, 100), (2.0, 200), (3.0, 300))
HISTORY = "7f"


def replica(offset: int, *, link: str = "up", history: str = HISTORY) -> dict[str, str]:
    return {"role": "slave", "master_link_status": link, "master_replid": history, "slave_repl_offset": str(offset)}


REPLICAS = {
    "has all": (replica(300), 3.0),
    "lags": (replica(250), 2.0),
    "has nothing of it": (replica(50), None),
    "is being sent everything": (replica(300, link="down"), None),
    "is of another history": (replica(900, history="a0"), None),
    "is a primary itself": ({"role": "master", "master_replid": HISTORY, "master_repl_offset": "900"}, None),
}


@pytest.mark.parametrize(("found", "at"), REPLICAS.values(), ids=REPLICAS)
def test_in_step(found: dict[str, str], at: float | None) -> None:
    """A replica has what was acknowledged until the primary was where the replica is, in one and the same history."""
    assert in_step_at(OFFSETS, HISTORY, found) == at
