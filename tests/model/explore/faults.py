"""Faults that are planted into the scripts, or into what a gateway does, each with a world that must show it."""

from collections.abc import Sequence
from dataclasses import dataclass

from tests.model.explore.shelf import Change
from tests.model.explore.world import Bounds
from tests.model.explore.writes import HONEST, Conduct


@dataclass(frozen=True, slots=True)
class Fault:
    """`breaks`: the promise of which the nearest violation is."""

    name: str
    breaks: str
    bounds: Bounds
    changes: Sequence[Change] = ()
    conduct: Conduct = HONEST


_NEVER_STALE = (
    Change("if e and epochs.less(mine, e) then\n    return 'stale-epoch'", "if false then\n    return 'stale-epoch'"),
    Change("local raises = mine ~= fence.e\n", "local raises = not fence.e or epochs.less(fence.e, mine)\n"),
)

_TWO_WRITES = Bounds(keyed=0, plain=1, ticks=2)
_ONE_INTENT = Bounds(keyed=1, plain=0, ticks=2)
_MORTAL = Bounds(keyed=1, plain=0, ticks=2, deaths=1)

FAULTS = (
    Fault(
        "older epochs that were granted elsewhere are admitted",
        "G1",
        Bounds("header", keyed=0, plain=1, ticks=0, grants=0),
        _NEVER_STALE,
    ),
    Fault(
        "a takeover takes the older lease's place only once that has ended",
        "G2",
        _TWO_WRITES,
        (
            Change(
                "epochs.raise(epoch, 'h', ARGV[3], 's', secret, 'x', expires, 'l', ttl)\n",
                "if not lives then epochs.raise(epoch, 'h', ARGV[3], 's', secret, 'x', expires, 'l', ttl) end\n",
            ),
        ),
    ),
    Fault(
        "a newer write does not wait for older ones",
        "G3",
        _TWO_WRITES,
        (Change("if older > 0 or fence.g then\n  return wait('wait-older', due)\nend\n", ""),),
    ),
    Fault(
        "a ticket is overdue as soon as it was made",
        "G3",
        _TWO_WRITES,
        (Change("local remaining = ticket.deadline + GRACE_MS - judged\n", "local remaining = -1\n"),),
    ),
    Fault("a gateway sends without looking at the clock", "G3", _TWO_WRITES, (), Conduct(checks_deadline=False)),
    Fault(
        "a gateway counts a ticket's life from the answer",
        "G3",
        Bounds(gateways=1, keyed=0, plain=1, ticks=2, slow=1),
        (),
        Conduct(anchors_late=True),
    ),
    Fault(
        "an unknown intent is sent again",
        "G4",
        _MORTAL,
        (
            Change(
                "if lives and not (retries and age + asks.ttl < tonumber(asks.retry)) then\n"
                "  return refuse('outcome-unknown')\nend\n",
                "",
            ),
        ),
    ),
    Fault(
        "what the store has forgotten is not waited for",
        "G3",
        Bounds(gateways=1, keyed=0, plain=1, ticks=0, losses=1),
        (Change("if forgotten > 0 then\n  return wait('wait-older', forgotten)\nend\n", ""),),
    ),
    Fault(
        "new intents are taken while a loss is open",
        "G4",
        Bounds(gateways=1, holders=1, grants=2, keyed=2, plain=0, ticks=2, losses=1, lease_ms=5000),
        (
            Change(
                "if loss and loss.open and not lives and (intent ~= '' or asks.parks) then\n"
                "  return refuse('store-regressed')\nend\n",
                "",
            ),
        ),
    ),
    Fault(
        "nobody tells of a loss",
        "G4",
        Bounds(holders=1, keyed=2, plain=0, ticks=0, losses=1),
        (),
        Conduct(tells_of_loss=False),
    ),
    Fault(
        "nobody looks at what the shard began with",
        "G4",
        Bounds("header", holders=1, keyed=2, plain=0, ticks=0, grants=0, emptied=1),
        (Change("return origin ~= '' and redis.call('GET', K.shard .. 'origin') ~= origin\n", "return false\n"),),
    ),
    Fault(
        "a lease outlives the loss of its successor",
        "G2",
        Bounds(keyed=0, plain=1, ticks=3, losses=1, lease_ms=5000),
        (Change("return loss and epochs.less(epoch, loss.floor)\n", "return false\n"),),
    ),
    Fault("what got no answer counts as not applied", "G5", _ONE_INTENT, (), Conduct(silence_is="not_applied")),
    Fault(
        "a swept write has been not applied",
        "G5",
        _MORTAL,
        (Change("outcome = intents.concluded(one.record, 'unknown')", "outcome = 'not_applied'"),),
    ),
    Fault(
        "a swept write is forgotten",
        "G5",
        Bounds(keyed=0, plain=1, ticks=2, deaths=1),
        (Change("intents.step(one.record, outcome, now, 'its gateway fell silent', one.ticket.gateway)", ""),),
    ),
)
