"""`fencegate budgets` against a running gateway."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.store.budgets import reserve
from tests.admin.conftest import Admin, listening
from tests.admin.test_budgets import POLICY
from tests.cli.operating import TOKEN, operate
from tests.stack import rules_from
from tests.store.fences import bare


@pytest.fixture
async def paying(store_url: str, tmp_path: Path) -> AsyncIterator[Admin]:
    async with listening(store_url, tmp_path, token=TOKEN, policy=POLICY) as admin:
        yield admin


async def test_what_is_used_is_listed(paying: Admin, tmp_path: Path) -> None:
    """One line each, with how much there is at most."""
    assert (await operate(paying.port, "budgets")).out == "Nothing is used of any budget.\n"
    [pay, tell] = [entry.rule for entry in rules_from(tmp_path / "own", POLICY).entries]
    for rule, cost in ((pay, 2_500_000), (tell, 0)):
        write = replace(bare(1, of=rule), costs=(cost,))
        assert await reserve(paying.store, write, paying.store.new_ticket(write.resource)) is None

    head, paid, told = (await operate(paying.port, "budgets")).out.splitlines()

    assert head.split() == ["RULE", "PER", "BY", "WITHIN", "COUNT", "TOTAL", "OLDEST", "LEAVES"]
    assert "  ".join(paid.split()[:-1]) == "pay/pay  resource  report/7  1h  1  of  200  2.5  of  100"
    assert told.split()[:3] == ["pay/tell", "holder", "A"]
    assert [
        one["rule"] for one in json.loads((await operate(paying.port, "budgets", "--rule", "tell", "--json")).out)
    ] == ["tell"]
