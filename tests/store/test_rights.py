"""A user with few rights: what the one in `deploy` may do is enough, and what another lacks is found in time."""

from collections.abc import Iterator
from typing import Any

import pytest

from gateway.store.condition import diagnose
from gateway.store.doctor import examine
from gateway.store.durability import PROCESS
from gateway.store.fence import FenceStore
from gateway.store.rights import called, missing_rights
from tests.store.fences import bare, ended, opened
from tests.store.rights import allow, rights
from tests.store.server import Server


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
    [(), ("fcall", "function|load"), ("fcall",), ("function|load",), ("config|get", "wait", "waitaof", "role")],
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


async def test_a_right_that_scripts_lack_is_named(users: Any, store_server: Server) -> None:
    """A script would stop half way for want of it."""
    async with opened(allow(users, store_server.url, "xadd", "publish")) as store:
        (scripts,) = [check for check in await examine(store.link) if check.name == "scripts"]

        assert await missing_rights(store.link.servers[0]) == ["PUBLISH", "XADD"]
    assert (scripts.ok, scripts.saw) == (False, "not allowed in them: PUBLISH, XADD")
    assert "deploy/store.acl" in scripts.what_to_do
