"""What the admin API refuses, as the commands tell it."""

from pathlib import Path

from tests.admin.conftest import POLICY, Admin
from tests.cli.operating import operate
from tests.stack import stack


async def test_a_refusal_names_commands_and_no_calls(admin: Admin) -> None:
    """Whoever sits at a command line does not call the API."""
    shown = await operate(admin.port, "pauses", "end", "x")

    assert shown.status == 1
    assert shown.err.endswith("`fencegate pauses` lists them.\n")


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
