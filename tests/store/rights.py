"""The user that operators are told to give a gateway: what it may do at the store, and nothing else."""

from pathlib import Path
from typing import Any

FILE = Path(__file__).parents[2] / "deploy" / "store.acl"
_PASSWORD = "CHANGE-ME"


def rights() -> list[str]:
    """The words of the line, from the password on."""
    user, name, *words = FILE.read_text().splitlines()[0].split()
    assert (user, name) == ("user", "fencegate")
    return words


def allow(client: Any, url: str, *without: str) -> str:
    """Make the user, without some of its rights, at a server on a unix socket. Returns the URL with which it comes."""
    words = [word for word in rights() if word.removeprefix("+") not in without]
    client.execute_command("ACL", "SETUSER", "fencegate", "reset", *words)
    return url.replace("unix://", f"unix://fencegate:{_PASSWORD}@")
