"""What a lease tells its holder."""

from gateway.core.epoch import Epoch
from gateway.core.lease import Lease


def test_a_lease_is_drained_when_no_older_write_is_in_flight() -> None:
    """`in_flight` counts the writes of older epochs."""
    assert Lease("r", "a", Epoch(1), 30_000, 0, in_flight=0).drained
    assert not Lease("r", "a", Epoch(1), 30_000, 0, in_flight=1).drained


def test_a_lease_is_renewed_at_a_third_of_its_term() -> None:
    """Two more tries fit before it ends."""
    assert Lease("r", "a", Epoch(1), 30_000, 0, 0).renew_after_ms == 10_000
    assert Lease("r", "a", Epoch(1), 1_000, 0, 0).renew_after_ms == 333
