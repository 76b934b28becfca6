"""Lease calls of principals whose live leases are counted."""

import contextlib
from dataclasses import replace

import pytest

from gateway.core.decision import GRANT_IN_PROGRESS, QUOTA_EXCEEDED, Refused
from gateway.core.epoch import Epoch
from gateway.core.faults import CallerGone
from gateway.core.quota import Counted, Quota, lease_entry
from gateway.core.token import digest_secret
from gateway.core.write import ResourceKey
from gateway.flow.lease import Ask, Granted
from tests.flow.lease_desk import AGAIN, AWAY, FRESH, HELD, INVALID, LOST, NOW, SECRET, Desk
from tests.playbook.given import RESOURCE, lease

LIMITED = replace(NOW, quota=Quota("ada", leases=1))
KEYED = replace(LIMITED, key="k")
LIVES = lease_entry(RESOURCE, 43, digest_secret("Z" * 22))


async def test_a_lease_beyond_the_quota_is_not_asked_for() -> None:
    """Nothing has moved then."""
    exceeded = Refused(QUOTA_EXCEEDED, "d")
    desk = Desk(used=(exceeded,))

    assert await desk.grant(LIMITED) is exceeded
    assert desk.said == ["spend of ada's"]


@pytest.mark.parametrize(
    ("replies", "wait_s", "said"),
    [
        ([lease()], 0.0, ["grant b", "hold until 1000000"]),
        ([HELD], 0.0, ["grant b", "free"]),
        ([lease()], 5.0, ["grant b watch", "hold until 1000000"]),
        ([AWAY], 0.0, ["grant b", "free", "lookup"]),
    ],
    ids=["granted", "held", "granted after waiting", "the store is away"],
)
async def test_a_place_is_kept_for_the_lease_that_was_granted(
    replies: list[object], wait_s: float, said: list[str]
) -> None:
    """For its own term, however long the call would have waited; one that was not granted has none."""
    desk = Desk(used=(None,), grant=replies, lookup=[None])

    await desk.grant(replace(LIMITED, wait_s=wait_s))
    await desk.tasks.drain(1.0)

    assert desk.said == ["spend of ada's", *said]


async def test_a_caller_that_left_keeps_no_place() -> None:
    """Its lease was never granted."""
    desk = Desk(gone=(True,), used=(None,))

    with pytest.raises(CallerGone):
        await desk.grant(LIMITED)
    await desk.tasks.drain(1.0)

    assert desk.said == ["spend of ada's", "free"]


async def test_a_lease_counts_as_long_as_it_lives() -> None:
    """Renewed it goes on; lost or released it ends; a call that is refused for its token ends nothing."""
    desk = Desk(renew=[lease(), LOST, INVALID], release=[lease(), LOST, INVALID])
    for call in [desk.leases.renew] * 3 + [desk.leases.release] * 3:
        await call(RESOURCE, Epoch(43), b"digest", LIMITED.quota)

    renewals = ["renew 43", "hold until 1000000", "renew 43", "free", "renew 43"]
    assert desk.said == [*renewals, "release 43", "free", "release 43", "free", "release 43"]


@pytest.mark.parametrize(
    ("resource", "epoch", "secret"),
    [("report/8", 43, SECRET), (RESOURCE, 42, SECRET), (RESOURCE, 43, "x" * 22)],
    ids=["another resource", "another epoch", "another secret"],
)
@pytest.mark.parametrize("verb", ["renew", "release"])
async def test_a_lease_counts_until_it_has_ended_itself(verb: str, resource: str, epoch: int, secret: str) -> None:
    """What is lost is another one, whatever the token shares with it."""
    desk = Desk(used=(None,), grant=[lease()], **{verb: [LOST]})
    await desk.grant(LIMITED)

    await getattr(desk.leases, verb)(ResourceKey(resource), Epoch(epoch), digest_secret(secret), LIMITED.quota)

    assert desk.use.counted == {lease_entry(RESOURCE, 43, digest_secret(SECRET))}


@pytest.mark.parametrize("gone", [(), (True,)], ids=["answered", "its caller left"])
async def test_a_repeated_grant_leaves_the_count_as_it_is(gone: tuple[bool, ...]) -> None:
    """The lease that it repeats lives on, whatever becomes of the call."""
    desk = Desk(lease_secret=[AGAIN], lookup=[lease()], grant=[lease()], gone=gone)
    desk.use.counted = {LIVES}
    with contextlib.suppress(CallerGone):
        await desk.grant(KEYED)
    await desk.tasks.drain(1.0)

    assert desk.use.counted == {LIVES}


async def test_a_repeat_whose_lease_does_not_count_takes_a_place() -> None:
    """The quota's record of it was lost, and the lease lives."""
    desk = Desk(lease_secret=[AGAIN], lookup=[lease()], grant=[lease()], used=(None,))

    await desk.grant(KEYED)

    assert desk.said == ["lease_secret   k b", "lookup", "spend of ada's", "grant b", "hold until 1000000"]
    assert desk.use.counted == {LIVES}


async def test_a_call_that_its_own_repeat_overtook_looks_again() -> None:
    """Both get the one lease, with its secret."""
    desk = Desk(lease_secret=[FRESH, AGAIN], grant=[Refused(GRANT_IN_PROGRESS, "d"), lease()])

    granted = await desk.grant(replace(NOW, key="k"))

    assert isinstance(granted, Granted)
    assert desk.said == ["lease_secret   k b", "grant b"] * 2


async def test_a_call_does_not_look_for_ever() -> None:
    """Told that the same call is under way each time, it says so."""
    desk = Desk(lease_secret=[FRESH] * 3, grant=[Refused(GRANT_IN_PROGRESS, "d")] * 3)

    refused = await desk.grant(replace(NOW, key="k"))

    assert isinstance(refused, Refused) and refused.decision is GRANT_IN_PROGRESS


@pytest.mark.parametrize("ask", [NOW, LIMITED], ids=["without a quota", "under one"])
async def test_whoever_takes_over_gives_the_former_holder_s_place_back(ask: Ask) -> None:
    """Once, however long the call then waits for older writes."""
    former = Counted("bob", b"former")
    desk = Desk(used=(None,), grant=[replace(lease(in_flight=1), overtakes=former), lease()])
    desk.use.counted = {former.entry}

    granted = await desk.grant(replace(ask, takeover=True, wait_s=5.0))

    assert isinstance(granted, Granted)
    assert desk.said.count("free") == 1
    assert former.entry not in desk.use.counted
