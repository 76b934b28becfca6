"""What a resource's record still says of writes without a key that have ended: their tickets are gone, and nothing else
keeps them from being done again. And which epochs it has.
"""

from dataclasses import dataclass

from gateway.core.write import Admitted, ResourceKey
from gateway.store.answer import number
from gateway.store.keys import resource_keys
from gateway.store.links.link import Reply

# Of an era in which none is known yet.
NO_EPOCH = -1
# As in `scripts/parts/loss.lua`.
_COLLECTED_AFTER_MS = 24 * 3_600_000


@dataclass(frozen=True, slots=True)
class Place:
    """Under this epoch of this era, a lease's or not: whether its one write is made, where it makes one, and the last
    number in its sequence. Under any: how many writes were counted.
    """

    resource: ResourceKey
    epoch: int
    is_used: bool
    sequence: int
    revision: int
    era: int = 0
    is_leased: bool = False

    @property
    def of(self) -> tuple[int, int]:
        return self.era, self.epoch

    @property
    def command(self) -> tuple[str, ...]:
        return ("HMGET", resource_keys(self.resource)[0], "e", "b", "r", "m", "w", "q", "n")

    def holds(self, reply: Reply) -> bool:
        assert isinstance(reply, list)
        told = (None if one is None else number(one) for one in reply)
        highest, began, forgotten, most, written, sequence, revision = told
        if (revision or 0) < self.revision:
            return False
        era = _era(highest, began, forgotten, most)
        if era != self.era:
            # An operator has forgotten its epoch; or that is lost.
            return era > self.era
        if self.epoch == NO_EPOCH:
            return True
        if highest is None or highest < self.epoch:
            return False
        is_there = (written is not None or not self.is_used) and (sequence or 0) >= self.sequence
        return highest > self.epoch or is_there

    def may_be_collected(self, now_ms: int) -> bool:
        """Whether its record may be gone by right, by the store's clock. One that counts, or was reset, never is."""
        return self.is_leased and not self.revision and not self.era and collectable(self.epoch, now_ms)

    def after(self, former: "Place | None") -> "Place":
        """What is to be there after both."""
        if former is None:
            return self
        newer, older = (self, former) if self.of >= former.of else (former, self)
        is_same = newer.of == older.of
        return Place(
            newer.resource,
            newer.epoch,
            newer.is_used or (is_same and older.is_used),
            max(newer.sequence, older.sequence if is_same else 0),
            max(newer.revision, older.revision),
            newer.era,
            newer.is_leased,
        )


def collectable(epoch: int, now_ms: int) -> bool:
    """Whether an operator may have the record of a lease collected that was granted with this epoch."""
    return epoch < now_ms - _COLLECTED_AFTER_MS


def place_of(admitted: Admitted, revision: int) -> Place | None:
    """Of a write that may have been applied; `revision`: how many are counted since. None where its rule lets another
    one like it through.
    """
    write, rule = admitted.write, admitted.write.rule
    is_used = rule.fence.order == "strict"
    sequence = 0 if rule.fence.sequence == "off" else write.sequence or 0
    counted = revision if rule.revision == "gateway" else 0
    if not is_used and not sequence and not counted:
        return None
    return Place(write.resource, write.epoch, is_used, sequence, counted, admitted.era, rule.authority == "lease")


def _era(highest: int | None, began: int | None, forgotten: int | None, most: int | None) -> int:
    """As `epochs.era` in `scripts/parts/epoch.lua`."""
    is_forgotten = most is not None and (highest is None or highest < most)
    return (began or int(forgotten is not None)) + is_forgotten
