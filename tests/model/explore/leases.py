"""Leases come, are renewed and go; or epochs that were granted elsewhere are registered."""

from collections.abc import Callable, Iterator
from typing import Any

from gateway.core.decision import Refused
from gateway.core.lease import Lease
from tests.model.explore import questions
from tests.model.explore.asking import Asking, Move, replaced, usable
from tests.model.explore.world import HOLDERS, Bounds, Token, World


class Leases:
    def __init__(self, asking: Asking, bounds: Bounds) -> None:
        self._asking = asking
        self._bounds = bounds

    def of(self, world: World) -> Iterator[Move]:
        if not usable(world):
            return
        for holder in range(self._bounds.holders):
            if holder > 0 and world.tokens[holder - 1] is None:
                # Whoever is granted a lease first is called A.
                break
            if world.left.grants[holder]:
                grants = replaced(world.left.grants, holder, world.left.grants[holder] - 1)
                by = self._registers if self._bounds.authority == "header" else self._grants
                yield from by(world._replace(left=world.left._replace(grants=grants)), holder)
            token = world.tokens[holder]
            if token is not None and token.secret is not None and world.left.slow:
                yield self._grants_again(world, holder, token.secret)
            if token is not None and world.left.renewals:
                yield from self._holds(world, holder, token, "renewals", questions.renew)
            if token is not None and world.left.releases:
                yield from self._holds(world, holder, token, "releases", questions.release)

    def _grants(self, world: World, holder: int) -> Iterator[Move]:
        secret = f"{HOLDERS[holder]}{world.left.grants[holder]}".ljust(16).encode()
        for number in usable(world):
            lease, after = self._asking.ask(world, number, questions.grant, holder, secret, self._bounds.lease_ms)
            words = f"gateway {number + 1} grants {HOLDERS[holder]} a lease"
            if isinstance(lease, Lease):
                tokens = replaced(after.tokens, holder, Token(lease.epoch, secret))
                yield Move(words, after._replace(tokens=tokens, granted=max(after.granted, lease.epoch)))

    def _grants_again(self, world: World, holder: int, secret: bytes) -> Move:
        """Its answer was lost, and the call is sent again, whoever has come meanwhile."""
        slow = world._replace(left=world.left._replace(slow=world.left.slow - 1))
        lease, after = self._asking.ask(slow, usable(world)[0], questions.grant, holder, secret, self._bounds.lease_ms)
        if isinstance(lease, Lease):
            tokens = replaced(after.tokens, holder, Token(lease.epoch, secret))
            after = after._replace(tokens=tokens, granted=max(after.granted, lease.epoch))
        return Move(f"the call for {HOLDERS[holder]}'s lease comes once more", after)

    def _registers(self, world: World, holder: int) -> Iterator[Move]:
        token = world.tokens[holder]
        assert token is not None
        for number in usable(world):
            told, after = self._asking.ask(world, number, questions.register, holder, token)
            if not isinstance(told, Refused):
                after = after._replace(seen=max(after.seen, token.epoch))
            yield Move(f"gateway {number + 1} registers the epoch of {HOLDERS[holder]}", after)

    def _holds(
        self, world: World, holder: int, token: Token, what: str, question: Callable[..., Any]
    ) -> Iterator[Move]:
        left = world.left._replace(**{what: getattr(world.left, what) - 1})
        number = usable(world)[0]
        _, after = self._asking.ask(world._replace(left=left), number, question, token)
        yield Move(f"{question.__name__} of {HOLDERS[holder]}'s lease", after)
