"""A body that has to be here whole."""

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from gateway.core.faults import BodyTooLarge
from gateway.flow import whole
from gateway.flow.room import Room
from gateway.flow.whole import at_hand, read_to_end, read_whole
from tests.playbook.caller import NoBody

MIB = 1 << 20


@dataclass
class Body(NoBody):
    """Implements `ports.BodySource`: `pieces` were read before, else it is held."""

    length: int | None = None
    pieces: list[bytes] = field(default_factory=list)

    def take_buffered(self) -> bytes | None:
        return None

    def rewind(self) -> bool:
        return bool(self.pieces)

    async def read(self) -> bytes:
        return self.pieces.pop(0) if self.pieces else b""

    async def hold(self, limit: int) -> bytes:
        return b"held"


async def test_what_was_read_before_is_read_again() -> None:
    """From its beginning; what was not is held now."""
    assert await read_whole(Body(pieces=[b"a", b"b"]), 10) == b"ab"
    assert await read_whole(Body(), 10) == b"held"


async def test_what_is_announced_as_too_large_is_not_read() -> None:
    """A byte more than may be."""
    assert await read_whole(Body(length=10), 10) == b"held"
    with pytest.raises(BodyTooLarge):
        await read_whole(Body(length=11), 10)


@dataclass
class OnDisk(Body):
    """A body that was read to the disk, which `pieces` are."""

    kept: bytes = b""

    def rewind(self) -> bool:
        self.pieces = [self.kept]
        return True


async def test_what_is_large_waits_for_its_end_on_the_disk() -> None:
    """Its size is known then; what was read before is not read again."""

    class Arriving(Body):
        async def spool(self, feed: Callable[[bytes], None], in_memory: int) -> bytes | None:
            assert in_memory < MIB
            feed(b"x")
            self.length = 2 * MIB
            return None

    assert await read_to_end(Arriving()) == 2 * MIB
    assert await read_to_end(OnDisk(length=7)) == 7


@pytest.mark.parametrize(
    ("body", "taken", "expected"),
    [
        pytest.param(NoBody(), MIB, b"", id="in memory"),
        pytest.param(OnDisk(length=4, kept=b"body"), MIB, b"body", id="on disk"),
        pytest.param(OnDisk(length=MIB + 1, kept=b"body"), 0, None, id="larger than the limit"),
        pytest.param(OnDisk(length=MIB, kept=b"body"), 1 << 19, None, id="on disk, and no room"),
        pytest.param(Body(length=4), 0, None, id="not read yet"),
    ],
)
async def test_what_was_read_is_at_hand(
    body: NoBody, taken: int, expected: bytes | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not whatever its size: that of many callers would fill the memory."""
    monkeypatch.setattr(whole, "PATIENCE_S", 0.01)
    room = Room(MIB)
    async with room.taken(taken):
        assert await at_hand(body, room, MIB) == expected
