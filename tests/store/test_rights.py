"""A user with few rights: what the one in `deploy` may do is enough, and what another lacks is found in time."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gateway.store.condition import diagnose
from gateway.store.doctor import examine
from gateway.store.durability import PROCESS, Durability
from gateway.store.fence import FenceStore
from gateway.store.rights import called, missing_rights
from gateway.store.views.resource_views import resources
from tests.store.fences import bare, ended, opened
from tests.store.rights import FILE, allow, rights
from tests.store.server import Server

_REDIS = shutil.which("redis-server")


@pytest.fixture
def users(raw: Any) -> Iterator[Any]:
    """A client that makes users, which end with the test."""
    yield raw
    raw.acl_deluser("fencegate")


async def works(store: FenceStore) -> bool:
    await ended(store, bare(42), "applied")
    await store.ping()
    return await store.revision(bare(42).resource) == 0


def test_the_users_rights_are_those_that_scripts_need() -> None:
    """Each command that a script calls is among them, and keys and channels begin as ours do."""
    assert {f"+{name.lower()}" for name in called()} <= set(rights())
    assert [word for word in rights() if word[0] in "~&"] == ["~fg:*", "&fg:*"]
    assert not [word for word in rights() if word.startswith("+@")]


@pytest.mark.parametrize(
    "without",
    [(), ("fcall", "function|load"), ("fcall",), ("function|load",), ("config|get", "wait", "role")],
    ids=["all of it", "no functions", "functions are not called", "functions are not loaded", "no settings"],
)
async def test_the_user_writes(users: Any, store_server: Server, without: tuple[str, ...]) -> None:
    """With functions and without."""
    users.function_flush()
    async with opened(allow(users, store_server.url, *without)) as store:
        assert await works(store)
        assert await works(store)


async def test_the_user_is_fit_for_the_doctor(users: Any, store_server: Server) -> None:
    """Nothing is missing that it would tell."""
    async with opened(allow(users, store_server.url)) as store:
        checks = [*(await examine(store.link)), *(await diagnose(store.link, PROCESS))]

    told = {check.name: check for check in checks}
    assert told["scripts"].ok and told["flushing"].ok
    assert (told["functions"].saw, told["functions"].what_to_do) == ("allowed", "")


async def test_the_wait_that_a_durability_needs_has_to_be_allowed(users: Any, store_server: Server) -> None:
    """The oldest Redis does not know `WAITAOF`, so that the line for the user cannot name it; without it, no write."""
    url = allow(users, store_server.url, "wait")
    users.config_set("appendonly", "yes")
    users.config_set("appendfsync", "always")
    try:
        async with opened(url) as store:
            found = [check for check in await examine(store.link, durability=Durability(disk=True)) if not check.ok]
            users.execute_command("ACL", "SETUSER", "fencegate", "+waitaof")
            allowed = [check for check in await examine(store.link, durability=Durability(disk=True)) if not check.ok]
    finally:
        users.config_set("appendonly", "no")
        users.config_set("appendfsync", "everysec")

    assert [(check.name, check.what_to_do) for check in found] == [("durability", "Allow WAITAOF to this user.")]
    assert "NOPERM" in found[0].saw and allowed == []


@pytest.mark.skipif(_REDIS is None, reason="there is no redis-server on PATH")
async def test_a_server_with_the_file_keeps_what_scripts_wrote(tmp_path: Path) -> None:
    """A word that it does not know would end its start; and Redis reads it back with the rights of `default`."""
    assert _REDIS is not None
    server = Server(_REDIS, tmp_path, "--aclfile", str(FILE), "--appendonly", "yes", "--save", "")
    for _ in range(2):
        server.start()
        try:
            async with opened(server.url.replace("unix://", "unix://fencegate:CHANGE-ME@")) as store:
                known = [record.resource for record in (await resources(store, "", None)).items]
                assert await works(store)
                [users] = [check for check in await diagnose(store.link, PROCESS) if check.name == "users"]
        finally:
            server.kill()

    assert known == [bare(42).resource]
    assert "user default off ~* &* +@all" in users.what_to_do


@pytest.mark.skipif(_REDIS is None, reason="there is no redis-server on PATH")
@pytest.mark.parametrize(
    ("rights_of_default", "is_ok"), [("off ~* &* +@all", True), ("off", False), ("on >x ~a +get", False)]
)
async def test_what_default_lacks_is_found_where_it_may_be_seen(
    tmp_path: Path, rights_of_default: str, is_ok: bool
) -> None:
    """By a user who may ask: a Redis of this kind forgets what scripts wrote at its next restart."""
    assert _REDIS is not None
    users = tmp_path / "users.acl"
    users.write_text(f"user admin on >secret ~* &* +@all\nuser default {rights_of_default}\n")
    server = Server(_REDIS, tmp_path, "--aclfile", str(users), "--save", "")
    server.start()
    try:
        async with opened(server.url.replace("unix://", "unix://admin:secret@")) as store:
            [told] = [check for check in await diagnose(store.link, PROCESS) if check.name == "users"]
    finally:
        server.kill()

    assert (told.ok, bool(told.what_to_do)) == (is_ok, not is_ok)


async def test_a_right_that_scripts_lack_is_named(users: Any, store_server: Server) -> None:
    """A script would stop half way for want of it."""
    async with opened(allow(users, store_server.url, "xadd", "publish")) as store:
        (scripts,) = [check for check in await examine(store.link) if check.name == "scripts"]

        assert await missing_rights(store.link.servers[0]) == ["PUBLISH", "XADD"]
    assert (scripts.ok, scripts.saw) == (False, "not allowed in them: PUBLISH, XADD")
    assert "deploy/store.acl" in scripts.what_to_do
