"""What the admin API refuses, as the commands tell it."""

from tests.admin.conftest import Admin
from tests.cli.operating import operate


async def test_a_refusal_names_commands_and_no_calls(admin: Admin) -> None:
    """Whoever sits at a command line does not call the API."""
    shown = await operate(admin.port, "pauses", "end", "x")

    assert shown.status == 1
    assert shown.err.endswith("`fencegate pauses` lists them.\n")
