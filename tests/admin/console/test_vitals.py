"""What the console knows of the gateway now, from readings of its metrics."""

from itertools import pairwise

import pytest

from tests.admin.conftest import Admin
from tests.admin.console.browser import browsing

pytestmark = pytest.mark.slow

# Twice at once, as when something is done while the clock asks.
LOOK = """async () => {
  const { look, vitals } = await import("/console/vitals.js");
  for (let at = 0; at < 5; at += 1) await Promise.all([look(), look()]);
  return vitals.history.map((point) => point.at);
}"""
PAUSES = """async (samples) => {
  const { pausesInForce, vitals } = await import("/console/vitals.js");
  vitals.samples = samples && new Map(Object.entries(samples));
  return pausesInForce();
}"""


async def test_readings_of_one_instant_make_no_rate(admin: Admin) -> None:
    """What lies between them is no time, or hardly any: a rate of it would be none, or a huge one."""
    async with browsing(f"http://127.0.0.1:{admin.port}") as page:
        await page.goto("/#/pauses")
        at = await page.evaluate(LOOK)

    assert [later - earlier for earlier, later in pairwise(at) if later - earlier < 500] == []


@pytest.mark.parametrize(
    ("samples", "known"),
    [
        (None, None),
        ({}, None),
        ({"fencegate_pauses": []}, 0),
        ({"fencegate_pauses": [{"labels": {}, "value": 1}, {"labels": {}, "value": 2}]}, 3),
    ],
    ids=["before the first answer", "the store is away", "none", "some"],
)
async def test_what_nobody_knows_is_not_nothing(samples: object, known: int | None, admin: Admin) -> None:
    """While the store is away the metrics do not say how many pauses there are."""
    async with browsing(f"http://127.0.0.1:{admin.port}") as page:
        await page.goto("/#/pauses")
        assert await page.evaluate(PAUSES, samples) == known
