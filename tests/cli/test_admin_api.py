"""What the admin API refuses, as the commands tell it."""

import contextlib
import json
import os
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
from aiohttp import web
from click.testing import CliRunner

from gateway.cli import main
from tests.admin.conftest import POLICY, Admin
from tests.cli.operating import operate
from tests.stack import stack


async def test_a_refusal_names_commands_and_no_calls(admin: Admin) -> None:
    """Whoever sits at a command line does not call the API."""
    shown = await operate(admin.port, "pauses", "end", "x")

    assert shown.status == 1
    assert shown.err.endswith("`fencegate pauses` lists them.\n")


@pytest.mark.parametrize(
    "address", ["127.0.0.1:x", "127.0.0.1:99999", "[::1", "a..example:80", "a b:80"], ids=["port", "high", *"abc"]
)
def test_an_address_that_cannot_be_one_is_told(address: str) -> None:
    """In one line, as one where nobody listens is."""
    ended = CliRunner().invoke(main, ["leases", "list", "--admin", address], catch_exceptions=False)

    assert (ended.exit_code, ended.stderr.count("\n")) == (1, 1)
    assert "--admin" in ended.stderr


@pytest.mark.parametrize("name", ["FENCEGATE_ADMIN_TOKEN", "FENCEGATE_KEY"])
@pytest.mark.parametrize("value", ["\N{LEFT DOUBLE QUOTATION MARK}key", "two\nlines", os.fsdecode(b"\xff")], ids="abc")
def test_a_secret_that_cannot_be_sent_is_named_and_not_shown(name: str, value: str) -> None:
    """As it is pasted with a quotation mark of a text processor."""
    words = ["leases", "list", "--admin", "127.0.0.1:1"]
    ended = CliRunner().invoke(main, words, env={name: value}, catch_exceptions=False)

    assert (ended.exit_code, ended.stderr) == (1, f"Error: {name} must be visible ASCII characters without blanks.\n")


async def test_a_wrong_token_is_told_from_a_missing_one(admin: Admin) -> None:
    """Whoever has set one does not set it once more."""
    missing = await operate(admin.port, "store", token="")
    wrong = await operate(admin.port, "store", token="another")

    assert missing.err == "Error: The gateway wants its admin token: set FENCEGATE_ADMIN_TOKEN.\n"
    assert wrong.err == "Error: The gateway wants its admin token, and FENCEGATE_ADMIN_TOKEN is another one.\n"
    assert (missing.status, wrong.status) == (1, 1)


async def test_the_agents_port_is_no_admin_listener(store_url: str, tmp_path: Path) -> None:
    """Two ports of one gateway are easily mixed up, and what an agent would be told helps no operator."""
    async with stack(store_url, tmp_path, POLICY) as gate:
        shown = await operate(gate.port, "store")

    assert shown.status == 1
    assert shown.err.startswith(f"Error: 127.0.0.1:{gate.port} is no admin listener: agents' requests are taken there.")


async def test_a_list_that_lacks_something_says_so(unused_tcp_port: int) -> None:
    """What there is is printed; what is missing is told once, beside it, and by the status."""
    item = {"resource": "report/7", "epoch": "41", "holder": "A", "lease": None, "in_flight": 0, "older_in_flight": 0}
    pages = [
        {"items": [item], "next": "x", "incomplete": "341 of 1024 shards do not answer: 10.0.0.3:6379: away"},
        {"items": [item], "next": None, "incomplete": "341 of 1024 shards do not answer: 10.0.0.3:6379: away"},
    ]
    async with answering(unused_tcp_port, pages):
        shown = await operate(unused_tcp_port, "resources", "list", "--json")

    assert len(json.loads(shown.out)) == 2
    assert shown.err == (
        "Incomplete: 341 of 1024 shards do not answer: 10.0.0.3:6379: away. What is there may be missing here.\n"
    )
    assert shown.status == 1


async def test_an_export_that_lacks_something_is_none(unused_tcp_port: int, tmp_path: Path) -> None:
    """It is broken off, and gone on with once all of the store answers."""
    file = tmp_path / "events"
    lacking = {"items": [], "next": None, "incomplete": "1 of 1024 shards do not answer"}
    async with answering(unused_tcp_port, [lacking]):
        shown = await operate(unused_tcp_port, "audit", "export", "-o", str(file))

    assert shown.status == 1
    assert "Broken off: 1 of 1024 shards do not answer." in shown.err
    assert not file.exists()


@pytest.mark.parametrize(
    "document", [{"status": "ok"}, {"items": {}, "next": None}, {"items": ["a"], "next": None}], ids=["other", *"ab"]
)
@pytest.mark.parametrize("words", ["resources list", "audit export -o FILE", "pauses", "store"])
async def test_another_service_is_told(words: str, document: object, unused_tcp_port: int, tmp_path: Path) -> None:
    """Whatever JSON it answers, in one line."""
    named = [str(tmp_path / "events") if word == "FILE" else word for word in words.split()]
    async with answering(unused_tcp_port, [document]):
        shown = await operate(unused_tcp_port, *named)

    assert (shown.status, shown.err.count("\n")) == (1, 1)
    assert shown.err.startswith("Error: What answers there is no gateway's admin listener")


@contextlib.asynccontextmanager
async def answering(port: int, documents: Sequence[object]) -> AsyncIterator[None]:
    """An admin listener that answers one call after the other with these."""
    left = iter(documents)

    async def answer(_: web.Request) -> web.Response:
        return web.json_response(next(left))

    app = web.Application()
    app.router.add_get("/{path:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    try:
        yield
    finally:
        await runner.cleanup()
