"""Whether a store still has what it had acknowledged: what a process remembers of it, beside what it says itself.

A store keeps what it acknowledged in order, in its file as in its replicas. So each process leaves a mark there that
rises, and while the last acknowledged one is there, so is everything that was acknowledged before it.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Remembered:
    """The incarnation of the store, and the last of a process's marks there that was acknowledged; 0 for none."""

    incarnation: str
    mark: int = 0


@dataclass(frozen=True, slots=True)
class Found:
    """What the store says. `incarnation` is None in one that knows nothing, and `mark` 0 where it has none.

    Where this incarnation began because of a loss: `before` are those that were lost, `floor` is the epoch below which
    leases have ended, and `is_open` says that no operator has accepted the loss yet. `since`: when the loss was found.
    """

    incarnation: str | None
    mark: int = 0
    before: tuple[str, ...] = ()
    is_open: bool = False
    floor: str = ""
    since: str = ""


@dataclass(frozen=True, slots=True)
class Kept:
    """Nothing that was acknowledged before the mark is missing."""


@dataclass(frozen=True, slots=True)
class Told:
    """Somebody else has found the loss."""


@dataclass(frozen=True, slots=True)
class Lost:
    """Acknowledged work is missing, and nobody has told so yet."""

    why: str


def judge(remembered: Remembered, found: Found) -> Kept | Told | Lost:
    """What became of the store. Another incarnation than the one that is remembered may be a copy's, or may have been
    begun by a process that remembered nothing.
    """
    if found.incarnation is None:
        return Lost("it knows nothing of this gateway: it is empty, or another one")
    if found.incarnation != remembered.incarnation:
        if remembered.incarnation in found.before:
            return Told()
        return Lost("it is another one than it was: it was emptied, or replaced")
    if found.mark < remembered.mark:
        return Lost(f"it has gone back to mark {found.mark}, and mark {remembered.mark} was acknowledged")
    return Kept()
