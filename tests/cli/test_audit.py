"""`fencegate audit` against a running gateway."""

import json

from gateway.core.write import ResourceKey
from tests.admin.conftest import Admin
from tests.cli.operating import operate
from tests.intending import ended, intended


async def test_each_step_is_a_line(admin: Admin) -> None:
    """The newest first, under heads."""
    admitted = await ended(admin.store, intended("k-1"), "unknown")

    shown = await operate(admin.port, "audit")

    head, newest, oldest = shown.out.splitlines()
    assert head.split() == ["AT", "STEP", "RESOURCE", "INTENT", "EPOCH", "HOLDER", "BY", "REASON"]
    assert f"in_flight > unknown  report/7  {admitted.intent}" in newest
    assert f"in_flight            report/7  {admitted.intent}" in oldest
    assert newest.endswith("no answer within 30 s")


async def test_steps_are_those_that_are_asked_for(admin: Admin) -> None:
    """By resource, by intent, by time; as JSON too."""
    first = await ended(admin.store, intended("k-1"), "applied")
    await ended(admin.store, intended("k-2", ResourceKey("order/1&x=ü")), "applied")

    of_resource = await operate(admin.port, "audit", "--resource", "order/1&x=ü", "--json")
    of_intent = await operate(admin.port, "audit", "--intent", first.intent, "--since", "1h", "--json")
    of_nobody = await operate(admin.port, "audit", "--resource", "order/2")
    of_the_future = await operate(admin.port, "audit", "--since", "2999-01-01T00:00:00+02:00", "--json")

    assert {event["resource"] for event in json.loads(of_resource.out)} == {"order/1&x=ü"}
    assert [event["intent"] for event in json.loads(of_intent.out)] == [first.intent, first.intent]
    assert of_nobody.out == "Nothing of this kind is in the audit trail; old events leave it.\n"
    assert json.loads(of_the_future.out) == []


async def test_a_holder_cannot_command_the_terminal(admin: Admin) -> None:
    """Agents name themselves."""
    await ended(admin.store, intended("k-1", holder="a\x1b[31m"), "applied")

    shown = (await operate(admin.port, "audit")).out

    assert r"a\x1b[31m" in shown
    assert "\x1b" not in shown


async def test_a_slip_is_the_gateways_sentence(admin: Admin) -> None:
    """It says what to write."""
    for arguments, message in ((("--since", "yesterday"), "`since` must be"), (("--intent", "x"), "`intent` is no id")):
        shown = await operate(admin.port, "audit", *arguments)
        assert shown.status == 1
        assert shown.err.startswith(f"Error: {message}")
