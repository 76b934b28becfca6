"""Late results: what is read for them, what is kept, and what their sender is told."""

import asyncio
from dataclasses import dataclass, field, replace

import pytest

from gateway.core.decision import LEASE_EXPIRED, STALE_EPOCH, TOKEN_INVALID, Facts, Refused
from gateway.core.faults import BodyTooLarge, CallerGone, StoreUnavailable
from gateway.core.rule import Limits, Rule
from gateway.flow.clock import BootClock
from gateway.flow.quarantine import Quarantine
from tests.playbook.caller import Counted, NoBody, ScriptedCaller
from tests.playbook.given import RULE, UPSTREAM, request, write
from tests.playbook.script import Transcript
from tests.playbook.store import ScriptedStore
from tests.until import until

MIB = 1 << 20
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


@dataclass
class Large(Body):
    """A body of some MiB; `limit` is what it was held under."""

    limit: int | None = None

    async def hold(self, limit: int) -> bytes:
        self.limit = limit
        return b"held"


async def told(body: Body, *answers: object, refused: Refused = STALE) -> tuple[Refused, list[str], list[str]]:
    """What the sender is told, the conversation, and what was counted."""
    said, counted = Transcript(), Counted()
    quarantine = Quarantine(ScriptedStore(said, quarantine=list(answers)), counted, BootClock())
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
    what = "What was sent" if extent == "whole" else "The head of what was sent, without its body,"
    assert final == replace(
        STALE,
        detail=f"Not forwarded: too old. Stop. {what} is kept for an operator to look at.",
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


LARGE = replace(RULE, upstream=replace(UPSTREAM, limits=Limits(body=10 * MIB)), on_stale="quarantine")
EXPIRED = Refused(LEASE_EXPIRED, "Not forwarded: too late.", Facts(highest_epoch=41))


@pytest.mark.parametrize(
    ("body", "refused", "rule", "held_under"),
    [
        pytest.param(Large(length=MIB), STALE, LARGE, MIB, id="as much as anybody may have kept"),
        pytest.param(Large(length=MIB + 1), STALE, LARGE, None, id="more than that"),
        pytest.param(Large(), STALE, LARGE, MIB, id="in chunks"),
        pytest.param(Large(length=10 * MIB), EXPIRED, LARGE, 10 * MIB, id="its secret was compared"),
        pytest.param(
            Large(length=10 * MIB), STALE, replace(LARGE, authority="signed"), 10 * MIB, id="its claim was verified"
        ),
    ],
)
async def test_who_proves_nothing_has_little_kept(
    body: Large, refused: Refused, rule: Rule, held_under: int | None
) -> None:
    """An overtaken secret cannot be checked any more: it may be made up."""
    said = Transcript()
    quarantine = Quarantine(ScriptedStore(said, quarantine=["3ffid"]), Counted(), BootClock())
    await quarantine.kept(write(rule), refused, request(), body, ScriptedCaller(said))

    assert body.limit == held_under
    assert said == (["quarantine head"] if held_under is None else ["proceed", "quarantine held"])


async def test_of_many_unproved_results_the_heads_are_kept() -> None:
    """4 MiB in a minute; of those who proved something all are kept, and no body is held that is not read."""
    said = Transcript()
    quarantine = Quarantine(ScriptedStore(said, quarantine=["id"] * 8), Counted(), BootClock())
    for refused in [STALE] * 6 + [EXPIRED] * 2:
        await quarantine.kept(write(LARGE), refused, request(), Large(length=MIB), ScriptedCaller(said))

    kept = [line for line in said if line != "proceed"]
    assert kept == ["quarantine held"] * 4 + ["quarantine head"] * 2 + ["quarantine held"] * 2


async def test_many_large_bodies_are_not_held_at_once() -> None:
    """32 MiB of them; who comes then is refused at once, and its head is kept."""
    said = Transcript()
    quarantine = Quarantine(ScriptedStore(said, quarantine=["id"] * 6), Counted(), BootClock())
    going_on = asyncio.Event()

    class Slow(Large):
        async def hold(self, limit: int) -> bytes:
            await going_on.wait()
            return b"held"

    async with asyncio.TaskGroup() as group:
        for _ in range(5):
            body = Slow(length=10 * MIB)
            group.create_task(quarantine.kept(write(LARGE), EXPIRED, request(), body, ScriptedCaller(said)))
        await until(lambda: said.count("quarantine head") == 2)
        assert said.count("proceed") == 3
        going_on.set()

    assert said.count("quarantine held") == 3
