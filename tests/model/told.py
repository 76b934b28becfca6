"""What a request is told by the fence in plain Python."""

from dataclasses import dataclass
from typing import Literal

from gateway.core.write import Admitted, Replayed


@dataclass(frozen=True)
class Wait:
    why: Literal["older", "busy"]


@dataclass(frozen=True)
class Refusal:
    """`intent` and its state are told to whoever may know them."""

    name: str
    intent: str | None = None
    state: str | None = None


Told = Admitted | Replayed | Wait | Refusal
