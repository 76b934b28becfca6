"""`fencegate store` against a running gateway."""

import asyncio
import json
from typing import Any

from click.testing import CliRunner, Result

from gateway.cli import main
from gateway.store.keys import store_record
from tests.admin.conftest import Admin
from tests.admin.test_store import lose
from tests.cli.operating import TOKEN


async def operate(port: int, *arguments: str) -> Result:
    """In a thread: it blocks."""
    words = [*arguments, "--admin", f"127.0.0.1:{port}"]
    return await asyncio.to_thread(CliRunner().invoke, main, words, env={"FENCEGATE_ADMIN_TOKEN": TOKEN})


async def test_an_operator_sees_a_loss_and_ends_it(admin: Admin, raw: Any) -> None:
    """What ends it is said at once; afterwards, who ended it."""
    lose(raw, 9)
    raw.hset("fg:{000}:marks", "one", f"7 {admin.store.expected_ms()}")

    shown = await operate(admin.port, "store")
    accepted = await operate(admin.port, "store", "accept", "--note", "looked")
    after = await operate(admin.port, "store", "status")
    again = await operate(admin.port, "store", "accept", "--note", "looked")

    assert "went back in time, found at 1970-01-01T00:00:00.005Z by one: it was emptied" in shown.stdout
    assert "leases below 9 have ended" in shown.stdout
    assert "  one      7     2" in shown.stdout
    assert shown.stdout.splitlines()[-1] == "To go on: fencegate store accept --note TEXT"
    first, gone = accepted.stdout.splitlines()
    assert first == "Accepted: writes go on. Agents need new leases."
    assert gone == shown.stdout.splitlines()[-2]
    assert "Pauses of resources, what was quarantined, and what was used of budgets" in gone
    assert "by operator: looked" in after.stdout
    assert after.stdout.splitlines()[-1] == "Nothing is missing."
    assert (again.exit_code, "lost nothing" in again.output) == (1, True)


async def test_what_it_prints_for_programs(admin: Admin, raw: Any) -> None:
    """The documents of the API."""
    raw.hset(store_record("000"), mapping={"incarnation": "a", "began": 1000})

    shown = json.loads((await operate(admin.port, "store", "--json")).stdout)
    lose(raw, 9)
    accepted = json.loads((await operate(admin.port, "store", "accept", "--note", "looked", "--json")).stdout)

    assert (shown["regressed"], shown["servers"][0]["incarnation"]) == (False, "a")
    assert accepted["became_unknown"] == 0
