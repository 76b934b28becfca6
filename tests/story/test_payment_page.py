"""The commands of policies/PAYMENT.md, as they stand there, against the processes of `fencegate demo`."""

import asyncio
import contextlib
import re
import sys
from asyncio.subprocess import PIPE, STDOUT, Process
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import pytest

from gateway.cli.story.stage import Stage, set_stage
from gateway.settings import environment
from tests.pages import ROOT
from tests.until import until

_PAGE = (ROOT / "policies" / "PAYMENT.md").read_text()
# What no command prints.
_END = "\x1e"


@dataclass(frozen=True, slots=True)
class _Step:
    """A command, and what the page shows of its output: `…` is for what is left out, in a line or as one."""

    command: str
    shown: tuple[str, ...]

    @property
    def only_reads(self) -> bool:
        return self.command.startswith("curl") and " -d " not in self.command

    def is_met_by(self, output: str) -> bool:
        lines = (".*".join(map(re.escape, line.split("…"))) + r"\n" for line in self.shown)
        pattern = "".join(r"(?:.*\n)*?" if line == r".*\n" else line for line in lines)
        return re.fullmatch(pattern, output) is not None


def _steps() -> Iterator[_Step]:
    for block in re.findall(r"^```console\n(.*?)^```$", _PAGE, re.MULTILINE | re.DOTALL):
        for told in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            lines = told.splitlines()
            ends = next(at for at, line in enumerate(lines) if not line.endswith(("\\", "|")))
            yield _Step("\n".join(lines[: ends + 1]), tuple(lines[ends + 1 :]))


@contextlib.asynccontextmanager
async def _shell(directory: Path, stage: Stage) -> AsyncIterator[Process]:
    """A reader's shell, in a checkout whose environment is the one that this runs in."""
    (directory / ".venv").symlink_to(sys.prefix)
    own = {name: value for name, value in environment().items() if not name.startswith("FENCEGATE_")}
    shell = await asyncio.create_subprocess_exec(
        *("bash", "--norc", "-s"),
        stdin=PIPE,
        stdout=PIPE,
        stderr=STDOUT,
        cwd=directory,
        env=own | {"FENCEGATE_ADMIN": stage.admin},
    )
    try:
        yield shell
    finally:
        shell.kill()
        await shell.communicate()


async def _output(shell: Process, command: str) -> str:
    assert shell.stdin is not None
    assert shell.stdout is not None
    # A command that read standard input would take the next one for its own.
    shell.stdin.write(f"{{ {command}\n}} </dev/null; printf '{_END}'\n".encode())
    text = (await shell.stdout.readuntil(_END.encode())).decode().removesuffix(_END).replace("\r", "")
    return text if not text or text.endswith("\n") else text + "\n"


async def _follow(shell: Process, step: _Step, stage: Stage) -> None:
    """What only reads is repeated, as a reader would, until it shows what the page does."""
    at = {"localhost:8080": stage.gateway, "localhost:9000": stage.upstream}
    command = re.sub("|".join(at), lambda found: at[found[0]], step.command)
    heard: list[str] = []

    async def is_over() -> bool:
        heard.append(await _output(shell, command))
        return step.is_met_by(heard[-1]) or not step.only_reads

    with contextlib.suppress(TimeoutError):
        await until(is_over)
    assert step.is_met_by(heard[-1]), f"$ {command}\n{heard[-1]}"


def test_the_demo_serves_the_policy_of_the_library() -> None:
    """What the page says of the one is true of the other."""
    served = resources.files("gateway.cli.story").joinpath("payments.yaml")

    assert served.read_text() == (ROOT / "policies" / "payments.yaml").read_text()


def test_the_story_has_at_most_ten_commands() -> None:
    """Who reads them runs them."""
    assert 0 < len(list(_steps())) <= 10


@pytest.mark.promise("G4")
async def test_a_payment_is_asked_for_approved_delivered_and_taken_back(tmp_path: Path) -> None:
    """Each of the page's commands prints what the page shows below it."""
    with set_stage() as stage:
        async with _shell(tmp_path, stage) as shell:
            for step in _steps():
                await _follow(shell, step, stage)
