"""The time axis: long silences are folded, everything else keeps its proportions."""

from itertools import pairwise
from typing import Any

import pytest

from tests.admin.conftest import Admin
from tests.admin.console.browser import browsing

pytestmark = pytest.mark.slow

T0 = 1_796_000_000_000
MEASURE = """async ([instants, window, t0, width]) => {
  const { Scale, anchor } = await import("/console/scale.js");
  const scale = new Scale(instants.map((at) => t0 + at), width, window);
  return {
    xs: instants.map((at) => scale.x(t0 + at)), folds: scale.folds().map((fold) => fold.span),
    ticks: scale.ticks().map((tick) => ({ ...tick, anchor: anchor(tick.x, width) })),
    labelled: scale.labelled().map((fold) => (fold.from + fold.to) / 2),
  };
}"""
WHOLE = {"from": 0, "to": 1}


async def measured(admin: Admin, *asked: tuple[list[int], dict[str, float]], width: int = 1000) -> list[Any]:
    async with browsing(f"http://127.0.0.1:{admin.port}") as page:
        await page.goto("/")
        return [await page.evaluate(MEASURE, [instants, window, T0, width]) for instants, window in asked]


async def test_time_keeps_its_proportions(admin: Admin) -> None:
    """Where nothing is much longer than the rest; a window shows its part of the whole."""
    even = [0, 100, 200, 300, 400]
    whole, half = await measured(admin, (even, WHOLE), (even, {"from": 0.25, "to": 0.75}))

    steps = [b - a for a, b in pairwise(whole["xs"])]
    assert whole["folds"] == [] and steps == pytest.approx([steps[0]] * 4)
    assert [b - a for a, b in pairwise(half["xs"])] == pytest.approx([2 * steps[0]] * 4)


async def test_silence_is_folded_and_says_how_long_it_was(admin: Admin) -> None:
    """A night between two stories, or a second before one of milliseconds."""
    night, second = await measured(
        admin, ([0, 10, 20, 30, 40_000_000, 40_000_010], WHOLE), ([0, 1000, 1003, 1006, 1009], WHOLE)
    )

    assert night["folds"] == [39_999_970] and second["folds"] == [1000]
    assert night["xs"] == sorted(night["xs"]) and night["xs"][3] - night["xs"][0] > 500
    assert second["xs"][-1] - second["xs"][1] > 700


@pytest.mark.parametrize("instants", [[], [0], [0, 0], [0, 86_400_000 * 400]], ids=["none", "one", "same", "long"])
async def test_every_trail_has_an_axis(instants: list[int], admin: Admin) -> None:
    """Of nothing, of one instant, of a year."""
    (scale,) = await measured(admin, (instants, WHOLE))

    assert scale["ticks"] and all(0 <= x <= 1000 for x in scale["xs"])


@pytest.mark.parametrize("width", [1000, 300], ids=["desktop", "phone"])
async def test_labels_do_not_touch(admin: Admin, width: int) -> None:
    """However close one looks; at an edge one stands beside its line. Nor do those of silences."""
    story = [0, 7, 19, 5000, 9000, 90_000, 90_005, 170_000, 170_003, 260_000]
    asked = [(story, {"from": 0.3, "to": 0.3 + size}) for size in (0.7, 0.1, 0.01, 0.001)]

    for scale in await measured(admin, *asked, (story, WHOLE), width=width):
        beside = {"start": 0.0, "middle": 0.5, "end": 1.0}
        begins = [tick["x"] - 80 * beside[tick["anchor"]] for tick in scale["ticks"]]
        assert all(b - a > 80 for a, b in pairwise(begins))
        assert all(b - a > 70 for a, b in pairwise(scale["labelled"]))
