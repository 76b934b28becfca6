"""What is said of a service's options before it starts."""

import pytest

from gateway.cli.service import shows_password


@pytest.mark.parametrize(
    ("store", "shown"),
    [
        ("redis://:secret@store:6379", True),
        ("rediss://user:secret@store", True),
        ("redis+sentinel://user:secret@one:1,two:2/fence", True),
        ("unix://:secret@/run/store", True),
        ("redis://store:6379", False),
        ("redis://user@store:6379", False),
        (None, False),
    ],
    ids=["password", "user and password", "sentinels", "socket", "neither", "user", "from elsewhere"],
)
def test_a_password_in_an_option_is_told_of(store: str | None, shown: bool) -> None:
    """Each user of the machine reads command lines; the environment is the process's own."""
    assert shows_password({"store": store}) is shown
