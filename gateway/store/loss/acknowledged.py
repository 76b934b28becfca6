"""What the store has acknowledged to this gateway, and what a script's answer means beside it.

By this a store that has lost something is found out at once, before a mark tells (incarnation.py).
"""

from collections.abc import Mapping

from gateway.core.write import ResourceKey, Write
from gateway.store.answer import Answer, number
from gateway.store.keys import shard_of
from gateway.store.loss.places import collectable
from gateway.store.loss.recent import Recent
from gateway.store.loss.seen import SeenEpochs

# Of `scripts/admit.lua`, behind the comparison of epochs; a refusal names the epoch in force.
_NOT_REFUSED = frozenset({"admitted", "replayed", "parked", "ready", "wait-older", "wait-busy"})
_OF_A_LOSS = frozenset({"store-regressed", "began-anew"})


class Acknowledged:
    """`recent` is None where nobody looks whether the store still has it: then no loss is ever told of."""

    def __init__(self, recent: Recent | None = None) -> None:
        self._recent = recent
        self._seen = SeenEpochs() if recent is None else recent.seen
        self._origins: Mapping[str, str] = {} if recent is None else recent.origins

    def note(self, resource: ResourceKey, epoch: int, era: int = 0, *, leased: bool = False) -> None:
        """The store has acknowledged this epoch, which is a lease's or is not."""
        if self._seen.note(resource, epoch, era) and self._recent is not None:
            self._recent.raised(resource, epoch, era, leased=leased)

    def heard(self, answer: Answer, write: Write) -> None:
        """An epoch that was granted elsewhere is recorded before its write is refused, replayed or told to wait: from
        then on an older one is not admitted.
        """
        # Empty is not zero, which is an epoch.
        leased = write.secret_digest is not None
        is_in_force = not leased and answer.rest[0] == str(write.epoch).encode()
        if answer.word in _NOT_REFUSED or (is_in_force and answer.word not in _OF_A_LOSS):
            self.note(write.resource, write.epoch, answer.era, leased=leased)

    def origin(self, resource: ResourceKey) -> str:
        """What the resource's shard began with (origins.py); empty where that is not known."""
        return self._origins.get(shard_of(resource), "")

    def words(self, write: Write) -> str:
        """For a store that may have forgotten it: an epoch that rules the write's, or that it must still have."""
        era = self._seen.era(write.resource)
        began = f" era:{era}" if era else ""
        expected = self.must_have(write.resource)
        # None is zero too, which is an epoch: it rules itself only where no other was ever seen.
        if expected == write.epoch and (expected or not self._seen.largest(write.resource)):
            return f" known{began}"
        seen = self.ruling(write) or expected
        told = " told" if self.is_told(write.resource, seen) else ""
        return f" seen:{seen}{told}{began}" if seen else began

    def expected(self, write: Write) -> tuple[str, str]:
        """For a question that moves nothing: an epoch that rules the write's or must be there, and whether it is told
        of; each empty for none.
        """
        seen = max(self.must_have(write.resource), self.ruling(write))
        return str(seen or ""), "told" if seen and self.is_told(write.resource, seen) else ""

    def compared(self, answer: Answer, resource: ResourceKey) -> Answer:
        """A token that nobody knows is no invalid one where the store does not know of an epoch that was seen."""
        if answer.word != "token-invalid" and answer.word != "stale-epoch":
            return answer
        return self._compared(answer, resource)

    def _compared(self, refused: Answer, resource: ResourceKey) -> Answer:
        highest = number(refused.rest[0] or 0)
        if highest:
            # The end of its lease is told where it has one.
            self.note(resource, highest, refused.era, leased=bool(refused.rest[2]))
        if self._seen.era(resource) != refused.era:
            # What was seen is of another one, which has begun meanwhile.
            return refused
        seen = self._seen.largest(resource)
        if highest >= seen or self._has_ended(seen) or _is_gone_by_right(refused, seen):
            return refused
        if refused.word == "stale-epoch" and self.is_told(resource, seen):
            # The record has forgotten what rules it, and that one's holder.
            return refused._replace(rest=[str(seen).encode(), b"", *refused.rest[2:]])
        return refused._replace(word="store-regressed")

    def era(self, resource: ResourceKey) -> int:
        """In which its epochs are known."""
        return self._seen.era(resource)

    def began(self, resource: ResourceKey, era: int) -> None:
        """An operator has forgotten the resource's epochs."""
        if self._seen.begin(resource, era) and self._recent is not None:
            self._recent.began(resource, era)

    def met(self, answer: Answer, resource: ResourceKey) -> Answer | None:
        """What it means that the resource is in another era than its asker has told (`other-era`). None: it has to be
        asked again, for what is known has changed.
        """
        told = answer.rest[6:]
        begun, known = number(told[0]) if told else 0, self._seen.era(resource)
        if begun > known:
            self.began(resource, begun)
        elif begun < known == answer.era:
            if self._recent is not None:
                # The store has lost what an operator did.
                return answer._replace(word="store-regressed")
            self._seen.forget(resource)
        return None

    def must_have(self, resource: ResourceKey) -> int:
        """The epoch without which the store has lost something; zero for none, or where no loss is ever told of."""
        return 0 if self._recent is None else self._seen.expected(resource)

    def is_told(self, resource: ResourceKey, seen: int) -> bool:
        """Whether the epoch is from before a loss that everybody was told of: nobody need be told again."""
        return self._recent is not None and seen > self._seen.expected(resource)

    def doubt_where(self, answer: Answer, resource: ResourceKey) -> None:
        """Where a refusal shows that this gateway alone knows of a loss so far, the others are not to wait for its next
        mark."""
        if self._recent is None:
            return
        if answer.word == "began-anew":
            self._recent.doubt(shard_of(resource))
        elif answer.word == "store-regressed" and (self.must_have(resource) or self._seen.era(resource)):
            self._recent.doubted.set()

    def largest(self, resource: ResourceKey) -> int:
        """The largest epoch, zero for a resource that was never seen."""
        return self._seen.largest(resource)

    def ruling(self, write: Write) -> int:
        """An epoch that rules the write's; zero for none."""
        seen = self._seen.largest(write.resource)
        ended = seen <= write.epoch or (write.secret_digest is not None and self._has_ended(seen))
        return 0 if ended else seen

    def _has_ended(self, epoch: int) -> bool:
        """Of a lease: with a loss that everybody was told of, so that the scripts know of it themselves."""
        return self._recent is not None and epoch < self._recent.floor


def _is_gone_by_right(refused: Answer, seen: int) -> bool:
    """Whether an operator had the record of an old lease collected, as the scripts judge it: behind_by_right."""
    # None is not zero, which is an epoch. One that was reset never is.
    is_gone = not refused.rest[0] and refused.word == "token-invalid" and not refused.era
    return is_gone and collectable(seen, refused.now_ms)
