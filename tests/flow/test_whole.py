"""A body that has to be here whole."""

from dataclasses import dataclass, field

import pytest

from gateway.core.faults import BodyTooLarge
from gateway.flow.whole import read_whole
from tests.playbook import NoBody


@dataclass
class Body(NoBody):
    """Implements `ports.BodySource`: `pieces` were read before, else it is held."""

    length: int | None = None
    pieces: list[bytes] = field(default_factory=list)

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
