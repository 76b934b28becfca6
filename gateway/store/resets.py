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


async def reset(store: FenceStore, resource: ResourceKey, *, note: str, by: str) -> Epoch | Refused:
    """The epoch that was the highest; the next one may be any. Its repeat is answered alike, and changes nothing.

    Refused: `no-such-resource`; `wrong-state` while writes of it are in flight or wait to be sent; `store-regressed`
    while a loss is open. Raises StoreUnavailable.
    """
    facts, counted = Facts(resource=resource), ("", "0")
    while (answer := await store.run(RESET, resource_keys(resource), resource, note, by, *counted)).word == "counted":
        looked_at, found = map(text, answer.rest)
        counted = looked_at, found
    match answer.word:
        case "reset":
            store.began(resource, number(answer.rest[1]))
            return Epoch(number(answer.rest[0]))
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
            return Refused(NO_SUCH_RESOURCE, "Nothing was done: no epoch of this resource is known.", facts)
        case _:
            raise unknown_word(answer)
