"""How much of callers' bodies is kept in memory."""

from gateway.proxy.memory import Memory
from tests.proxy.arriving import Feed, arriving

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
