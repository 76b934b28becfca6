"""`fencegate pauses` against a running gateway."""

import json

import pytest
from click.testing import CliRunner

from gateway.cli import main
from tests.admin.conftest import Admin
from tests.cli.operating import TOKEN, Ended, operate


async def pauses(port: int, *arguments: str, token: str = TOKEN) -> Ended:
    return await operate(port, "pauses", *arguments, token=token)


async def test_an_operator_stops_and_lets_go_on(admin: Admin) -> None:
    """How to end it is said at once, and in the list."""
    added = await pauses(admin.port, "add", "--upstream", "reports", "--rule", "write", "--reason", "sent twice")
    listed = await pauses(admin.port)
    first, second = added.out.splitlines()
    id = second.rpartition(" ")[2]

    assert first.startswith("Paused since 2")
    assert first.endswith("Z: upstream reports, rule write: sent twice")
    assert second.startswith("To let it go on: fencegate pauses end 000")
    head, row = listed.out.splitlines()
    assert head.split() == ["ID", "SINCE", "BY", "STOPPED", "REASON"]
    assert row.startswith(id)
    assert row.endswith("operator  upstream reports, rule write  sent twice")

    ended = await pauses(admin.port, "end", id)
    listed = await pauses(admin.port, "list")
    too_late = await pauses(admin.port, "end", id)

    assert ended.out == "No longer paused: upstream reports, rule write: sent twice\n"
    assert (too_late.status, "No pause in force has this id" in too_late.err) == (1, True)
    assert listed.out == "Nothing is paused.\n"


async def test_json_is_one_document(admin: Admin) -> None:
    """What the API answered; pauses of resources are in the list too, however they were begun."""
    everything = json.loads((await pauses(admin.port, "add", "--all", "--reason", "x", "--json")).out)
    await operate(admin.port, "resources", "pause", "report/7", "--reason", "y")

    listed = json.loads((await pauses(admin.port, "--json")).out)

    assert everything["all"] is True
    assert [item.get("resource") for item in listed] == ["report/7", None]
    assert listed[1] == everything
    assert json.loads((await pauses(admin.port, "end", everything["id"], "--json")).out) == everything


@pytest.mark.parametrize(
    "selectors",
    [(), ("--all", "--tenant", "north"), ("--rule", "write", "--holder", "a")],
    ids=["none", "all and another", "two"],
)
def test_one_thing_is_paused_at_a_time(selectors: tuple[str, ...]) -> None:
    """The gateway is not asked."""
    refused = CliRunner().invoke(main, ["pauses", "add", *selectors, "--reason", "x"])

    assert (refused.exit_code, "Name one: --upstream" in refused.output) == (2, True)


async def test_a_slip_pauses_nothing(admin: Admin) -> None:
    """The gateway's sentence says what there is."""
    slip = await pauses(admin.port, "add", "--upstream", "reprots", "--reason", "x")

    assert (slip.status, slip.out) == (1, "")
    assert "no upstream is called 'reprots'; there is `reports`" in slip.err
