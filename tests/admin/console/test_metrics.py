"""Metrics read in the browser: as the gateway writes them, and what two readings say."""

import pytest

from tests.admin.conftest import Admin
from tests.admin.console.browser import browsing

pytestmark = pytest.mark.slow

READ = """async ([before, after]) => {
  const { quantile, readMetrics, total, totals } = await import("/console/metrics.js");
  const [first, second] = [readMetrics(before), readMetrics(after)];
  return {
    up: total(second, "up"), by: [...totals(second, "asked_total", "rule")],
    median: quantile(first, second, "took", 0.5), most: quantile(first, second, "took", 0.99),
    none: quantile(second, second, "took", 0.5), absent: quantile(first, second, "nothing", 0.5),
  };
}"""
BEFORE = """# HELP up Whether.
up 1.0
took_bucket{le="0.01"} 10.0
took_bucket{le="0.1"} 10.0
took_bucket{le="+Inf"} 10.0
"""
AFTER = """up 1.0
asked_total{decision="a",rule="x"} 2.0
asked_total{decision="b",rule="x"} 1e+03
asked_total{decision="a",rule="with \\"quotes\\", a \\\\ and \\n"} 5.0
took_bucket{le="0.01"} 10.0
took_bucket{le="0.1"} 20.0
took_bucket{le="+Inf"} 20.0
"""


async def test_readings_are_compared(admin: Admin) -> None:
    """Sums by label, and quantiles of what came between, within a bucket; nothing where nothing came."""
    async with browsing(f"http://127.0.0.1:{admin.port}") as page:
        await page.goto("/")
        read = await page.evaluate(READ, [BEFORE, AFTER])

    assert (read["up"], read["by"]) == (1, [["x", 1002], ['with "quotes", a \\ and \n', 5]])
    assert read["median"] == pytest.approx(0.055) and 0.09 < read["most"] < 0.1
    assert (read["none"], read["absent"]) == (None, None)


async def test_the_listeners_own_metrics_are_read(admin: Admin) -> None:
    """A gateway that was started a moment ago has its store and no request."""
    async with browsing(f"http://127.0.0.1:{admin.port}") as page:
        await page.goto("/")
        await page.wait_for_selector(".pulse.up")
        text = await page.evaluate("() => fetch('/metrics').then((answer) => answer.text())")
        read = await page.evaluate(READ, ["", text])

    assert read["by"] == []
