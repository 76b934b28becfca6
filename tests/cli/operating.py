"""Commands against a running gateway, each in a process of its own: they block."""

import asyncio
import contextlib
import os
import pty
import sys
from dataclasses import dataclass

from gateway import settings

TOKEN = "0123456789abcdef"


@dataclass
class Ended:
    """A command that has ended."""

    status: int
    out: str
    err: str


async def operate(port: int, *arguments: str, token: str = TOKEN) -> Ended:
    """Run `fencegate ARGUMENTS` without a terminal."""
    process = await asyncio.create_subprocess_exec(
        *_command(port, arguments),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=_environment(token),
    )
    out, err = await process.communicate()
    assert process.returncode is not None
    return Ended(process.returncode, out.decode(), err.decode())


async def operate_on_terminal(port: int, *arguments: str, typed: bytes) -> Ended:
    """Run it with a person at its standard input, who types this."""
    master, slave = pty.openpty()
    try:
        process = await asyncio.create_subprocess_exec(
            *_command(port, arguments),
            stdin=slave,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=_environment(TOKEN),
        )
        os.write(master, typed)
        out, err = await process.communicate()
    finally:
        for descriptor in (master, slave):
            with contextlib.suppress(OSError):
                os.close(descriptor)
    assert process.returncode is not None
    return Ended(process.returncode, out.decode(), err.decode())


def _command(port: int, arguments: tuple[str, ...]) -> list[str]:
    return [sys.executable, "-m", "gateway", *arguments, "--admin", f"127.0.0.1:{port}"]


def _environment(token: str) -> dict[str, str]:
    return settings.environment() | {"FENCEGATE_ADMIN_TOKEN": token}
