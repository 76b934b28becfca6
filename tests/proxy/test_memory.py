"""How much of callers' bodies is kept in memory."""

import asyncio

import pytest

from gateway.core.faults import CallerGone
from gateway.proxy.memory import Memory
from tests.proxy.arriving import Feed, arriving
from tests.until import until

KIB = 1 << 10


def test_where_it_is_used_up_bodies_go_to_the_disk() -> None:
    """But for the smallest; what was freed is had again."""
    memory = Memory(100 * KIB)

    assert memory.allows(64 * KIB) == 64 * KIB
    memory.take(64 * KIB)
    assert (memory.allows(64 * KIB), memory.allows(36 * KIB), memory.allows(4 * KIB)) == (16 * KIB, 36 * KIB, 4 * KIB)
    memory.free(64 * KIB)
    assert memory.allows(64 * KIB) == 64 * KIB


async def test_a_body_counts_until_its_request_has_ended() -> None:
    """However often it is closed; one that went to the disk does not count."""
    memory, body = Memory(100 * KIB), b"x" * (64 * KIB)
    async with arriving(len(body), memory) as one, arriving(len(body), memory) as other:
        kept = await one.spool(body, Feed(), 64 * KIB)
        spooled = await other.spool(body, Feed(), 64 * KIB)
        allowed = memory.allows(64 * KIB)
        for ended in (one, one, other):
            ended.body.close()

    assert (kept, spooled, allowed) == (body, None, 16 * KIB)
    assert memory.allows(100 * KIB) == 100 * KIB


async def test_a_body_counts_as_soon_as_it_may_come() -> None:
    """A slow one takes the room of others from its first byte; what was announced shorter takes no more than that."""
    memory = Memory(100 * KIB)
    async with arriving(60 * KIB, memory) as one, arriving(None, memory) as other:
        slow = asyncio.ensure_future(one.body.spool(Feed(), 64 * KIB))
        await one.client.send(b"x")
        await until(lambda: memory.allows(41 * KIB) == 16 * KIB)
        left = memory.allows(40 * KIB)
        spooled = await other.spool(b"x" * (30 * KIB), Feed(), 64 * KIB)
        await one.client.send(b"x" * (60 * KIB - 1))
        kept = await slow
        for ended in (one, other):
            ended.body.close()

    assert (left, spooled) == (40 * KIB, None)
    assert kept == b"x" * (60 * KIB)
    assert memory.allows(100 * KIB) == 100 * KIB


async def test_a_body_that_breaks_off_counts_no_more() -> None:
    """Once its request has ended."""
    memory = Memory(100 * KIB)
    async with arriving(60 * KIB, memory) as one:
        slow = asyncio.ensure_future(one.body.spool(Feed(), 64 * KIB))
        await until(lambda: memory.allows(41 * KIB) == 16 * KIB)
        one.client.writer.close()
        with pytest.raises(CallerGone):
            await slow
        one.body.close()

    assert memory.allows(100 * KIB) == 100 * KIB
