"""Commands against a running gateway: in a thread, since they block; on a terminal in a process of their own."""

import asyncio
import contextlib
import os
import pty
import sys
from dataclasses import dataclass
from functools import partial

from click.testing import CliRunner

from gateway import settings
from gateway.cli import main

TOKEN = "0123456789abcdef"


@dataclass
class Ended:
    """A command that has ended."""

    status: int
    out: str
    err: str


async def operate(port: int, *arguments: str, token: str = TOKEN) -> Ended:
    """Run `fencegate ARGUMENTS` without a terminal. One at a time: the streams are the whole process's."""
    words = [*arguments, *_at(port)]
    run = partial(CliRunner().invoke, main, words, env=_token(token), catch_exceptions=False, prog_name="fencegate")
    ended = await asyncio.to_thread(run)
    return Ended(ended.exit_code, ended.stdout, ended.stderr)


async def operate_on_terminal(port: int, *arguments: str, typed: bytes) -> Ended:
    """Run it with a person at its standard input, who types this."""
    master, slave = pty.openpty()
    try:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "gateway", *arguments, *_at(port)),
            stdin=slave,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=settings.environment() | _token(TOKEN),
        )
        os.write(master, typed)
        out, err = await process.communicate()
    finally:
        for descriptor in (master, slave):
            with contextlib.suppress(OSError):
                os.close(descriptor)
    assert process.returncode is not None
    return Ended(process.returncode, out.decode(), err.decode())


def _at(port: int) -> tuple[str, str]:
    return "--admin", f"127.0.0.1:{port}"


def _token(token: str) -> dict[str, str]:
    return {"FENCEGATE_ADMIN_TOKEN": token}
