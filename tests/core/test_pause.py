"""Pauses that are wider than a resource: which writes each stops."""

import pytest

from gateway.core.pause import Scope, WidePause, is_paused, stopping
from gateway.core.rule import Origin, Rule, Upstream

MAIL = Upstream("mail", Origin("http", "localhost", 80))
SEND = Rule("send", MAIL)


def paused(*scopes: Scope) -> dict[Scope, WidePause]:
    return {scope: WidePause(f"p{at}", scope, "sent twice", "operator", 1) for at, scope in enumerate(scopes)}


@pytest.mark.parametrize(
    ("scope", "stops"),
    [
        (Scope("all"), True),
        (Scope("upstream", "mail"), True),
        (Scope("upstream", "send"), False),
        (Scope("rule", "send"), True),
        (Scope("rule", "mail"), False),
        (Scope("rule", "send", "mail"), True),
        (Scope("rule", "send", "chat"), False),
        (Scope("rule", "delete", "mail"), False),
        (Scope("tenant", "north"), True),
        (Scope("tenant", "agent-a"), False),
        (Scope("holder", "agent-a"), True),
        (Scope("holder", "north"), False),
    ],
    ids=lambda value: f"{value.kind} {value.name} {value.upstream or ''}".strip() if isinstance(value, Scope) else "",
)
def test_a_pause_stops_what_is_in_its_scope(scope: Scope, stops: bool) -> None:
    """A name counts for what it is the name of, exactly; a rule's also where it is."""
    found = stopping(paused(scope), SEND, "north", "agent-a")

    assert (found is not None) is stops
    assert found is None or found.scope == scope


def test_an_unknown_holder_is_nobody() -> None:
    """Who has not named itself is found out before it is admitted."""
    assert stopping(paused(Scope("holder", "agent-a")), SEND, "north", None) is None


def test_of_several_pauses_the_widest_is_told() -> None:
    """Ending a narrow one would not let the write pass."""
    both = paused(Scope("holder", "agent-a"), Scope("rule", "send"), Scope("all"))

    found = stopping(both, SEND, "north", "agent-a")

    assert found is not None
    assert found.scope == Scope("all")


@pytest.mark.parametrize(
    ("scope", "stopped"),
    [
        (Scope("all"), "all writes are stopped"),
        (Scope("tenant", "north"), "all writes of tenant north are stopped"),
        (Scope("rule", "send", "mail"), "all writes of rule send of upstream mail are stopped"),
    ],
    ids=["all", "tenant", "rule"],
)
def test_a_refusal_says_what_is_stopped(scope: Scope, stopped: str) -> None:
    """The operators' reason is theirs: it is in the log, and not in the answer."""
    refused = is_paused(paused(scope)[scope], "mailbox/7")

    assert (refused.decision.name, refused.facts.resource) == ("paused", "mailbox/7")
    assert refused.detail == f"Not forwarded: {stopped} by an operator. Wait: somebody has to look at it first."
    assert refused.why == "pause p0: sent twice"
