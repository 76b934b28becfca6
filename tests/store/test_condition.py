"""What is worth knowing of a store before it hurts."""

from typing import Any

import pytest

from gateway.core.check import Check
from gateway.store.condition import diagnose
from gateway.store.durability import PROCESS, Durability
from gateway.store.fence import FenceStore
from tests.store.fences import opened
from tests.store.replicas import Replicated


async def told(store: FenceStore, name: str, durability: Durability = PROCESS) -> Check:
    (check,) = [check for check in await diagnose(store.link, durability) if check.name == name]
    assert check.ok
    return check


async def test_each_is_told_in_one_line(store: FenceStore) -> None:
    """In this order, and none of it makes the store unfit."""
    checks = await diagnose(store.link, PROCESS)

    assert [check.name for check in checks] == ["replicas", "functions", "users", "memory", "latency"]
    assert all(check.ok for check in checks)


@pytest.mark.parametrize(
    ("most", "saw", "todo"),
    [
        ("0", "no maxmemory; its machine has", "Set maxmemory"),
        ("1gb", "of 1024 MiB used", ""),
        ("1", "of 0 MiB used", "Raise maxmemory"),
    ],
    ids=["unbounded", "roomy", "full"],
)
async def test_room_is_told_before_it_runs_out(store: FenceStore, raw: Any, most: str, saw: str, todo: str) -> None:
    """A store without a bound is killed with its machine's memory; one that is full refuses writes."""
    raw.config_set("maxmemory", most)
    try:
        check = await told(store, "memory")
    finally:
        raw.config_set("maxmemory", "0")

    assert saw in check.saw
    assert check.what_to_do.startswith(todo)
    assert bool(check.what_to_do) == bool(todo)


async def test_rights_that_would_save_time_are_named(store: FenceStore, store_url: str, raw: Any) -> None:
    """Without them scripts are run, which a user may not know."""
    assert (await told(store, "functions")).what_to_do == ""
    raw.acl_setuser(
        "plain", enabled=True, nopass=True, keys=["fg:*"], categories=["+@all"], commands=["-fcall", "-function"]
    )
    try:
        async with opened(store_url + "&username=plain&password=x") as plain:
            check = await told(plain, "functions")
    finally:
        raw.acl_deluser("plain")

    assert check.saw.startswith("not allowed: FCALL, FUNCTION LOAD")
    assert "Allow" in check.what_to_do


async def test_a_store_that_answers_slowly_is_told_so(store: FenceStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the median: one slow answer says nothing."""
    # Each ping is timed at its beginning and at its end.
    clock = iter(range(100))
    monkeypatch.setattr("gateway.store.condition.time.perf_counter", lambda: next(clock) / 100)
    check = await told(store, "latency")

    assert check.saw == "10.00 ms (median of 9)"
    assert check.what_to_do.startswith("Bring the store nearer")


async def test_a_store_that_is_away_yields_nothing(store: FenceStore) -> None:
    """The doctor's other checks say that."""
    await store.link.close()

    assert await diagnose(store.link, PROCESS) == []


@pytest.mark.parametrize(
    ("durability", "least", "todo"),
    [
        pytest.param(PROCESS, "0", "Start gateways with --durability replica:N", id="nobody waits for them"),
        pytest.param(Durability(replicas=1), "0", "Set min-replicas-to-write 1", id="a primary alone would go on"),
        pytest.param(Durability(replicas=1), "1", "", id="as it should be"),
    ],
)
async def test_replicas_are_told_with_what_is_expected_of_them(
    pair: Replicated, durability: Durability, least: str, todo: str
) -> None:
    """How many there are, how far behind, and whether anybody waits for them."""
    pair.primary.ask("CONFIG", "SET", "min-replicas-to-write", least)
    try:
        async with opened(pair.url) as store:
            check = await told(store, "replicas", durability)
    finally:
        pair.primary.ask("CONFIG", "SET", "min-replicas-to-write", "0")

    assert check.saw.startswith("1 online, the slowest ")
    assert check.saw.endswith(f"min-replicas-to-write {least}")
    assert check.what_to_do.startswith(todo)
    assert bool(check.what_to_do) == bool(todo)
