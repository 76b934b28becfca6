"""`fencegate quarantine` against a running gateway."""

import json
import os
import pty
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from gateway.core.write import ResourceKey
from tests.admin.conftest import Admin
from tests.cli.operating import Ended, operate
from tests.lateness import BODY, kept, late, quarantined


async def quarantine(admin: Admin, *arguments: str) -> Ended:
    return await operate(admin.port, "quarantine", *arguments)


async def test_what_is_in_quarantine_is_listed(admin: Admin) -> None:
    """One line each, under heads; `list` may be left out."""
    assert (await quarantine(admin)).out == "Nothing is in quarantine.\n"
    id = await quarantined(admin.store, late())
    await quarantined(admin.store, late(ResourceKey("report/8"), None))

    head, headless, line = (await quarantine(admin)).out.splitlines()

    assert head.split() == ["ID", "RECEIVED", "RESOURCE", "RULE", "DECISION", "EPOCH", "HOLDER", "PRINCIPAL", "SIZE"]
    assert line.split()[0] == id
    assert line.split()[2:] == ["report/7", "write", "stale-epoch", "41", "agent-a", "anonymous", str(len(BODY))]
    assert headless.split()[-1] == "-"
    narrowed = await quarantine(admin, "list", "--resource", "report/7", "--rule", "write", "--json")
    assert [item["id"] for item in json.loads(narrowed.out)] == [id]


async def test_one_is_shown(admin: Admin) -> None:
    """With its request, line by line, and its steps."""
    id = await quarantined(admin.store, late())

    shown = await quarantine(admin, "show", id)

    assert (shown.status, shown.err) == (0, "")
    for piece in (
        "resource       report/7",
        "PUT /reports/7?draft=1",
        "  Content-Type: application/json",
        BODY.decode(),
    ):
        assert piece in shown.out
    assert "quarantined" in shown.out.partition("Its steps")[2]
    assert json.loads((await quarantine(admin, "show", id, "--json")).out)["request"]["body"] == BODY.decode()


async def test_what_is_empty_is_shown_empty(admin: Admin) -> None:
    """A dash would be something that was sent."""
    spaced = replace(late(), request=kept(b"first\n\nlast", (b"X-Empty", b"")))

    shown = (await quarantine(admin, "show", await quarantined(admin.store, spaced))).out

    assert "  first\n  \n  last\n" in shown
    assert "  X-Empty: \n" in shown


async def test_what_an_agent_sent_does_not_write_to_the_terminal(admin: Admin) -> None:
    """Control characters are shown as their escapes; what is no text, by its size; what is long, by its start."""
    hostile = replace(late(), request=kept(b"\x1b[2Jgone", (b"X-Name", b"\x9b2J")))
    shown = (await quarantine(admin, "show", await quarantined(admin.store, hostile))).out
    noise = (await quarantine(admin, "show", await quarantined(admin.store, late(body=b"\xff\x00")))).out
    headless = (await quarantine(admin, "show", await quarantined(admin.store, late(body=None)))).out
    long = (await quarantine(admin, "show", await quarantined(admin.store, late(body=b"x" * 2007)))).out

    assert "\\x1b[2Jgone" in shown and "X-Name: \\x9b2J" in shown
    assert all(char.isprintable() for char in shown.replace("\n", ""))
    assert "a body of 2 bytes" in noise
    assert "its body was not kept" in headless
    assert "and 7 characters more" in long


async def test_a_body_is_exported_byte_for_byte(admin: Admin, tmp_path: Path) -> None:
    """To a file, or to standard output."""
    body = bytes(range(256)) * 5000
    id = await quarantined(admin.store, late(body=body))
    file = tmp_path / "late.bin"

    to_file = await quarantine(admin, "export", id, "-o", str(file))
    to_output = await quarantine(admin, "export", await quarantined(admin.store, late()))

    assert (to_file.status, to_file.out, file.read_bytes()) == (0, "", body)
    assert to_file.err == f"{len(body)} bytes are in {file}.\n"
    assert "is there already" in (await quarantine(admin, "export", id, "-o", str(file))).err
    assert (to_output.status, to_output.out, to_output.err) == (0, BODY.decode(), "")


def test_a_body_is_not_written_to_a_terminal() -> None:
    """What an agent sent could write there whatever it likes."""
    master, slave = pty.openpty()
    try:
        command = [sys.executable, "-m", "gateway", "quarantine", "export", "3ffno"]
        ended = subprocess.run(command, stdout=slave, stderr=subprocess.PIPE, check=False)
    finally:
        os.close(master)
        os.close(slave)

    assert ended.returncode == 2
    assert b"Name a file with -o FILE" in ended.stderr


async def test_a_file_that_cannot_be_written_is_told(admin: Admin, tmp_path: Path) -> None:
    """And what is not there."""
    id = await quarantined(admin.store, late())

    assert "Name another file." in (await quarantine(admin, "export", id, "-o", str(tmp_path / "no" / "file"))).err
    missing = await quarantine(admin, "export", "3ffno", "-o", str(tmp_path / "late"))
    assert (missing.status, (tmp_path / "late").exists()) == (1, False)
    assert "Nothing in quarantine has this id" in missing.err


async def test_one_is_dropped_with_a_note(admin: Admin) -> None:
    """And without one it is not."""
    id = await quarantined(admin.store, late())

    assert "--note" in (await quarantine(admin, "drop", id)).err
    dropped = await quarantine(admin, "drop", id, "--note", "sent by hand")

    assert (dropped.status, dropped.out) == (0, f"{id}, of report/7, is dropped.\n")
    again = await quarantine(admin, "drop", id, "--note", "sent by hand", "--json")
    assert (again.status, "Nothing in quarantine" in again.err) == (1, True)
