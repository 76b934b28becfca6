"""What bars a write before the fence, and in which order it is asked."""

import pytest

from gateway.core.caller import Caller
from gateway.core.decision import QUOTA_EXCEEDED, Refused
from gateway.core.pause import Scope, WidePause
from gateway.core.quota import Quota
from gateway.core.rights import EVERYTHING, Rights
from gateway.core.write import ResourceKey
from gateway.flow.barring import Barring
from gateway.flow.quota import Quotas
from gateway.flow.tasks import Tasks
from tests.playbook.given import RESOURCE, RULE
from tests.playbook.script import Transcript
from tests.playbook.store import ScriptedQuotas, ScriptedStore, unpaused

LIMITED = Rights(None, quota=Quota("ada", writes_per_minute=1))
NOTHING = Rights((), quota=LIMITED.quota)
NORTH = Scope("tenant", "north")
SPENT = "spend of ada's"


async def barring(said: Transcript, *scopes: Scope) -> Barring:
    pauses = unpaused(ScriptedStore(said), {scope: WidePause("p", scope, "", "", 1) for scope in scopes})
    await pauses.read()
    return Barring(pauses, Quotas(ScriptedQuotas(said, Refused(QUOTA_EXCEEDED, "d")), Tasks()))


@pytest.mark.parametrize(
    ("rights", "scopes", "decision"),
    [
        (EVERYTHING, (), None),
        (LIMITED, (), None),
        (LIMITED, (NORTH,), "paused"),
        (NOTHING, (NORTH,), "forbidden"),
        (EVERYTHING, (Scope("holder", "a"),), "paused"),
        (EVERYTHING, (Scope("tenant", "south"),), None),
    ],
    ids=["nothing", "a quota, later", "a pause", "a right before a pause", "a holder", "another's pause"],
)
async def test_what_bars_a_write(rights: Rights, scopes: tuple[Scope, ...], decision: str | None) -> None:
    """Who has no right learns nothing of pauses; no quota is asked yet."""
    said = Transcript()
    barred = (await barring(said, *scopes)).bars(RULE, RESOURCE, Caller("ada", "north", rights), "a")

    assert (None if barred is None else barred.decision.name) == decision
    assert said == []


@pytest.mark.parametrize(
    ("rights", "decision", "asked"),
    [(EVERYTHING, None, []), (LIMITED, "quota-exceeded", [SPENT])],
    ids=["who has no quota", "who has one"],
)
async def test_what_a_write_spends(rights: Rights, decision: str | None, asked: list[str]) -> None:
    """One of the minute; where nothing is limited, nothing is asked."""
    said = Transcript()
    exceeded = await (await barring(said)).spends(RULE, RESOURCE, Caller("ada", "north", rights))

    assert (None if exceeded is None else exceeded.decision.name) == decision
    assert said == asked


@pytest.mark.parametrize("resource", [RESOURCE, None], ids=["a resource", "none that can be told"])
async def test_a_pause_needs_no_resource(resource: ResourceKey | None) -> None:
    """What only an observed rule would pass on is stopped too."""
    paused = await barring(Transcript(), NORTH)

    refused = paused.paused(RULE, resource, Caller("ada", "north"), None)

    assert refused is not None
    assert (refused.decision.name, refused.facts.resource) == ("paused", resource)
    assert paused.paused(RULE, resource, Caller("ada", "south"), None) is None
