"""How the console's page and files are served: to anybody, under a policy that lets nothing else run."""

from pathlib import Path

import pytest

from gateway.admin.console.asset import load_assets
from tests.admin.conftest import Admin, listening
from tests.raw import RawAnswer, ask

POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "connect-src": "'self'",
    "img-src": "'self' data:",
    "frame-ancestors": "'none'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "require-trusted-types-for": "'script'",
    "trusted-types": "'none'",
}
FILES = sorted(load_assets())


async def get(port: int, path: str, *fields: str, method: str = "GET") -> RawAnswer:
    """As a browser asks: without a type, and here without a token."""
    return await ask(port, method, path, *fields, host="localhost")


async def test_the_page_is_at_the_root(admin: Admin) -> None:
    """As HTML in UTF-8."""
    answer = await get(admin.port, "/")

    assert (answer.status, answer.value("Content-Type")) == (200, "text/html; charset=utf-8")
    assert answer.body == load_assets()["index.html"].body


async def test_every_file_is_served_as_it_is(admin: Admin) -> None:
    """Byte for byte, under its type."""
    for name, asset in load_assets().items():
        answer = await get(admin.port, f"/console/{name}")

        assert (answer.status, answer.body) == (200, asset.body)
        assert answer.value("Content-Type") == f"{asset.media}; charset=utf-8"


@pytest.mark.parametrize("path", ["/", "/console/console.js", "/console/base.css", "/console/fencegate.svg"])
async def test_nothing_else_runs_and_nobody_frames_it(path: str, admin: Admin) -> None:
    """The policy, and what older browsers know instead of it."""
    answer = await get(admin.port, path)

    (policy,) = answer.values("Content-Security-Policy")
    assert dict(part.strip().split(" ", 1) for part in policy.split(";")) == POLICY
    assert answer.value("X-Content-Type-Options") == "nosniff"
    assert answer.value("X-Frame-Options") == "DENY"
    assert answer.value("Referrer-Policy") == "no-referrer"
    assert answer.value("Cross-Origin-Opener-Policy") == "same-origin"
    assert answer.value("Cross-Origin-Resource-Policy") == "same-origin"
    assert answer.value("Set-Cookie") is None


async def test_a_file_that_is_known_is_not_sent_again(admin: Admin) -> None:
    """It is asked for each time; another one's tag, and none, bring it whole."""
    first = await get(admin.port, "/console/api.js")
    tag = first.value("ETag")
    again = await get(admin.port, "/console/api.js", f'If-None-Match: "x", {tag}')
    other = await get(admin.port, "/console/api.js", 'If-None-Match: "x"')

    assert first.value("Cache-Control") == "no-cache"
    assert (again.status, again.body, again.value("ETag")) == (304, b"", tag)
    assert again.value("Content-Security-Policy") == first.value("Content-Security-Policy")
    assert (other.status, other.body) == (200, first.body)


@pytest.mark.parametrize(
    "path",
    [
        "/console/nothing.js",
        "/console/..%2fasset.py",
        "/console/%2e%2e%2fasset.py",
        "/console/../../../settings.py",
        "/console/%2fetc%2fpasswd",
        "/console/..%5casset.py",
        "/console/api.js%00.css",
        "/console/API.JS",
        "/console/static/api.js",
        "/console/__init__.py",
        "/console/",
        "/console",
    ],
)
async def test_no_path_leads_anywhere_else(path: str, admin: Admin) -> None:
    """Files are those of a table; a path is never opened."""
    answer = await get(admin.port, path)

    assert (answer.status, answer.problem["type"]) == (404, "urn:fencegate:not-found")


async def test_the_console_needs_no_token(store_url: str, tmp_path: Path) -> None:
    """It asks for it; it has nothing to show without."""
    async with listening(store_url, tmp_path, token="0123456789abcdef") as admin:
        answers = [await get(admin.port, path) for path in ("/", *(f"/console/{name}" for name in FILES))]
        beside = [await get(admin.port, path) for path in ("/api/v1", "/metrics", "/console", "/console/x/y")]

    assert {answer.status for answer in answers} == {200}
    assert {answer.status for answer in beside} == {401}


async def test_a_name_that_was_rebound_gets_no_console(admin: Admin) -> None:
    """The page would call the API for its operator."""
    assert (await ask(admin.port, "GET", "/", host="evil.example")).status == 403


async def test_the_console_is_only_read(admin: Admin) -> None:
    """HEAD is answered where GET is."""
    assert (await get(admin.port, "/", method="HEAD")).status == 200
    assert (await get(admin.port, "/console/api.js", method="DELETE")).status == 405
