"""Late results: what is read for them, what is kept, and what their sender is told."""

import asyncio
from dataclasses import dataclass, field, replace

import pytest

from gateway.core.decision import STALE_EPOCH, TOKEN_INVALID, Facts, Refused
from gateway.core.faults import BodyTooLarge, CallerGone, StoreUnavailable
from gateway.core.rule import Limits
from gateway.flow.quarantine import Quarantine
from tests.playbook import RULE, UPSTREAM, Counted, NoBody, ScriptedCaller, ScriptedStore, Transcript, request, write

SMALL = replace(RULE, upstream=replace(UPSTREAM, limits=Limits(body=10)), on_stale="quarantine")
STALE = Refused(STALE_EPOCH, "Not forwarded: too old. Stop.", Facts(highest_epoch=43))


@dataclass
class Body(NoBody):
    """Implements `ports.BodySource`. `pieces` were read before; else `held` is what holding it gives or raises."""

    length: int | None = None
    held: object = b"held"
    pieces: list[bytes] = field(default_factory=list)

    def rewind(self) -> bool:
        return bool(self.pieces)

    async def read(self) -> bytes:
        return self.pieces.pop(0) if self.pieces else b""

    async def hold(self, limit: int) -> bytes:
        assert limit == 10
        if isinstance(self.held, BaseException):
            raise self.held
        assert isinstance(self.held, bytes)
        return self.held


async def told(body: Body, *answers: object, refused: Refused = STALE) -> tuple[Refused, list[str], list[str]]:
    """What the sender is told, the conversation, and what was counted."""
    said, counted = Transcript(), Counted()
    quarantine = Quarantine(ScriptedStore(said, quarantine=list(answers)), counted)
    final = await quarantine.kept(write(SMALL), refused, request(), body, ScriptedCaller(said))
    return final, said, counted.said


@pytest.mark.parametrize(
    ("body", "conversation", "extent"),
    [
        pytest.param(Body(), ["proceed", "quarantine held"], "whole", id="read for it"),
        pytest.param(
            Body(pieces=[b"a", b"b"]), ["proceed", "quarantine ab"], "whole", id="read before, from its start"
        ),
        pytest.param(Body(length=10), ["proceed", "quarantine held"], "whole", id="as long as may be"),
        pytest.param(Body(length=11), ["quarantine head"], "head", id="announced as longer: not even asked for"),
        pytest.param(Body(held=BodyTooLarge()), ["proceed", "quarantine head"], "head", id="longer than may be"),
        pytest.param(Body(held=CallerGone()), ["proceed", "quarantine head"], "head", id="its sender left"),
        pytest.param(Body(held=TimeoutError()), ["proceed", "quarantine head"], "head", id="too slow"),
    ],
)
async def test_as_much_is_kept_as_came(body: Body, conversation: list[str], extent: str) -> None:
    """The refusal stands, and names what was kept."""
    final, said, counted = await told(body, "3ffid")

    assert said == conversation
    assert counted == [f"quarantined {extent}"]
    assert final == replace(
        STALE,
        detail="Not forwarded: too old. Stop. What was sent is kept for an operator to look at.",
        facts=replace(STALE.facts, quarantine="3ffid"),
    )


@pytest.mark.parametrize("answer", [None, StoreUnavailable("away")], ids=["no room", "the store is away"])
async def test_what_cannot_be_kept_is_refused_as_ever(answer: object) -> None:
    """Nothing is said of a quarantine, and that something was lost is counted."""
    final, _, counted = await told(Body(), answer)

    assert final is STALE
    assert counted == ["quarantined nothing"]


async def test_what_is_not_late_is_not_read() -> None:
    """Any other refusal goes back as it is."""
    refused = Refused(TOKEN_INVALID, "d")

    assert await told(Body(), refused=refused) == (refused, [], [])


async def test_a_gateway_that_is_stopped_waits_for_no_body() -> None:
    """The cancellation goes on to whoever is to be told."""
    with pytest.raises(asyncio.CancelledError):
        await told(Body(held=asyncio.CancelledError()))
