"""What shells are told when a command is being typed: by click's scripts, in the shells themselves."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gateway import settings
from gateway.cli import _COMMANDS
from tests.pages import ROOT

PROGRAM = f"""#!{sys.executable}
from gateway.cli import main
main(prog_name="fencegate")
"""
# The completion of the last word, one candidate a line.
ASK = {
    "bash": "source {script}; COMP_WORDS=(fencegate {typed}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); "
    '_fencegate_completion fencegate; printf "%s\\n" "${{COMPREPLY[@]}}"',
    "fish": 'source {script}; complete --do-complete "fencegate {typed}"',
}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A directory with the program, as its installation makes it."""
    program = tmp_path / "fencegate"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    return tmp_path


def run(place: Path, *words: str, **variables: str) -> str:
    environment = settings.environment()
    environment |= {"PATH": f"{place}:{environment['PATH']}", "HOME": str(place)} | variables
    return subprocess.run(words, env=environment, capture_output=True, text=True, check=True, cwd=place).stdout


def script(place: Path, shell: str) -> Path:
    """What `_FENCEGATE_COMPLETE` has the program print for the shell."""
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} (apt-get install {shell})")
    file = place / f"completion.{shell}"
    file.write_text(run(place, "fencegate", _FENCEGATE_COMPLETE=f"{shell}_source"))
    return file


@pytest.mark.parametrize("shell", ["bash", "fish"])
@pytest.mark.parametrize(
    ("typed", "told"),
    [("pau", ["pauses"]), ("pauses e", ["end"]), ("pauses list --j", ["--json"])],
    ids=["a command", "its own command", "its options"],
)
def test_a_shell_completes(place: Path, shell: str, typed: str, told: list[str]) -> None:
    """Commands, theirs, and options."""
    asked = ASK[shell].format(script=script(place, shell), typed=typed)

    candidates = run(place, shell, "-c", asked).splitlines()

    # fish shows the help beside each.
    assert sorted(line.split("\t")[0] for line in candidates) == told


def test_zsh_takes_the_script(place: Path) -> None:
    """Completion itself wants a terminal there; what it is told is three lines for each candidate."""
    run(place, "zsh", "-n", str(script(place, "zsh")))

    told = run(place, "fencegate", COMP_WORDS="fencegate pau", COMP_CWORD="1", _FENCEGATE_COMPLETE="zsh_complete")

    assert told.splitlines()[:3] == ["plain", "pauses", _COMMANDS["pauses"]]


def test_a_file_is_completed_as_the_shell_does(place: Path) -> None:
    """The program leaves it to it."""
    words = "fencegate check pol"
    told = run(place, "fencegate", COMP_WORDS=words, COMP_CWORD="2", _FENCEGATE_COMPLETE="bash_complete")

    assert told == "file,pol\n"


def test_no_command_is_loaded_for_the_list_of_them(place: Path) -> None:
    """A shell asks at the press of a key."""
    asked = (
        "import sys; from gateway.cli import main; asking = main.make_context('f', [], resilient_parsing=True); "
        "print(len(main.shell_complete(asking, '')), 'aiohttp' in sys.modules)"
    )

    assert run(place, sys.executable, "-c", asked, PYTHONPATH=str(ROOT)).split() == [str(len(_COMMANDS)), "False"]
