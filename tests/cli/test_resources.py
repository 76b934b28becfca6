"""`fencegate resources` against a running gateway."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from gateway import settings
from tests.admin.conftest import Admin, listening

TOKEN = "0123456789abcdef"


@dataclass
class Ended:
    """A command that has ended."""

    status: int
    out: str
    err: str


@pytest.fixture
async def admin(store_url: str, tmp_path: Path) -> AsyncIterator[Admin]:
    """An admin listener with a token."""
    async with listening(store_url, tmp_path, token=TOKEN) as listener:
        yield listener


async def resources(port: int, *arguments: str, token: str = TOKEN) -> Ended:
    """Run the command in a process of its own: it blocks."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "gateway", "resources", *arguments, "--admin", f"127.0.0.1:{port}"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=settings.environment() | {"FENCEGATE_ADMIN_TOKEN": token},
    )
    out, err = await process.communicate()
    assert process.returncode is not None
    return Ended(process.returncode, out.decode(), err.decode())


async def test_an_operator_advances_and_looks(admin: Admin) -> None:
    """What one command changed, the others show."""
    advanced = await resources(admin.port, "advance", "report/7", "--epoch", "9007199254740993")
    shown = await resources(admin.port, "show", "report/7")
    listed = await resources(admin.port, "list", "report/")

    assert advanced.out == "report/7 is at epoch 9007199254740993; every older one is refused.\n"
    assert "epoch           9007199254740993\n" in shown.out
    assert listed.out == "report/7  epoch 9007199254740993  no holder\n"


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
    without_token = await resources(admin.port, "list", token="")

    assert (missing.status, missing.err) == (
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
