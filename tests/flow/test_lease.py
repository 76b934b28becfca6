"""Lease calls: at once, or after waiting for the lease to be free and for older writes to end."""

import asyncio
from dataclasses import replace

import pytest

from gateway.core.decision import (
    EPOCHS_EXHAUSTED,
    OVERLOADED,
    STALE_EPOCH,
    Refused,
)
from gateway.core.epoch import Epoch
from gateway.core.faults import CallerGone, PoliciesChanged
from gateway.core.lease import Lease
from gateway.core.term import Term
from gateway.core.token import digest_secret
from gateway.flow.lease import Foreign, Granted
from tests.flow.lease_desk import AWAY, FRESH, HELD, LOST, NOW, PATIENT, SECRET, Desk
from tests.playbook.given import RESOURCE, lease


async def test_a_free_lease_is_granted_at_once() -> None:
    """The token is the epoch and the secret; older writes in flight are only counted."""
    desk = Desk(grant=[lease(in_flight=2)])

    assert await desk.grant(NOW) == Granted(lease(2), f"43.{SECRET}", digest_secret(SECRET))
    assert desk.said == ["grant b"]


async def test_a_held_lease_is_refused_at_once_where_nobody_waits() -> None:
    """The store's word is passed on."""
    desk = Desk(grant=[HELD])

    assert await desk.grant(NOW) is HELD
    assert desk.said == ["grant b"]


async def test_a_grant_waits_for_the_lease_and_then_for_older_writes() -> None:
    """It returns when the lease is its own and no older write is in flight."""
    desk = Desk(grant=[HELD, HELD, lease(in_flight=1), lease(in_flight=1), lease()])

    granted = await desk.grant(PATIENT)

    assert isinstance(granted, Granted) and granted.lease.drained
    assert desk.said == ["grant b watch"] * 5


async def test_a_takeover_is_asked_for_until_it_is_granted() -> None:
    """From the grant on the call only watches: it does not take the lease back from a third."""
    desk = Desk(grant=[lease(in_flight=1), lease(in_flight=1), lease()])

    await desk.grant(replace(PATIENT, takeover=True))

    assert desk.said == ["grant b takeover watch", "grant b watch", "grant b watch"]


async def test_another_refusal_ends_the_wait() -> None:
    """Only a held lease may become free."""
    refused = Refused(EPOCHS_EXHAUSTED, "d")
    desk = Desk(grant=[HELD, refused])

    assert await desk.grant(PATIENT) is refused


async def test_a_grant_with_a_key_has_the_keys_secret() -> None:
    """One whose answer was lost asks again and gets the same token."""
    desk = Desk(lease_secret=[FRESH], grant=[lease()])

    granted = await desk.grant(replace(NOW, key="k", tenant="t", principal="p"))

    assert isinstance(granted, Granted) and granted.token == "43." + "Z" * 22
    assert desk.said == ["lease_secret t p k b", "grant b"]


@pytest.mark.parametrize("gone", [(True,), (False, True)], ids=["before the first call", "while it waits"])
async def test_a_caller_that_left_is_granted_nothing(gone: tuple[bool, ...]) -> None:
    """The store is not asked any more."""
    desk = Desk(grant=[HELD], gone=gone)

    with pytest.raises(CallerGone):
        await desk.grant(PATIENT)
    assert desk.said == ["grant b watch"] * (len(gone) - 1)


async def test_a_caller_that_left_after_the_grant_waits_no_longer() -> None:
    """It is told what was granted, for that to be released."""
    desk = Desk(grant=[lease(in_flight=1), lease(in_flight=1)], gone=(False, False, True))

    granted = await desk.grant(PATIENT)

    assert isinstance(granted, Granted) and granted.lease.in_flight == 1
    assert desk.said == ["grant b watch"] * 2


@pytest.mark.parametrize("scripts", [{"grant": [AWAY]}, {"grant": [HELD, AWAY]}], ids=["at once", "while it waits"])
async def test_no_lease_while_the_store_is_away(scripts: dict[str, list[object]]) -> None:
    """The call is refused; it may be repeated."""
    desk = Desk(**scripts, lookup=[AWAY])

    refused = await desk.grant(PATIENT)

    assert isinstance(refused, Refused) and refused.decision.name == "store-unavailable"
    assert await desk.tasks.drain(5) == 0


@pytest.mark.parametrize(
    ("live", "ends"),
    [
        pytest.param(replace(lease(), holder="b"), ["release 43"], id="it was granted"),
        pytest.param(replace(lease(), holder="a"), [], id="it is somebody else's"),
        pytest.param(None, [], id="it was not"),
    ],
)
async def test_a_grant_that_nobody_heard_of_is_released(live: Lease | None, ends: list[str]) -> None:
    """Whoever asks again is not told that the lease is held."""
    desk = Desk(grant=[AWAY], lookup=[live], release=[lease()])

    await desk.grant(NOW)

    assert await desk.tasks.drain(5) == 0
    assert desk.said == ["grant b", "lookup", *ends]


async def test_a_grant_that_is_interrupted_is_released() -> None:
    """The gateway is stopped, and its caller never sees the token."""
    desk = Desk(grant=[lease(in_flight=1)], lookup=[replace(lease(), holder="b")], release=[lease()])
    granting = asyncio.ensure_future(desk.leases.grant(PATIENT, desk.caller.is_gone))
    await desk.said.until("grant b watch")
    granting.cancel()
    await asyncio.wait((granting,))

    assert granting.cancelled()
    assert await desk.tasks.drain(5) == 0
    assert desk.said == ["grant b watch", "lookup", "release 43"]


async def test_a_grant_with_a_key_that_nobody_heard_of_stays() -> None:
    """Its repeat gets the same lease."""
    desk = Desk(lease_secret=[FRESH], grant=[AWAY])

    await desk.grant(replace(NOW, key="k", tenant="t", principal="p"))

    assert await desk.tasks.drain(5) == 0
    assert desk.said == ["lease_secret t p k b", "grant b"]


@pytest.mark.parametrize("reply", [lease(), LOST, AWAY], ids=["the lease", "lost", "away"])
@pytest.mark.parametrize("verb", ["renew", "release"])
async def test_renewing_and_releasing_pass_the_stores_word_on(verb: str, reply: object) -> None:
    """One call, one answer; away is a refusal."""
    desk = Desk(**{verb: [reply]})

    got = await getattr(desk.leases, verb)(RESOURCE, Epoch(43), b"digest")

    assert got == reply or (reply is AWAY and got.decision.name == "store-unavailable")
    assert desk.said == [f"{verb} 43"]


@pytest.mark.parametrize("reply", [lease(), LOST, AWAY], ids=["released", "lost", "away"])
async def test_a_grant_whose_answer_reached_nobody_is_released(reply: object) -> None:
    """In the background; where the store is away the lease ends by its term."""
    desk = Desk(release=[reply])

    desk.leases.release_unseen(Granted(lease(), "43.x", b"digest"))

    assert await desk.tasks.drain(5) == 0
    assert desk.said == ["release 43"]


@pytest.mark.parametrize("reply", [lease(), None, AWAY], ids=["live", "none", "away"])
async def test_a_lookup_shows_the_live_lease(reply: object) -> None:
    """None where there is none; away is a refusal and not a none."""
    got = await Desk(lookup=[reply]).leases.lookup(RESOURCE)

    assert got == reply or (reply is AWAY and isinstance(got, Refused))


@pytest.mark.parametrize(
    ("replies", "wait_s", "got"),
    [
        ([2], 0.0, 2),
        ([0], 3_600.0, 0),
        ([Refused(STALE_EPOCH, "d")], 3_600.0, Refused(STALE_EPOCH, "d")),
    ],
    ids=["at once", "drained", "stale"],
)
async def test_a_foreign_epoch_is_registered(replies: list[object], wait_s: float, got: object) -> None:
    """How many older writes are in flight, or why not."""
    desk = Desk(register=replies)

    assert await desk.leases.register(Foreign(RESOURCE, Epoch(7), "b", wait_s), desk.caller.is_gone) == got
    assert desk.said == [f"register 7 b{' watch' * bool(wait_s)}"]


async def test_nothing_is_registered_by_policies_that_are_over() -> None:
    """Its caller is judged anew; one that was registered before waits on for older writes."""
    over = Term()
    over.end()
    desk = Desk(register=[1, 0])
    with pytest.raises(PoliciesChanged):
        await desk.leases.register(Foreign(RESOURCE, Epoch(7), "b", term=over), desk.caller.is_gone)
    assert desk.said == []

    lasting = Foreign(RESOURCE, Epoch(7), "b", 3_600)
    registering = asyncio.ensure_future(desk.leases.register(lasting, desk.caller.is_gone))
    await desk.said.until("register 7 b watch")
    lasting.term.end()
    desk.wakes.on_wake(RESOURCE)
    assert await registering == 0


async def test_registering_waits_for_older_writes() -> None:
    """Woken, it asks again until none is left."""
    desk = Desk(register=[1, 0])
    registering = asyncio.ensure_future(
        desk.leases.register(Foreign(RESOURCE, Epoch(7), "b", 3_600), desk.caller.is_gone)
    )
    await desk.said.until("register 7 b watch")
    desk.wakes.on_wake(RESOURCE)

    assert await registering == 0
    assert desk.said == ["register 7 b watch"] * 2


async def test_a_caller_that_left_after_its_epoch_was_registered_waits_no_longer() -> None:
    """What was done is told as done, to the log at least."""
    desk = Desk(register=[1], gone=(False, True))

    registered = await desk.leases.register(Foreign(RESOURCE, Epoch(7), "b", 3_600), desk.caller.is_gone)

    assert (registered, desk.said) == (1, ["register 7 b watch"])


async def test_no_epoch_is_registered_for_nobody_or_nowhere() -> None:
    """A caller that left leaves nothing; a store that is away refuses."""
    with pytest.raises(CallerGone):
        await Desk().leases.register(Foreign(RESOURCE, Epoch(7), "b"), lambda: True)
    refused = await Desk(register=[AWAY]).leases.register(Foreign(RESOURCE, Epoch(7), "b"), lambda: False)

    assert isinstance(refused, Refused) and refused.decision.name == "store-unavailable"


async def test_a_call_that_would_wait_wants_a_place_and_others_do_not() -> None:
    """Without one the store is not asked: a later call is told the same lease or another's."""
    desk = Desk(grant=[HELD, lease()], register=[0], renew=[lease()])
    waiting = asyncio.ensure_future(desk.leases.grant(PATIENT, desk.caller.is_gone))
    await desk.said.until("grant b watch")

    granting = await desk.leases.grant(PATIENT, desk.caller.is_gone)
    registering = await desk.leases.register(Foreign(RESOURCE, Epoch(42), "b", 1.0), desk.caller.is_gone)
    at_once = await desk.leases.register(Foreign(RESOURCE, Epoch(42), "b"), desk.caller.is_gone)
    renewed = await desk.leases.renew(RESOURCE, Epoch(43), b"digest")

    assert isinstance(granting, Refused) and isinstance(registering, Refused)
    assert (granting.decision, registering.decision, at_once) == (OVERLOADED, OVERLOADED, 0)
    assert not isinstance(renewed, Refused)
    desk.wakes.on_wake(RESOURCE)
    assert isinstance(await waiting, Granted)


async def test_no_lease_is_granted_by_policies_that_ended_while_the_call_waited() -> None:
    """Its caller may have lost the right; the place in its quota is free again."""
    term = Term()
    desk = Desk(grant=[HELD] * 50)

    async def store_is_asked() -> None:
        while not desk.said:
            await asyncio.sleep(0)
        term.end()

    ending = asyncio.ensure_future(store_is_asked())
    with pytest.raises(PoliciesChanged):
        await desk.grant(replace(PATIENT, term=term))
    await ending
    assert set(desk.said) == {"grant b watch"}


async def test_a_lease_that_is_granted_outlives_the_policies_of_its_call() -> None:
    """What still waits for older writes to end is told of its lease."""
    term = Term()
    desk = Desk(grant=[lease(in_flight=1), lease()])
    term_ends = replace(PATIENT, term=term)

    async def store_is_asked() -> None:
        while not desk.said:
            await asyncio.sleep(0)
        term.end()

    ending = asyncio.ensure_future(store_is_asked())
    granted = await desk.grant(term_ends)
    await ending
    assert isinstance(granted, Granted)
    assert granted.lease.drained
