"""Five thousand errands of agents that are in a hurry: what each of them does, and what the API does with its mail."""

import asyncio
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from tests.story.mail_api import Mail
from tests.story.reckoning import Fate

MAILS, BOXES = 5000, 200
# Of a hundred mails so many are treated like this the first time that the API has them.
_FATES: dict[Fate, int] = {"confirmed": 84, "refused": 6, "broken": 4, "cut": 3, "dropped": 3}
_TRIES = (1, 1, 1, 2, 2, 3)
_LEAVES = 0.3
# Most answers come within this; whoever leaves does so at an instant of it.
_PATIENCE_S = 0.03
# The API takes up to this long before the effect, and again before the answer.
_API_TAKES_S = 0.005


@dataclass(frozen=True, slots=True)
class Try:
    """One request: through which gateway, and after how many seconds its agent leaves, if it does."""

    gateway: int
    leaves_after_s: float | None


@dataclass(frozen=True, slots=True)
class Errand:
    """One mail, as its agent means to have it sent; `fates` as in `Reckoning`."""

    key: str
    box: str
    fates: tuple[Fate, ...]
    tries: tuple[Try, ...]


def errands(chance: random.Random) -> Iterator[Errand]:
    for number in range(MAILS):
        [first] = chance.choices(list(_FATES), list(_FATES.values()))
        fates: tuple[Fate, ...] = (first, "confirmed") if first == "refused" else (first,)
        tries = tuple(_try(chance) for _ in range(chance.choice(_TRIES)))
        yield Errand(f"mail-{number}", f"box-{chance.randrange(BOXES)}", fates, tries)


def _try(chance: random.Random) -> Try:
    leaves = chance.uniform(0, _PATIENCE_S) if chance.random() < _LEAVES else None
    return Try(chance.randrange(2), leaves)


class Fateful:
    """Treats each mail as its errand says, in its own time; `calls` counts how often it had each."""

    def __init__(self, errands: list[Errand], calls: Counter[str], chance: random.Random) -> None:
        self._fates = {errand.key: errand.fates for errand in errands}
        self._calls = calls
        self._chance = chance

    async def __call__(self, mail: Mail) -> None:
        fates, call = self._fates[mail.key], self._calls[mail.key]
        self._calls[mail.key] += 1
        await self._takes()
        match fates[min(call, len(fates) - 1)]:
            case "confirmed":
                mail.send()
                await self._takes()
                mail.confirm()
            case "broken":
                mail.send()
                mail.hang_up()
            case "cut":
                mail.send()
                mail.confirm_half()
            case "refused":
                mail.refuse()
            case "dropped":
                mail.hang_up()

    async def _takes(self) -> None:
        await asyncio.sleep(self._chance.uniform(0, _API_TAKES_S))
