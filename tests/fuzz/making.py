"""What requests are made of, whatever their kind: the draw, the tokens, and the fields that each begins with."""

import random
from dataclasses import dataclass

from tests.fuzz.leases import Leases

IN_CHUNKS = 0.04


@dataclass(frozen=True)
class Making:
    """What a kind is made of. `fields` are the noise that a request begins with."""

    draw: random.Random
    leases: Leases
    epoch: int
    fields: list[bytes]

    def token(self, resource: bytes) -> bytes:
        """Most often the live one; else a dead one, another's, or one that is spelled in another way."""
        chance = self.draw.random()
        live = self.leases.live[resource]
        if chance < 0.75:
            return live
        if chance < 0.9:
            return self.leases.stale(resource, self.draw)
        other = self.draw.choice(tuple(self.leases.live.values()))
        spoiled = (
            other,
            live[:-1],
            live + b"x",
            b"+" + live,
            b"0" + live,
            live + b"," + live,
            b"",
            live.split(b".")[0],
        )
        return self.draw.choice(spoiled)

    def present(self, resource: bytes) -> None:
        self.fields.append(b"Fencing-Token: " + self.token(resource))

    def one_of(self, usual: tuple[bytes, ...], doubtful: tuple[bytes, ...], name: bytes) -> bytes:
        form = self.draw.choice(usual if self.draw.random() < 0.7 else doubtful)
        return form % name if b"%s" in form else form.replace(b"%%", b"%")
