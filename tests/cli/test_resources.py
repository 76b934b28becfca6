"""`fencegate resources` against a running gateway."""

import json
from pathlib import Path
from typing import Any

from tests.admin.conftest import Admin, listening
from tests.admin.test_resources import make_old
from tests.cli.operating import TOKEN, Ended, operate
from tests.intending import SEVEN, begun, intended
from tests.stack import POLICY

# A resource may have any name.
ANY = POLICY.format(port=9) + "    values: any\n"


async def resources(port: int, *arguments: str, token: str = TOKEN) -> Ended:
    return await operate(port, "resources", *arguments, token=token)


async def test_an_operator_advances_and_looks(admin: Admin) -> None:
    """What one command changed, the others show."""
    advanced = await resources(admin.port, "advance", "report/7", "--epoch", "9007199254740993")
    shown = await resources(admin.port, "show", "report/7")
    listed = await resources(admin.port, "list", "report/")

    assert advanced.out == "report/7 is at epoch 9007199254740993; every older one is refused.\n"
    assert "epoch            9007199254740993\n" in shown.out
    assert [line.split() for line in listed.out.splitlines()] == [
        ["RESOURCE", "EPOCH", "HOLDER", "IN", "FLIGHT", "OLDER"],
        ["report/7", "9007199254740993", "-", "0", "0"],
    ]


async def test_what_is_in_flight_is_shown_with_what_happened_last(admin: Admin) -> None:
    """Each as a table of its own."""
    admitted = await begun(admin.store, intended("k-1"))

    shown = (await resources(admin.port, "show", "report/7")).out

    assert "\nIn flight:\nID " in shown
    assert admitted.ticket in shown
    assert "\nWhat happened last, the newest first:\nAT " in shown


async def test_an_operator_pauses_and_resumes(admin: Admin) -> None:
    """How to let it go on is said at once."""
    paused = await resources(admin.port, "pause", "report/7", "--reason", "sent twice")
    again = await resources(admin.port, "pause", "report/7", "--reason", "me too", "--json")
    shown = await resources(admin.port, "show", "report/7")
    resumed = await resources(admin.port, "resume", "report/7")
    too_late = await resources(admin.port, "resume", "report/7")

    first, second = paused.out.splitlines()
    assert first.startswith("report/7 is paused since 2")
    assert first.endswith("Z: sent twice")
    assert second == "To let it go on: fencegate resources resume report/7"
    assert json.loads(again.out)["reason"] == "sent twice"
    assert (shown.status, "It is paused" in shown.err) == (1, True)
    assert resumed.out.startswith("report/7 goes on; it was paused since 2")
    assert (too_late.status, too_late.err) == (1, "Error: report/7 is not paused. Look for a slip in its name.\n")


async def test_a_pause_is_shown_with_its_resource(admin: Admin) -> None:
    """As JSON, too, each command prints what the API answered."""
    await begun(admin.store, intended(None))
    pause = json.loads((await resources(admin.port, "pause", "report/7", "--reason", "x", "--json")).out)

    shown = json.loads((await resources(admin.port, "show", "report/7", "--json")).out)
    resumed = json.loads((await resources(admin.port, "resume", "report/7", "--json")).out)

    assert shown["pause"] == resumed == pause


async def test_a_name_cannot_command_the_shell_or_the_terminal(store_url: str, tmp_path: Path) -> None:
    """What is printed to be copied is quoted."""
    name = "report/$(touch x)"

    async with listening(store_url, tmp_path, token=TOKEN, policy=ANY) as admin:
        paused = await resources(admin.port, "pause", name, "--reason", "x")
        missing = await resources(admin.port, "resume", "report/\x1b[2J")

    assert paused.out.splitlines()[-1] == f"To let it go on: fencegate resources resume '{name}'"
    assert missing.err == "Error: report/\\x1b[2J is not paused. Look for a slip in its name.\n"


async def test_a_slip_pauses_nothing(admin: Admin) -> None:
    """The gateway's sentence says so."""
    slip = await resources(admin.port, "pause", "reprot/7", "--reason", "x")
    without_reason = await resources(admin.port, "pause", "report/7")

    assert slip.err.startswith("Error: Nothing was done: no rule makes this resource")
    assert "Missing option '--reason'" in without_reason.err
    assert (await resources(admin.port, "resume", str(SEVEN))).status == 1


async def test_json_is_one_document(admin: Admin) -> None:
    """Each command prints what the API answered; a list is whole, however many pages it took."""
    await resources(admin.port, "advance", "report/7", "--epoch", "5", "--json")

    shown = await resources(admin.port, "show", "report/7", "--json")
    listed = await resources(admin.port, "list", "--json")

    assert json.loads(shown.out)["epoch"] == "5"
    assert [item["resource"] for item in json.loads(listed.out)] == ["report/7"]


async def test_a_list_goes_on_to_its_end(admin: Admin) -> None:
    """More than one page is one list."""
    for number in range(150):
        await admin.call("POST", f"/api/v1/resources/report/{number}/advance", f"Authorization: Bearer {TOKEN}")

    listed = await resources(admin.port, "list", "report/", "--json")

    assert len({item["resource"] for item in json.loads(listed.out)}) == 150


async def test_an_error_is_the_gateways_sentence(admin: Admin) -> None:
    """Status 1, and no traceback."""
    missing = await resources(admin.port, "show", "report/8")
    not_utf_8 = await resources(admin.port, "show", "report/\udcff")
    without_token = await resources(admin.port, "list", token="")

    for ended in (missing, not_utf_8):
        assert (ended.status, ended.err) == (
            1,
            "Error: Nothing is known of this resource: it was never written, leased or advanced.\n",
        )
    assert (without_token.status, without_token.err) == (
        1,
        "Error: The gateway wants its admin token: set FENCEGATE_ADMIN_TOKEN.\n",
    )


async def test_where_nobody_answers_the_next_step_is_named(admin: Admin) -> None:
    """Port 9 discards, where anything listens there at all."""
    ended = await resources(9, "list")

    assert ended.status == 1
    assert "Start one with `fencegate serve`, or name its admin listener with --admin." in ended.err


async def test_an_operator_forgets_an_epoch(admin: Admin) -> None:
    """A script says what it means and is not asked."""
    await resources(admin.port, "advance", "report/7", "--epoch", "42")

    forgotten = await resources(admin.port, "reset", "report/7", "--note", "a test ran away")
    again = await resources(admin.port, "reset", "report/7", "--note", "a test ran away", "--json")
    unknown = await resources(admin.port, "reset", "report/8", "--note", "x")

    assert forgotten.out == "report/7 has no epoch any more; it was at 42.\n"
    assert json.loads(again.out) == {"resource": "report/7", "forgotten_epoch": "42"}
    assert (unknown.status, unknown.err) == (
        1,
        "Error: Nothing was done: no epoch of this resource is known. If a gateway still refuses with one that the "
        "store has lost, advance the resource first.\n",
    )


async def test_an_operator_prunes(admin: Admin, raw: Any) -> None:
    """First to see how much it is."""
    make_old(raw, "report/1", "order/1")

    would = await resources(admin.port, "prune", "--dry-run")
    went = await resources(admin.port, "prune", "report/")
    rest = await resources(admin.port, "prune", "--json")

    assert (would.out, went.out) == ("2 of 2 records would go.\n", "1 of 1 records went.\n")
    assert json.loads(rest.out) == {"looked_at": 1, "pruned": 1}
