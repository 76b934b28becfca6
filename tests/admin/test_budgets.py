"""What is used of the rules' budgets, as operators are shown it."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gateway.core.rule import Rule
from gateway.core.write import ResourceKey
from gateway.store.budgets import reserve
from tests.admin.conftest import Admin, listening
from tests.stack import rules_from
from tests.store.fences import bare

POLICY = """
upstream: pay
url: http://localhost:9
writes:
  - name: pay
    match: POST /payments/{id}
    resource: account/{path.id}
    budget: [{per: resource, window: 1h, count: 200, value: json:/amount, total: 100}]
  - name: tell
    match: POST /told/{id}
    resource: told/{path.id}
    budget: [{per: holder, window: 1d, count: 3}]
"""


@pytest.fixture
async def paying(store_url: str, tmp_path: Path) -> AsyncIterator[Admin]:
    async with listening(store_url, tmp_path, policy=POLICY) as admin:
        yield admin


@pytest.fixture
def rules(tmp_path: Path) -> dict[str, Rule]:
    return {entry.rule.name: entry.rule for entry in rules_from(tmp_path / "own", POLICY).entries}


async def spend(admin: Admin, rule: Rule, cost: int = 0, resource: str = "account/1", holder: str = "A") -> None:
    write = replace(bare(1, holder, rule), resource=ResourceKey(resource), costs=(cost,))
    assert await reserve(admin.store, write, admin.store.new_ticket(write.resource)) is None


async def listed(admin: Admin, query: str = "") -> tuple[list[dict[str, Any]], str | None]:
    found = json.loads((await admin.call("GET", f"/api/v1/budgets{query}")).body)
    return found["items"], found["next"]


async def test_the_metrics_tell_how_full_each_budget_is(paying: Admin, rules: dict[str, Rule]) -> None:
    """By whoever has used most of it, in the policy's own units, and not by whom; of one that nobody uses too."""
    await spend(paying, rules["pay"], 12_500_000)
    await spend(paying, rules["pay"], 1, "account/2")
    await spend(paying, rules["pay"], 1, "account/2")

    shown = (await paying.call("GET", "/metrics")).body.decode().splitlines()

    pay, tell = "resource 3600s json:/amount", "holder 86400s"
    assert sorted(line for line in shown if line.startswith("fencegate_budget")) == [
        f'fencegate_budget_limit{{budget="{tell}",rule="tell",upstream="pay",what="writes"}} 3.0',
        f'fencegate_budget_limit{{budget="{pay}",rule="pay",upstream="pay",what="total"}} 100.0',
        f'fencegate_budget_limit{{budget="{pay}",rule="pay",upstream="pay",what="writes"}} 200.0',
        f'fencegate_budget_used{{budget="{tell}",rule="tell",upstream="pay",what="writes"}} 0.0',
        f'fencegate_budget_used{{budget="{pay}",rule="pay",upstream="pay",what="total"}} 12.5',
        f'fencegate_budget_used{{budget="{pay}",rule="pay",upstream="pay",what="writes"}} 2.0',
    ]


async def test_what_is_used_is_listed(paying: Admin, rules: dict[str, Rule]) -> None:
    """Rule by rule, what was used last first, with the limits that are in force."""
    assert await listed(paying) == ([], None)
    await spend(paying, rules["pay"], 12_500_000)
    await spend(paying, rules["pay"], 1, "account/2")
    await spend(paying, rules["pay"], 1, "account/2")
    await spend(paying, rules["tell"], holder="b é")

    items, more = await listed(paying)

    assert more is None
    assert [(item["rule"], item["by"], item["count"], item["total"]) for item in items] == [
        ("pay", "account/2", 2, "0.000002"),
        ("pay", "account/1", 1, "12.5"),
        ("tell", "b é", 1, None),
    ]
    first = items[0]
    assert (first["upstream"], first["per"], first["window_s"], first["value"]) == (
        "pay",
        "resource",
        3600,
        "json:/amount",
    )
    assert (first["count_limit"], first["total_limit"]) == (200, "100")
    assert first["oldest_leaves_at"].endswith("Z")


async def test_a_list_can_be_of_one_rule(paying: Admin, rules: dict[str, Rule]) -> None:
    """Or of one upstream's; of a name that nobody has it is empty."""
    await spend(paying, rules["pay"])
    await spend(paying, rules["tell"])

    assert [item["rule"] for item in (await listed(paying, "?rule=tell"))[0]] == ["tell"]
    assert len((await listed(paying, "?upstream=pay"))[0]) == 2
    assert await listed(paying, "?upstream=other") == ([], None)


async def test_a_long_list_goes_on(paying: Admin, rules: dict[str, Rule]) -> None:
    """A hundred a page; every one is there once."""
    for at in range(120):
        await spend(paying, rules["pay"], 1, f"account/{at}")
    await spend(paying, rules["tell"])

    first, cursor = await listed(paying)
    second, end = await listed(paying, f"?cursor={cursor}")

    assert (len(first), end) == (100, None)
    assert {item["by"] for item in first + second} == {f"account/{at}" for at in range(120)} | {"A"}


@pytest.mark.parametrize(
    "query", ["?cursor=x", "?cursor=9.0", "?cursor=0.-1", "?cursor=0.99999999999999999", "?per=tenant"]
)
async def test_a_slip_in_the_query_is_refused(paying: Admin, query: str) -> None:
    """Passed over, it would answer another question."""
    answer = await paying.call("GET", f"/api/v1/budgets{query}")

    assert (answer.status, answer.problem["type"]) == (400, "urn:fencegate:bad-request")


async def test_what_has_left_its_window_is_not_shown(paying: Admin, rules: dict[str, Rule], raw: Any) -> None:
    """It counts no longer."""
    await spend(paying, rules["tell"])
    for key in raw.keys("fg:{$*}:b:*"):
        for id in raw.zrange(key, 0, -1):
            raw.zadd(key, {id: 1})

    assert await listed(paying) == ([], None)
