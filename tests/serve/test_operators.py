"""The operators' listener, on an address of its own."""

import socket
from contextlib import AsyncExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from gateway.admin.running import Running
from gateway.log import Log
from gateway.serve.operators import listen_for_operators
from gateway.serve.starting import StartRefused, open_policies
from gateway.settings import read_serve_settings
from tests.gateway_process import write_policy
from tests.raw import ask


def running(directory: Path) -> Running:
    """As much of a gateway as its listener asks before it knows the call."""
    holder = open_policies(write_policy(directory, 9))
    return cast(Running, SimpleNamespace(rules=lambda: holder.current))


async def test_it_listens_until_the_gateway_ends(tmp_path: Path) -> None:
    """On the address that the system chose; nothing of it is left open."""
    settings = read_serve_settings({"policies": "policies", "admin": "127.0.0.1:0"})
    async with AsyncExitStack() as ending:
        address, _ = await listen_for_operators(running(tmp_path), settings, Log(level="error"), ending)
        answer = await ask(address.port, "GET", "/healthz")

    assert (address.host, answer.status) == ("127.0.0.1", 200)
    with pytest.raises(ConnectionRefusedError):
        await ask(address.port, "GET", "/healthz")


async def test_an_address_that_is_taken_names_its_option(tmp_path: Path) -> None:
    """The other listener's message names another one."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        place = f"127.0.0.1:{taken.getsockname()[1]}"
        settings = read_serve_settings({"policies": "policies", "admin": place})
        async with AsyncExitStack() as ending:
            with pytest.raises(StartRefused, match=rf"^--admin {place} cannot be listened on: "):
                await listen_for_operators(running(tmp_path), settings, Log(level="error"), ending)
