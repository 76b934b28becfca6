"""The doctor: what makes a store unfit, and that each finding says what to do."""

import time
from pathlib import Path
from typing import Any

import pytest

from gateway.core.check import Check
from gateway.store.doctor import examine
from gateway.store.embedded import find_server
from gateway.store.fence import FenceStore
from tests.store.fences import opened
from tests.store.server import Server


def finding(checks: list[Check], name: str) -> Check:
    (check,) = [check for check in checks if check.name == name]
    assert check.ok or check.what_to_do
    return check


async def test_a_durable_store_is_fit(tmp_path: Path) -> None:
    """An append-only file, no eviction, scripts, a clock that agrees."""
    server = Server(find_server(), tmp_path, "--appendonly", "yes")
    server.start()
    try:
        async with opened(server.url) as store:
            checks = await examine(store.link, wall_ms=round(time.clock_gettime(time.CLOCK_REALTIME) * 1000))
    finally:
        server.kill()

    assert [check.name for check in checks] == [
        *("version", "role", "persistence", "eviction", "flushing", "scripts", "clock"),
    ]
    assert [check.name for check in checks if not check.ok] == []


async def test_a_store_that_keeps_nothing_is_unfit(store: FenceStore) -> None:
    """Epochs that a restart forgets can be used again."""
    assert not finding(await examine(store.link), "persistence").ok


@pytest.mark.parametrize(
    ("option", "value", "usual", "check"),
    [("maxmemory-policy", "allkeys-lru", "noeviction", "eviction"), ("appendfsync", "no", "everysec", "flushing")],
)
async def test_a_setting_that_loses_epochs_is_found(
    store: FenceStore, raw: Any, option: str, value: str, usual: str, check: str
) -> None:
    """Also one that was changed while the store ran."""
    raw.config_set(option, value)
    try:
        assert not finding(await examine(store.link), check).ok
    finally:
        raw.config_set(option, usual)
    assert finding(await examine(store.link), check).ok


async def test_a_clock_that_is_off_is_found(store: FenceStore) -> None:
    """Agents read the ends of leases by their own clocks."""
    assert not finding(await examine(store.link, wall_ms=0), "clock").ok


async def test_a_user_without_rights_is_told_which(store: FenceStore, store_url: str, raw: Any) -> None:
    """Where CONFIG is forbidden the operator has to acknowledge it; where scripts are, nothing works."""
    raw.acl_setuser(
        "narrow", enabled=True, nopass=True, keys=["fg:*"], categories=["+@all"], commands=["-config", "-eval"]
    )
    try:
        async with opened(store_url + "&username=narrow&password=x") as narrow:
            checks = await examine(narrow.link)
    finally:
        raw.acl_deluser("narrow")

    assert "acknowledge" in finding(checks, "flushing").what_to_do
    assert not finding(checks, "flushing").ok
    assert not finding(checks, "scripts").ok


async def test_a_store_that_is_away_is_the_one_finding(tmp_path: Path) -> None:
    """With the reason."""
    server = Server(find_server(), tmp_path)
    server.start()
    async with opened(server.url, timeout_s=0.2) as store:
        server.kill()
        (check,) = await examine(store.link)

    assert (check.name, check.ok) == ("reachable", False)
