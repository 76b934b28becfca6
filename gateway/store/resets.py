"""An operator forgets the epoch of a resource: of one whose epochs have run out, nobody could write any more."""

from gateway.core.decision import NO_SUCH_RESOURCE, WRONG_STATE, Facts, Refused
from gateway.core.epoch import Epoch
from gateway.core.write import ResourceKey
from gateway.store.answer import number, text, unknown_word
from gateway.store.fence import FenceStore
from gateway.store.keys import resource_keys
from gateway.store.loss.losses import not_before_accepted
from gateway.store.script import Script

RESET = Script("reset")
# Of the shard's approvals, where none was looked at.
_NOT_YET = ("", "0")


async def reset(
    store: FenceStore, resource: ResourceKey, *, note: str, by: str, epoch: Epoch | None = None
) -> Epoch | Refused:
    """The epoch that was the highest, zero where the store has lost it; the next one may be any. Its repeat is answered
    alike, and changes nothing. `epoch`: the one that was looked at, and is to be forgotten.

    Refused: `no-such-resource`; `wrong-state` while writes of it are in flight or wait to be sent, or where another
    epoch is the highest by now; `store-regressed` while a loss is open. Raises StoreUnavailable.
    """
    named = "" if epoch is None else str(epoch)
    facts, keys, about = Facts(resource=resource), resource_keys(resource), (resource, note, by)
    era, counted = text((await store.run(RESET, keys, *about, "", *_NOT_YET)).rest[0]), _NOT_YET
    while (answer := await store.run(RESET, keys, *about, era, *counted, named)).word == "counted":
        looked_at, found = map(text, answer.rest)
        counted = looked_at, found
    match answer.word:
        case "reset":
            store.began(resource, number(answer.rest[1]))
            return Epoch(number(answer.rest[0]))
        case "other-epoch":
            detail = f"Nothing was done: {text(answer.rest[0])} is its highest epoch by now. Look at it again."
            return Refused(WRONG_STATE, detail, facts)
        case "in-use":
            in_flight, waiting = map(number, answer.rest)
            detail = (
                f"Nothing was done: {in_flight} writes of the resource are in flight, and {waiting} wait to be sent or "
                "approved. Pause it, wait until they have ended, and call again."
            )
            return Refused(WRONG_STATE, detail, facts)
        case "store-regressed":
            return not_before_accepted(facts)
        case "unseen":
            detail = (
                "Nothing was done: no epoch of this resource is known. If a gateway still refuses with one that the "
                "store has lost, advance the resource first."
            )
            return Refused(NO_SUCH_RESOURCE, detail, facts)
        case _:
            raise unknown_word(answer)
