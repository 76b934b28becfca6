"""Memory for bodies: who has it at once, who waits, and in which order."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest

from gateway.flow.room import Room, no_room
from tests.playbook.given import RULE, write

MIB = 1 << 20
# Long enough that a turn that is lost fails the test by its own time limit.
EVER_S = 3_600.0


@contextlib.asynccontextmanager
async def full(room: Room, size: int = 8 * MIB, within_s: float = 0.0) -> AsyncIterator[None]:
    async with room.taken(size, within_s) as has_room:
        assert has_room
        yield


@pytest.mark.parametrize(
    ("held", "size", "expected"),
    [
        pytest.param(6 * MIB, 2 * MIB, True, id="as much as there is"),
        pytest.param(6 * MIB, 2 * MIB + 1, False, id="a byte more"),
        pytest.param(8 * MIB, 64 << 10, True, id="so small that it is not counted"),
        pytest.param(1, 9 * MIB, True, id="more than there will ever be, alone"),
        pytest.param(MIB, 9 * MIB, False, id="more than there will ever be, beside another"),
    ],
)
async def test_who_has_room_at_once(held: int, size: int, expected: bool) -> None:
    """Whoever does not wait is told so at once."""
    room = Room(8 * MIB)
    async with full(room, held), room.taken(size) as has_room:
        assert has_room is expected


async def test_room_is_given_back() -> None:
    """Whatever happened in it."""
    room = Room(8 * MIB)
    with pytest.raises(KeyError):
        async with full(room):
            raise KeyError
    async with room.taken(8 * MIB) as has_room:
        assert has_room


async def test_who_waits_has_its_turn_in_order() -> None:
    """A small one that came later does not pass a large one, which would never have its turn."""
    room, turns = Room(8 * MIB), []

    async def take(size: int) -> None:
        async with room.taken(size, EVER_S) as has_room:
            assert has_room
            turns.append(size)

    async with asyncio.TaskGroup() as group, full(room, 4 * MIB):
        async with full(room, 4 * MIB):
            for size in (6 * MIB, 2 * MIB, MIB):
                group.create_task(take(size))
            await asyncio.sleep(0)
        async with room.taken(MIB) as passes:
            assert not passes
        assert turns == []
    assert turns == [6 * MIB, 2 * MIB, MIB]


async def test_nobody_passes_between_two_turns() -> None:
    """One that comes while the next in line has not yet been woken comes behind it all the same."""
    room, passed = Room(8 * MIB), []

    async def first() -> None:
        async with full(room, 6 * MIB, EVER_S), room.taken(MIB) as has_room:
            passed.append(has_room)

    async def second() -> None:
        async with full(room, 6 * MIB, EVER_S):
            pass

    async with asyncio.TaskGroup() as group, full(room):
        group.create_task(first())
        group.create_task(second())
        await asyncio.sleep(0)
    assert passed == [False]


async def test_who_waited_in_vain_leaves_the_line() -> None:
    """The next one has its turn."""
    room = Room(8 * MIB)
    async with full(room):
        async with room.taken(MIB, 0.01) as has_room:
            assert not has_room
        waiting = asyncio.ensure_future(room.taken(MIB, EVER_S).__aenter__())
        await asyncio.sleep(0)
        waiting.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await waiting
    async with room.taken(8 * MIB) as has_room:
        assert has_room


def test_a_body_without_room_may_be_sent_again() -> None:
    """Nothing of it was sent."""
    refused = no_room(write(RULE), "full")

    assert (refused.decision.name, refused.decision.status, refused.decision.action) == ("no-room", 503, "retry")
    assert refused.facts.retry_after_s is not None and refused.why == "full"
