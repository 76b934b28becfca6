"""Writes, as gateways play them: each is admitted, sent, judged and settled, and any of it may be slow or come twice.

What a gateway does between two questions is told here as `gateway.flow` and `gateway.upstream` do it. A call and its
answer are one move, unless one of them is slow.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gateway.core.decision import Refused
from gateway.core.outcome import Outcome
from gateway.core.write import Admitted, Replayed, Waiting
from tests.model.explore import promises, questions
from tests.model.explore.asking import Asking, Move, usable, used
from tests.model.explore.promises import Broken, name_of
from tests.model.explore.questions import Known, has_ticket, ticket_of
from tests.model.explore.world import GRACE_MS, TTL_MS, Attempt, Bounds, Slot, Token, World

# A write that was refused for one of these has not been seen: its proof was judged, and nothing else.
_UNPROVED = frozenset({"stale-epoch", "token-invalid", "holder-mismatch", "lease-expired", "store-regressed", "paused"})


@dataclass(frozen=True, slots=True)
class Conduct:
    """What a gateway does by itself. Anything else than this is a planted fault.

    `checks_deadline`: before bytes leave. `anchors_late`: it counts a ticket's life from the answer that gave it.
    `silence_is`: its conclusion where no answer came. `tells_of_loss`: before anything leaves over a new connection.
    """

    checks_deadline: bool = True
    anchors_late: bool = False
    silence_is: Outcome = "unknown"
    tells_of_loss: bool = True


HONEST = Conduct()


class Writes:
    def __init__(self, asking: Asking, bounds: Bounds, conduct: Conduct) -> None:
        self._asking = asking
        self._bounds = bounds
        self._conduct = conduct

    def of(self, world: World) -> Iterator[Move]:
        yield from self._comes(world)
        for attempt in world.attempts:
            if world.gateways[attempt.gateway].lives:
                yield from self._goes_on(world, attempt)
            yield from self._upstream_acts(world, attempt)
            if attempt.on_way and attempt.stage != "asking":
                after, broken, _ = self._admission(world, attempt)
                words = f"the store gets the admission of {name_of(attempt)}, for which nobody waits any more"
                yield Move(words, after.with_attempt(after.attempt(attempt.slot)._replace(on_way=False)), broken)

    def _comes(self, world: World) -> Iterator[Move]:
        for slot, token in self._next_writes(world):
            for number in usable(world):
                attempt = Attempt(slot, number, token)
                words = f"{name_of(attempt)} comes to gateway {number + 1}"
                yield self._admits(world, attempt, words)
                if world.left.slow:
                    slow = world._replace(left=world.left._replace(slow=world.left.slow - 1))
                    asking = used(slow.with_attempt(attempt), number)
                    yield Move(f"{words}, and its admission is slow", asking)
                    after, broken, _ = self._admission(slow, attempt)
                    yield Move(f"{words}; the answer to its admission is lost", after, broken)

    def _next_writes(self, world: World) -> Iterator[tuple[Slot, Token]]:
        begun = {attempt.slot for attempt in world.attempts}
        for holder, token in enumerate(world.tokens):
            if token is None:
                continue
            for keyed, count in ((True, self._bounds.keyed), (False, self._bounds.plain)):
                free = (slot for number in range(count) if (slot := Slot(holder, keyed, number)) not in begun)
                following = next(free, None)
                if following is not None:
                    yield following, token

    def _admission(self, world: World, attempt: Attempt) -> tuple[World, Broken, Any]:
        """The call is executed at the store; the world then has the attempt as it was, with what the store made."""
        about = (attempt.slot, attempt.token, self._bounds.retries)
        had = has_ticket(world.store, ticket_of(attempt.slot))
        reply, after = self._asking.ask(world, attempt.gateway, questions.admit, *about)
        broken: Broken = ()
        if isinstance(reply, Admitted) and not had:
            broken = promises.at_admission(world, attempt)
        if reply is not None and not (isinstance(reply, Refused) and reply.decision.name in _UNPROVED):
            after = after._replace(seen=max(after.seen, attempt.token.epoch))
        attempt = attempt._replace(made=attempt.made or isinstance(reply, Admitted))
        return after.with_attempt(attempt), broken, reply

    def _admits(self, world: World, attempt: Attempt, words: str) -> Move:
        """The call is executed, and its gateway hears the answer."""
        after, broken, reply = self._admission(world, attempt)
        attempt = after.attempt(attempt.slot)
        words = f"{words}: {_word_of(reply)}"
        if isinstance(reply, Admitted):
            trusted = TTL_MS if self._conduct.anchors_late else attempt.left_ms
            attempt = attempt._replace(
                stage="admitted", on_way=False, trusted_ms=trusted, number=reply.attempt, in_doubt=reply.in_doubt
            )
            return Move(words, after.with_attempt(attempt), broken)
        if reply is None:
            # Its ticket was swept, and nobody has sent anything: as where its gateway gives up.
            abandoned = attempt._replace(stage="abandoned", on_way=False, proved=True)
            return Move(words, self._settled(after, abandoned, "abandoned"), broken)
        if attempt.made:
            # Its ticket was swept before its gateway heard of it.
            return Move(words, after.with_attempt(attempt._replace(stage="done", on_way=False, proved=True)), broken)
        return Move(words, after.without(attempt.slot), broken)

    def _goes_on(self, world: World, attempt: Attempt) -> Iterator[Move]:
        name = name_of(attempt)
        in_time = attempt.trusted_ms > 0 or not self._conduct.checks_deadline
        match attempt.stage:
            case "asking":
                yield self._admits(world, attempt, f"the store gets the admission of {name}")
                after = self._settled(world, attempt._replace(stage="abandoned", proved=True), "abandoned")
                yield Move(f"the gateway of {name} gives up on its admission", after)
            case "abandoned" if attempt.left_ms <= -GRACE_MS:
                after = self._settled(world, attempt._replace(stage="done"), "abandoned")
                yield Move(f"the gateway abandons {name} once more", after)
            case "admitted" if in_time:
                first = attempt._replace(stage="sending", arrived="begun")
                last = attempt._replace(stage="sent", arrived="whole")
                after = world.with_attempt(first if self._bounds.pieces else last)
                yield Move(f"the first bytes of {name} leave", after, self._at_bytes(world, attempt))
            case "admitted":
                late = attempt._replace(proved=True)
                yield from self._concludes(world, late, "not_applied", f"{name} is too late to be sent")
            case "sending":
                if in_time:
                    after = world.with_attempt(attempt._replace(stage="sent", arrived="whole"))
                    yield Move(f"the last bytes of {name} leave", after, self._at_bytes(world, attempt))
                broken = attempt._replace(arrived="broken")
                yield from self._concludes(world, broken, self._conduct.silence_is, f"{name} breaks off in the middle")
            case "sent":
                yield from self._hears(world, attempt)
            case "settling":
                assert attempt.outcome is not None
                after = self._settled(world, attempt._replace(stage="done"), attempt.outcome)
                yield Move(f"the store hears at last that {name} is {attempt.outcome}", after)
            case "done" if attempt.listens and attempt.arrived in ("executed", "refused"):
                told: Outcome = "applied" if attempt.arrived == "executed" else "not_applied"
                late = attempt._replace(listens=False, proved=told == "not_applied")
                yield from self._concludes(world, late, told, f"the answer to {name} comes after all")

    def _at_bytes(self, world: World, attempt: Attempt) -> Broken:
        if self._bounds.retries:
            return promises.in_order(world, attempt)
        return (*promises.in_order(world, attempt), *promises.sent_once(world, attempt))

    def _upstream_acts(self, world: World, attempt: Attempt) -> Iterator[Move]:
        """At any time, once it has a whole request."""
        if attempt.arrived == "whole":
            after = world.with_attempt(attempt._replace(arrived="executed"))
            broken = () if self._bounds.retries else promises.at_execution(after)
            yield Move(f"the upstream executes {name_of(attempt)}", after, broken)
            after = world.with_attempt(attempt._replace(arrived="refused"))
            yield Move(f"the upstream refuses {name_of(attempt)}", after)

    def _hears(self, world: World, attempt: Attempt) -> Iterator[Move]:
        name = name_of(attempt)
        in_time = attempt.left_ms > 0
        if attempt.arrived == "executed" and in_time:
            yield from self._concludes(world, attempt, "applied", f"{name} is answered")
        if attempt.arrived == "refused" and in_time:
            refused = attempt._replace(proved=True)
            yield from self._concludes(world, refused, "not_applied", f"the refusal of {name} comes")
        silent = attempt._replace(listens=not in_time)
        words = f"the connection of {name} breaks" if in_time else f"no answer to {name} has come in time"
        yield from self._concludes(world, silent, self._conduct.silence_is, words)

    def _concludes(self, world: World, attempt: Attempt, outcome: Outcome, words: str) -> Iterator[Move]:
        """And tells the store; or cannot yet, or does not hear that it has."""
        attempt = attempt._replace(outcome=outcome)
        words = f"{words}: {outcome}"
        yield Move(words, self._settled(world, attempt._replace(stage="done"), outcome))
        if world.left.slow:
            slow = world._replace(left=world.left._replace(slow=world.left.slow - 1))
            waits = attempt._replace(stage="settling")
            yield Move(f"{words}, and the store is slow to hear it", slow.with_attempt(waits))
            yield Move(f"{words}; the store's answer is lost", self._settled(slow, waits, outcome))

    def _settled(self, world: World, attempt: Attempt, outcome: str) -> World:
        known = Known(attempt.slot, attempt.token, self._bounds.retries, attempt.number, attempt.in_doubt)
        _, after = self._asking.ask(world, attempt.gateway, questions.settle, known, outcome)
        return after.with_attempt(attempt)


def _word_of(reply: object) -> str:
    match reply:
        case Admitted():
            return "admitted"
        case Replayed():
            return "replayed"
        case Waiting(why=why):
            return f"it has to wait, {why}"
        case Refused(decision=decision):
            return decision.name
        case None:
            return "it is over"
    raise AssertionError(reply)
