"""Who may call the admin listener: whoever has the token."""

from pathlib import Path

import pytest

from gateway.admin.auth import OPEN_PATHS
from gateway.admin.calls import CALLS
from tests.admin.conftest import listening

TOKEN = "0123456789abcdef"
GUARDED = [
    "/api/v1", "/metrics", "/api/v1/resources", "/api/v1/resources/report/7", "/api/v1/intents",
    "/api/v1/intents/3ffabc", "/api/v1/audit", "/api/v1/pauses", "/api/v1/policies",
]  # fmt: skip


@pytest.mark.parametrize("path", GUARDED)
async def test_where_a_token_is_set_it_is_wanted(path: str, store_url: str, tmp_path: Path) -> None:
    """Without the token, or with another, nothing is shown; the answer names the scheme."""
    async with listening(store_url, tmp_path, token=TOKEN) as admin:
        without = await admin.call("GET", path)
        wrong = await admin.call("GET", path, f"Authorization: Bearer {TOKEN}x")
        of_other_scheme = await admin.call("GET", path, f"Authorization: Basic {TOKEN}")

    for answer in (without, wrong, of_other_scheme):
        assert (answer.status, answer.problem["type"]) == (401, "urn:fencegate:unauthenticated")
        assert answer.value("WWW-Authenticate") == "Bearer"


async def test_with_the_token_everything_is_open(store_url: str, tmp_path: Path) -> None:
    """The scheme's name is not case-sensitive."""
    async with listening(store_url, tmp_path, token=TOKEN) as admin:
        assert (await admin.call("GET", "/api/v1/policies", f"Authorization: bearer {TOKEN}")).status == 200


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
async def test_an_orchestrator_needs_no_token(path: str, store_url: str, tmp_path: Path) -> None:
    """Health says whether the gateway serves, and nothing else."""
    async with listening(store_url, tmp_path, token=TOKEN) as admin:
        assert (await admin.call("GET", path)).status == 200


@pytest.mark.parametrize(
    "path",
    ["/console/%2e%2e/auth.py", "/console/..%2f..%2fauth.py", "//api/v1/policies", "/healthz/../api/v1/policies"],
)
async def test_no_spelling_of_a_path_goes_without_the_token(path: str, store_url: str, tmp_path: Path) -> None:
    """What is open is open by its exact path."""
    async with listening(store_url, tmp_path, token=TOKEN) as admin:
        answer = await admin.call("GET", path)

    assert answer.status in (401, 404)
    assert b"policies" not in answer.body.replace(path.encode(), b"")


_WRONG = [(), ("Authorization: Bearer",), ("Authorization: Bearer \xff",), (f"Authorization: {TOKEN}",)]


async def test_every_call_wants_the_token(store_url: str, tmp_path: Path) -> None:
    """Whatever is added later too; one that is no text at all is a wrong one."""
    guarded = [call for call in CALLS if call.route not in OPEN_PATHS]
    async with listening(store_url, tmp_path, token=TOKEN) as admin:
        for call in guarded:
            path = call.path.replace("{resource}", "r").replace("{id}", "x")
            statuses = [(await admin.call(call.method, path, *fields)).status for fields in _WRONG]

            assert statuses == [401] * len(_WRONG), call.path
