"""`fencegate audit` against a running gateway."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gateway.cli.audit import folded
from gateway.core.write import ResourceKey
from gateway.store.keys import audit_trail, shard_of
from tests.admin.conftest import Admin
from tests.cli.operating import operate
from tests.intending import SEVEN, ended, intended


async def test_each_step_is_a_line(admin: Admin) -> None:
    """The newest first, under heads."""
    admitted = await ended(admin.store, intended("k-1"), "unknown")

    shown = await operate(admin.port, "audit")

    head, newest, oldest = shown.out.splitlines()
    assert head.split() == ["AT", "STEP", "RESOURCE", "INTENT", "RULE", "EPOCH", "HOLDER", "BY", "REASON"]
    assert f"in_flight > unknown  report/7  {admitted.intent}" in newest
    assert f"in_flight            report/7  {admitted.intent}" in oldest
    assert newest.endswith("no answer within 30 s")
    assert "write  41     agent-a  " in newest


async def test_who_wrote_is_told_with_its_principal(admin: Admin) -> None:
    """A holder is what an agent calls itself; a principal is proved."""
    await ended(admin.store, replace(intended("k-1"), principal="ada"), "applied")

    assert "  agent-a (ada)  " in (await operate(admin.port, "audit")).out


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


def test_what_is_wrong_in_one_way_is_one_row() -> None:
    """Of a store that went back hundreds of places are wrong; another shard or kind begins a row of its own."""
    ways = (("strange", "007"), ("strange", "007"), ("strange", "007"), ("missing", "007"), ("missing", "008"))
    findings = [
        {"kind": kind, "shard": shard, "first": at, "last": at + 1, "what": f"event {at}"}
        for at, (kind, shard) in enumerate(ways)
    ]

    assert list(folded(findings)) == [
        ("strange", "007", "0-3", "event 0; so are 2 places more of these"),
        ("missing", "007", "3-4", "event 3"),
        ("missing", "008", "4-5", "event 4"),
    ]


@pytest.mark.slow
async def test_a_trail_is_verified_with_a_checkpoint(admin: Admin, raw: Any, tmp_path: Path) -> None:
    """Exit status 1 where something is wrong, with the place; another file is never written over."""
    await ended(admin.store, intended("k-1"), "applied")
    file = str(tmp_path / "checkpoint.json")
    made = await operate(admin.port, "audit", "checkpoint", "-o", file)
    whole = await operate(admin.port, "audit", "verify", "--checkpoint", file)
    raw.delete(audit_trail(shard_of(SEVEN)))
    gone = await operate(admin.port, "audit", "verify", "--checkpoint", file)

    assert made.out.startswith(f"{file} has the heads of 1 shard")
    assert (whole.status, whole.out) == (
        0,
        f"2 events were verified: none is missing, none was changed, and of 1 head of {file} each fits.\n",
    )
    assert gone.status == 1
    assert gone.out.splitlines()[1].split()[:3] == ["missing", shard_of(SEVEN), "2-2"]


@pytest.mark.slow
async def test_files_that_are_no_checkpoints_are_told(admin: Admin, tmp_path: Path) -> None:
    """What they are, and what writes one."""
    file = tmp_path / "checkpoint.json"
    missing = await operate(admin.port, "audit", "verify", "--checkpoint", str(file))
    file.write_text("[]")
    other = await operate(admin.port, "audit", "verify", "--checkpoint", str(file))
    again = await operate(admin.port, "audit", "checkpoint", "-o", str(file))

    assert (missing.status, other.status, again.status) == (1, 1, 1)
    assert "cannot be read" in missing.err
    assert "is no checkpoint: `fencegate audit checkpoint -o FILE` writes one" in other.err
    assert "is there already" in again.err


async def test_events_are_exported(admin: Admin, tmp_path: Path) -> None:
    """A line of JSON each."""
    await ended(admin.store, intended("k-1"), "applied")

    shown = await operate(admin.port, "audit", "export", "-o", str(tmp_path / "events"), "--since", "1h")

    assert (shown.status, shown.err) == (0, f"2 events are in {tmp_path / 'events'}.\n")
    assert [json.loads(line)["number"] for line in (tmp_path / "events").read_text().splitlines()] == [2, 1]


async def test_a_slip_is_the_gateways_sentence(admin: Admin) -> None:
    """It says what to write."""
    for arguments, message in ((("--since", "yesterday"), "`since` must be"), (("--intent", "x"), "`intent` is no id")):
        shown = await operate(admin.port, "audit", *arguments)
        assert shown.status == 1
        assert shown.err.startswith(f"Error: {message}")
