"""What befalls them all: time, the death of a gateway, the loss of a store; and those who clear up."""

from collections.abc import Iterator

from gateway.core.decision import Refused
from tests.model.explore import questions
from tests.model.explore.asking import Asking, Move, usable
from tests.model.explore.era import moved, names_of
from tests.model.explore.gateway import Question
from tests.model.explore.questions import tickets_in
from tests.model.explore.shelf import State
from tests.model.explore.world import GRACE_MS, TICK_MS, Arrived, Bounds, Gateway, Token, World


class Mishaps:
    """`tells_of_loss`: as gateways do, before anything leaves over a new connection."""

    def __init__(self, asking: Asking, bounds: Bounds, *, tells_of_loss: bool) -> None:
        self._asking = asking
        self._bounds = bounds
        self._tells_of_loss = tells_of_loss

    def of(self, world: World) -> Iterator[Move]:
        yield from self._time(world)
        yield from self._people(world)

    def _time(self, world: World) -> Iterator[Move]:
        left = world.left
        if left.ticks and world.tokens != (None,) * self._bounds.holders:
            yield Move("time passes", self._later(world))
        for number, gateway in enumerate(world.gateways):
            if gateway.lives and gateway.used and left.deaths:
                after = world._replace(left=left._replace(deaths=left.deaths - 1))
                yield Move(f"gateway {number + 1} dies", _without_gateway(after, number))
        yield from self._sweeps(world)
        if left.losses and world.behind is None and world.tokens != (None,) * self._bounds.holders:
            yield Move("a replica stops following", world._replace(behind=world.store))
        if left.losses and world.behind is not None and world.behind != world.store:
            yield Move("the replica takes over", self._falls_back(world))

        if left.emptied and world.tokens != (None,) * self._bounds.holders:
            left = left._replace(emptied=left.emptied - 1)
            empty = world._replace(store=self._asking.shelf.empty, left=left, lost="unnoticed")
            yield Move("the store is emptied under living connections", empty)
        if world.lost == "unnoticed":
            yield Move("a mark is missed there, and all are told", self._told(world, questions.tell_of_emptying))

    def _told(self, world: World, tell: Question) -> World:
        for number, gateway in enumerate(world.gateways):
            if gateway.lives:
                _, world = self._asking.ask(world, number, tell, use=False)
        return world._replace(lost="open")

    def _later(self, world: World) -> World:
        """Epochs of the past are renamed, unless the store may fall back: a loss compares them with instants."""
        shelf, keeps = self._asking.shelf, self._bounds.losses + self._bounds.emptied > 0
        tokens = (*world.tokens, *(attempt.token for attempt in world.attempts))
        names = {} if keeps else names_of(moved(one.epoch, TICK_MS) for one in tokens if one)

        def epoch(number: int) -> int:
            number = moved(number, TICK_MS)
            return names.get(number, number)

        def token(one: Token | None) -> Token | None:
            return one and Token(epoch(one.epoch), one.secret)

        def content(state: State) -> State:
            return shelf.renamed(shelf.later(state, TICK_MS), names)

        return world._replace(
            store=content(world.store),
            behind=None if world.behind is None else content(world.behind),
            gateways=tuple(_gateway_later(gateway) for gateway in world.gateways),
            tokens=tuple(map(token, world.tokens)),
            attempts=tuple(
                one.later(TICK_MS)._replace(token=Token(epoch(one.token.epoch), one.token.secret))
                for one in world.attempts
            ),
            left=world.left._replace(ticks=world.left.ticks - 1),
            granted=epoch(world.granted),
            seen=epoch(world.seen),
        )

    def _sweeps(self, world: World) -> Iterator[Move]:
        number = usable(world)[:1]
        for ticket, left_ms in tickets_in(world.store).items():
            if number and left_ms < -GRACE_MS:
                _, after = self._asking.ask(world, number[0], questions.sweep, ticket)
                yield Move("whoever sweeps finds what is overdue", after)
                return

    def _falls_back(self, world: World) -> World:
        assert world.behind is not None
        left = world.left._replace(losses=world.left.losses - 1)
        world = world._replace(store=world.behind, behind=None, left=left, lost="open")
        return self._told(world, questions.tell_of_loss) if self._tells_of_loss else world

    def _people(self, world: World) -> Iterator[Move]:
        """An operator says what is true."""
        number = usable(world)[:1]
        if number and world.lost == "open":
            floor = max(gateway.memory.floor for gateway in world.gateways)
            _, after = self._asking.ask(world, number[0], questions.accept_loss, floor)
            attempts = tuple(attempt._replace(forgiven=True) for attempt in after.attempts)
            yield Move("an operator accepts the loss", after._replace(lost="accepted", attempts=attempts))
        if not number or not world.left.resolutions:
            return
        keyed = [attempt for attempt in world.attempts if attempt.slot.keyed]
        is_done = any(attempt.arrived == "executed" for attempt in keyed)
        resolved, after = self._asking.ask(
            world, number[0], questions.resolve_intent, "applied" if is_done else "not_applied"
        )
        if resolved is None or isinstance(resolved, Refused):
            return
        after = after._replace(left=after.left._replace(resolutions=after.left.resolutions - 1))
        if not is_done:
            for attempt in keyed:
                # Whoever says so has made sure that it will not be executed any more.
                gone: Arrived = "dropped" if attempt.arrived == "whole" else attempt.arrived
                after = after.with_attempt(attempt._replace(arrived=gone, proved=True))
        yield Move(f"an operator says of the intent: {resolved.state}", after)


def _without_gateway(world: World, number: int) -> World:
    """What was on its way to the store may still arrive there; a request that was cut off never does."""
    world = world.with_gateway(number, Gateway(lives=False, used=True))
    for attempt in world.attempts:
        if attempt.gateway == number and attempt.stage not in ("done", "abandoned"):
            arrived: Arrived = "broken" if attempt.arrived == "begun" else attempt.arrived
            on_way = attempt.on_way and attempt.stage == "asking"
            world = world.with_attempt(attempt._replace(stage="dead", arrived=arrived, on_way=on_way))
    return world


def _gateway_later(gateway: Gateway) -> Gateway:
    seen, floor, _ = gateway.memory
    return gateway._replace(memory=gateway.memory._replace(seen=moved(seen, TICK_MS), floor=moved(floor, TICK_MS)))
