"""The model's time. It stands still, and the past moves back: a store and the same store a day later are one state.

Every instant, and every epoch that a lease was granted, is within an hour of ERA, where it is known by its first
digits, in decimal text as in six bytes. Moving them is all that time does to a store.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

ERA_MS = 4_102_445_000_000
"""In the year 2100: nothing that a script gives a time to live to expires while somebody explores."""
_WIDTH_MS = 3_600_000
_TEXT = re.compile(rb"410244\d{7}")
_PACKED = re.compile(rb"\x03\xbb\x2c[\x00-\xff]{3}")
_PACKED_BYTES = 6


def is_instant(number: int) -> bool:
    """Whether it moves with time: an epoch that was granted elsewhere does not."""
    return abs(number - ERA_MS) < _WIDTH_MS


def moved(number: int, by_ms: int) -> int:
    """The instant as it is seen so much later."""
    return number - by_ms if is_instant(number) else number


@lru_cache(None)
def moved_text(content: bytes, by_ms: int) -> bytes:
    """A store's content as it is so much later."""
    in_text = _TEXT.sub(lambda found: _text(moved(int(found[0]), by_ms)), content)
    return _PACKED.sub(lambda found: _packed(moved(int.from_bytes(found[0], "big"), by_ms)), in_text)


def renamed_text(content: bytes, names: Mapping[int, int]) -> bytes:
    """The content with other epochs for those that are named."""
    return _TEXT.sub(lambda found: _text(names.get(int(found[0]), int(found[0]))), content)


def names_of(epochs: Iterable[int]) -> Mapping[int, int]:
    """Other names for epochs of the past, as near to now as their order allows: a script asks of one whether it is less
    than another, or than now.
    """
    past = sorted({epoch for epoch in epochs if is_instant(epoch) and epoch < ERA_MS})
    return {epoch: ERA_MS - distance for distance, epoch in enumerate(reversed(past), 1)}


def _text(instant: int) -> bytes:
    return str(instant).encode()


def _packed(instant: int) -> bytes:
    return instant.to_bytes(_PACKED_BYTES, "big")
