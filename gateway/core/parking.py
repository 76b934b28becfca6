"""How an intent is parked: taken, and not sent yet, for it waits in its resource's queue or for an approval."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal, get_args

from gateway.core.decision import Refused
from gateway.core.rule import Risk

Look = Callable[[], Awaitable[Refused | None]]
"""What forbids it by now to take a write: asked as the last thing before."""

Verdict = Literal["awaited", "given", "refused"]
_VERDICTS: dict[str, Verdict] = {verdict: verdict for verdict in get_args(Verdict)}
_RISKS: dict[str, Risk] = {risk: risk for risk in get_args(Risk)}


async def nothing_forbids() -> None:
    """Where nobody's right can change."""


@dataclass(frozen=True, slots=True)
class Approval:
    """An approval that a rule wants. `expires_at_ms`: until when it is awaited; `by`: who has decided, if anybody."""

    verdict: Verdict
    expires_at_ms: int
    by: str = ""


@dataclass(frozen=True, slots=True)
class Parking:
    """`since_ms`: since when it has been queued, or awaited; `failures`: deliveries since then that came to nothing.

    `digest` names the request that is kept: an approval is for this very one. Instants in milliseconds of the store's
    clock since 1970.
    """

    digest: str
    risk: Risk
    since_ms: int
    failures: int = 0
    approval: Approval | None = None

    @property
    def keeping(self) -> str:
        """What names one keeping under a key, as it was when it was taken: the next request that is kept there has
        another one, and so has this one once a delivery of it has ended. Spelled as in `scripts/parts/parking.lua`.
        """
        return f"{self.since_ms}.{self.failures}.{self.digest}"


def parse_parking(text: str) -> Parking | None:
    """A record's words, as the scripts spell them (parts/parking.lua). None: it was never parked."""
    if not text:
        return None
    words = dict(word.partition(":")[::2] for word in text.split(" "))
    approval = None
    if "approval" in words:
        approval = Approval(_VERDICTS[words["approval"]], int(words["expires"]), words.get("by", ""))
    since_ms, failures = int(words["since"]), int(words["failures"])
    return Parking(words["digest"], _RISKS[words["risk"]], since_ms, failures, approval)
