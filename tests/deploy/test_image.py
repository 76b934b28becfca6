"""The image, as far as it can be told without a container engine: what goes in, who runs it, and its health check."""

import asyncio
import json
import re
import shlex
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest

from gateway.settings import read_serve_settings
from tests.deploy.balancing import free_port
from tests.pages import ROOT
from tests.recording import RecordingUpstream, answering

# A comment may stand within an instruction.
_LINES = [
    line for line in (ROOT / "deploy" / "Dockerfile").read_text().splitlines() if not line.strip().startswith("#")
]
INSTRUCTIONS = "\n".join(_LINES).replace("\\\n", " ").splitlines()
UP = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
DOWN = b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n"


def instructions(name: str) -> list[str]:
    """What stands behind each instruction of that name."""
    return [line.split(None, 1)[1] for line in INSTRUCTIONS if line.startswith(f"{name} ")]


def ignored() -> list[str]:
    """The exceptions of .dockerignore, which begins with all there is."""
    lines = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and line[0] != "#"]
    assert lines[0] == "*"
    return [line[1:] for line in lines if line[0] == "!"]


def test_all_that_is_copied_is_sent_to_the_builder() -> None:
    """And nothing else is."""
    copied = [word for words in instructions("COPY") if "--from" not in words for word in words.split()[:-1]]

    assert sorted(copied) == sorted(ignored())
    assert all((ROOT / name).exists() for name in copied)


def test_what_the_package_is_built_of_is_copied() -> None:
    """Whatever pyproject.toml names, the build would end without."""
    text = (ROOT / "pyproject.toml").read_text()
    named = re.findall(r'^(?:readme|license-files) = \[?"([^"]+)"', text, re.MULTILINE)

    assert named
    assert all(any(fnmatch(name, kept) for kept in ignored()) for name in named)


def test_what_the_package_links_to_is_copied() -> None:
    """A link to a file that is not there ends the build too."""
    links = [path for path in (ROOT / "gateway").rglob("*") if path.is_symlink()]

    assert links
    assert {path.resolve().relative_to(ROOT).parts[0] for path in links} <= set(ignored())


def test_it_does_not_run_as_root() -> None:
    """By number, which an orchestrator can compare."""
    (user,) = instructions("USER")

    assert all(part.isdigit() and int(part) >= 10_000 for part in user.split(":"))


def test_its_environment_is_of_settings() -> None:
    """A misspelled variable would be passed over in silence."""
    (words,) = instructions("ENV")
    variables = dict(word.split("=", 1) for word in shlex.split(words))
    settings = {name.removeprefix("FENCEGATE_").lower(): value for name, value in variables.items() if name[:2] == "FE"}

    read = read_serve_settings({**settings, "admin_token": "sixteen-letters-"})

    assert (str(read.listen), str(read.admin)) == ("0.0.0.0:8080", "0.0.0.0:8081")
    assert set(settings) <= set(type(read).model_fields)


@pytest.mark.parametrize(
    ("answer", "status"), [(UP, 0), (DOWN, 1), (None, 1)], ids=["lives", "fails", "does not listen"]
)
async def test_the_health_check_tells_whether_it_lives(answer: bytes | None, status: int) -> None:
    """By its exit status, which is 0 or 1."""
    (check,) = instructions("HEALTHCHECK")
    program, *arguments = json.loads(check[check.index("CMD ") + 4 :])
    async with RecordingUpstream(answer=answering(answer or b"")) as admin:
        port = admin.port if answer else free_port()
        words = [word.replace(":8081", f":{port}") for word in arguments]
        process = await asyncio.create_subprocess_exec(sys.executable, *words, stderr=asyncio.subprocess.DEVNULL)

        assert (program, await process.wait()) == ("python", status)
        assert [seen.line for seen in admin.seen] == (["GET /healthz HTTP/1.1"] if answer else [])


def test_the_sample_of_the_composition_is_the_image_s_own() -> None:
    """Nothing is fetched for it."""
    assert Path(ROOT / "deploy" / "compose.yaml").read_text().count("image: fencegate\n") == 2
