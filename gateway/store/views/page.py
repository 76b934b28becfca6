"""Lists for operators: a page of items, and the cursor with which the next one begins."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from gateway.core.epoch import parse_u64

PAGE = 100

Item = TypeVar("Item")


class BadCursor(Exception):
    """The cursor is not one that was handed out."""


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """Some of the items, and where the next page begins; None at the end. A page may be short and not the last.

    `incomplete` says what of the store did not answer, so that items of it may be missing; None where all did.
    """

    items: tuple[Item, ...]
    next: str | None
    incomplete: str | None = None


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """Where an entry stands in a list: the newest is the largest.

    `ms` is its instant, since 1970 by the store's clock; `within` its number in that millisecond, where it has one;
    `name` tells it from the others of the same instant.
    """

    ms: int
    within: int
    name: str

    @property
    def cursor(self) -> str:
        return f"{self.ms}.{self.within}.{self.name}"


def position(cursor: str | None) -> Position | None:
    """Where a page begins: behind this position, or at the newest. Raises BadCursor."""
    if not cursor:
        return None
    ms, _, rest = cursor.partition(".")
    within, _, name = rest.partition(".")
    instant, number = parse_u64(ms), parse_u64(within)
    if not instant or number is None or not name:
        raise BadCursor
    return Position(instant, number, name)
