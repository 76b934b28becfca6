"""`fencegate approvals` against a running gateway."""

import json
from dataclasses import replace

from gateway.core.delivery import GivenUp
from tests.admin.conftest import Admin
from tests.cli.operating import Ended, operate, operate_on_terminal
from tests.store.fences import state_of
from tests.store.parked import APPROVED, delivered, delivering, id_of, mail, parked

ONE = mail("one", of=APPROVED)
ID = id_of(ONE)


async def approvals(admin: Admin, *arguments: str) -> Ended:
    return await operate(admin.port, "approvals", *arguments)


async def test_what_waits_is_listed(admin: Admin) -> None:
    """Where no subcommand is named; what does not wait is not shown."""
    assert (await approvals(admin)).out == "Nothing waits for an approval.\n"
    await parked(admin.store, replace(ONE, principal="agent-7"))
    await parked(admin.store, mail("two"))

    listed = await approvals(admin)

    head, line = listed.out.splitlines()
    assert head.split() == ["ID", "REQUEST", "RESOURCE", "RULE", "RISK", "FROM", "HOLDER", "SINCE"]
    assert line.split()[:8] == [ID, "POST", "/mails", "report/7", "replace", "high", "agent-7", "A"]
    [item] = json.loads((await approvals(admin, "--json")).out)
    assert item["id"] == ID


async def test_the_request_is_shown_first(admin: Admin) -> None:
    """Then who sent it, under which epoch, and its digest."""
    record = await parked(admin.store, ONE)
    assert record.parking is not None

    lines = (await approvals(admin, "show", ID)).out.splitlines()

    assert lines[0] == "POST /mails?x=1" and '  {"to": "x"}' in lines
    assert any(line.split() == ["digest", record.parking.digest] for line in lines), lines


async def test_what_is_approved_is_queued(admin: Admin) -> None:
    """A script is not asked; the consequence is said all the same."""
    await parked(admin.store, ONE)

    approved = await approvals(admin, "approve", ID, "--note", "looks right")

    assert (approved.status, approved.out) == (0, f"{ID} is queued.\n")
    assert "It is SENT at once, as shown." in approved.err
    again = await approvals(admin, "approve", ID, "--note", "again")
    assert again.status == 1 and "only one that waits for an approval can be decided" in again.err


async def test_a_person_is_asked(admin: Admin) -> None:
    """And may change their mind."""
    await parked(admin.store, ONE)

    kept = await operate_on_terminal(admin.port, "approvals", "deny", ID, "--note", "no", typed=b"n\n")
    assert kept.status == 1 and await state_of(admin.store, ID) == "awaiting_approval"
    denied = await operate_on_terminal(admin.port, "approvals", "deny", ID, "--note", "no", typed=b"y\n")
    assert (denied.status, denied.out) == (0, f"{ID} is denied.\n")


async def test_another_request_than_the_one_looked_at_is_not_approved(admin: Admin) -> None:
    """Where a digest is named."""
    await parked(admin.store, ONE)

    refused = await approvals(admin, "approve", ID, "--note", "x", "--digest", "another")

    assert refused.status == 1 and "is not that of the request that waits" in refused.err
    assert await state_of(admin.store, ID) == "awaiting_approval"


async def test_what_has_failed_is_sent_again(admin: Admin) -> None:
    """`fencegate intents retry`; its request is shown beside the record."""
    write = mail("one")
    await parked(admin.store, write)
    async with delivering(admin.store) as queue:
        await delivered(queue, write, "not_applied", GivenUp())
    failed = await operate(admin.port, "intents", "list", "--state", "failed")
    assert ID in failed.out

    retried = await operate(admin.port, "intents", "retry", ID, "--note", "the key is renewed")

    assert (retried.status, retried.out) == (0, f"{ID} is queued.\n")
    shown = await operate(admin.port, "intents", "show", ID)
    assert "Its request:\nPOST /mails?x=1" in shown.out
