"""The story that the timeline draws, made of steps: by the console's own module, in a browser."""

from pathlib import Path
from typing import Any

import pytest

from tests.admin.conftest import Admin, listening
from tests.admin.console.browser import browsing

pytestmark = pytest.mark.slow

Json = dict[str, Any]
T0 = 1_796_000_000_000


def step(number: int, ms: int, before: str | None, after: str, **about: object) -> Json:
    told = {"number": number, "ms": ms, "from": before, "to": after, "intent": "i", "epoch": "7", "holder": "a"}
    return told | {"reason": "r", "rule": "w", "by": "g"} | about


def write(number: int, ms: int, intent: str, epoch: str = "7", outcome: str = "applied") -> list[Json]:
    return [
        step(number, ms, None, "in_flight", intent=intent, epoch=epoch),
        step(number + 1, ms + 10, "in_flight", outcome, intent=intent, epoch=epoch),
    ]


# Tells a story with lengths since T0, so that it can be compared.
TELL = """async ([steps, epoch, now, t0]) => {
  const { tell } = await import("/console/story.js");
  const events = steps.map((step) => ({ ...step, at: new Date(t0 + step.ms).toISOString() }));
  const since = (ms) => (ms === null || ms === undefined ? null : ms - t0);
  const story = tell(events, { epoch, holder: null, lease: null }, t0 + now);
  return {
    lanes: story.lanes.map((lane) => ({
      epoch: lane.epoch, begin: since(lane.begin), end: since(lane.end), rows: lane.rows,
      leases: lane.leases.map((lease) => [since(lease.from), since(lease.to)]),
      marks: lane.marks.map((mark) => [since(mark.at), mark.kind]),
      threads: lane.threads.map((thread) => ({
        row: thread.row,
        stretches: thread.stretches.map((each) => [since(each.from), since(each.to), each.state, each.outcome]),
        marks: thread.marks.map((mark) => [since(mark.at), mark.kind]),
      })),
    })),
    pauses: story.pauses.map((pause) => [since(pause.from), since(pause.to)]),
    from: since(story.from), to: since(story.to),
  };
}"""


async def tell(store_url: str, directory: Path, steps: list[Json], *, epoch: str = "7", now: int = 1000) -> Json:
    async with listening(store_url, directory) as admin, browsing(f"http://127.0.0.1:{admin.port}") as page:
        await page.goto("/")
        story: Json = await page.evaluate(TELL, [steps, epoch, now, T0])
        return story


async def test_a_write_is_a_bar_from_admission_to_its_end(store_url: str, tmp_path: Path) -> None:
    """Newest first or last: the number of a step has its place. What overlaps has rows of its own."""
    steps = [*write(1, 0, "one"), *write(3, 5, "two", outcome="not_applied"), *write(5, 40, "three")]

    story = await tell(store_url, tmp_path, steps[::-1])

    (lane,) = story["lanes"]
    assert (lane["begin"], lane["end"], lane["rows"]) == (0, None, 2)
    assert [(thread["row"], thread["stretches"]) for thread in lane["threads"]] == [
        (0, [[0, 10, "in_flight", "applied"]]),
        (1, [[5, 15, "in_flight", "not_applied"]]),
        (0, [[40, 50, "in_flight", "applied"]]),
    ]
    assert (story["from"], story["to"]) == (0, 50)


async def test_what_waits_goes_through_its_states(store_url: str, tmp_path: Path) -> None:
    """An intent is one thread; what is not over yet is open."""
    steps = [
        step(1, 0, None, "awaiting_approval"),
        step(2, 100, "awaiting_approval", "queued"),
        step(3, 110, "queued", "in_flight"),
        step(4, 120, "in_flight", "unknown"),
        step(5, 300, None, "awaiting_approval", intent="j"),
    ]

    (lane,) = (await tell(store_url, tmp_path, steps))["lanes"]

    assert [thread["stretches"] for thread in lane["threads"]] == [
        [
            [0, 100, "awaiting_approval", "queued"],
            [100, 110, "queued", "in_flight"],
            [110, 120, "in_flight", "unknown"],
            [120, None, "unknown", None],
        ],
        [[300, None, "awaiting_approval", None]],
    ]


async def test_leases_are_told_by_their_own_steps(store_url: str, tmp_path: Path) -> None:
    """Granted, renewed, given back; a newer epoch ends the older one's reign; what comes then is a mark after it."""
    lease = {"intent": "", "rule": ""}
    steps = [
        step(1, 0, None, "granted", **lease),
        step(2, 50, None, "renewed", **lease),
        *write(3, 60, "one"),
        step(5, 80, None, "released", **lease),
        step(6, 100, None, "granted", epoch="8", **lease),
        step(7, 130, None, "refused", intent="", reason="stale-epoch"),
        step(8, 200, None, "advanced", epoch="9", **lease),
    ]

    seven, eight, nine = (await tell(store_url, tmp_path, steps, epoch="9"))["lanes"]

    assert (seven["begin"], seven["end"], seven["leases"]) == (0, 100, [[0, 80]])
    assert seven["marks"] == [[0, "granted"], [50, "renewed"], [80, "released"], [130, "refused"]]
    assert (eight["begin"], eight["end"], nine["begin"], nine["end"]) == (100, 200, 200, None)


async def test_an_end_without_its_beginning_is_a_bar_where_it_ended(store_url: str, tmp_path: Path) -> None:
    """Also where an earlier attempt's end is the last that the trail has of it, under another epoch."""
    steps = [
        step(1, 0, None, "in_flight"),
        step(2, 10, "in_flight", "unknown"),
        step(4, 50, "in_flight", "applied", epoch="8"),
    ]

    seven, eight = (await tell(store_url, tmp_path, steps, epoch="8"))["lanes"]

    (thread,) = seven["threads"]
    assert thread["stretches"] == [[0, 10, "in_flight", "unknown"], [10, 50, "unknown", "applied"]]
    (thread,) = eight["threads"]
    assert (thread["row"], thread["stretches"]) == (0, [[50, 50, "in_flight", "applied"]])


async def test_a_refusal_makes_nobody_a_ruler(store_url: str, tmp_path: Path) -> None:
    """Whoever was refused only said which epoch and name it has: they are marks, in a lane of strangers if need be."""
    steps = [
        step(1, 0, None, "refused", intent="", epoch="7", holder="liar", reason="holder-mismatch"),
        step(2, 10, None, "refused", intent="", epoch="3", holder="x", reason="stale-epoch"),
        step(3, 20, None, "refused", intent="", epoch=str(T0 - 900), holder="y", reason="stale-epoch"),
        step(4, 30, None, "quarantined", intent="q", epoch="3", holder="x", reason="stale-epoch"),
        *write(5, 40, "one"),
    ]

    strangers, seven = (await tell(store_url, tmp_path, steps))["lanes"]

    assert (strangers["epoch"], strangers["end"]) == (None, None)
    assert strangers["marks"] == [[10, "quarantined"], [20, "refused"]]
    assert (seven["epoch"], seven["marks"], len(seven["threads"])) == ("7", [[0, "refused"]], 1)


async def test_a_successor_goes_on_with_what_waits(store_url: str, tmp_path: Path) -> None:
    """In the lane of its own epoch, from the moment at which it took over."""
    steps = [
        step(1, 0, None, "queued"),
        step(2, 40, "queued", "queued", epoch="8", reason="taken over by a newer epoch"),
        step(3, 50, "queued", "in_flight", epoch="8"),
        step(4, 60, "in_flight", "applied", epoch="8"),
    ]

    seven, eight = (await tell(store_url, tmp_path, steps, epoch="8"))["lanes"]

    assert [thread["stretches"] for thread in seven["threads"]] == [[[0, 40, "queued", "queued"]]]
    assert [thread["stretches"] for thread in eight["threads"]] == [
        [[40, 50, "queued", "in_flight"], [50, 60, "in_flight", "applied"]]
    ]


async def test_an_epoch_of_a_lease_tells_its_grant(store_url: str, tmp_path: Path) -> None:
    """Where the trail does not: it is the store's clock. Epochs from elsewhere begin with what was seen first."""
    mine = str(T0 - 500)
    steps = [*write(1, 0, "one", mine), *write(3, 20, "two", str(2**64 - 1))]

    story = await tell(store_url, tmp_path, steps, epoch=str(2**64 - 1))

    assert [(lane["epoch"], lane["begin"], lane["end"]) for lane in story["lanes"]] == [
        (mine, -500, 20),
        (str(2**64 - 1), 20, None),
    ]


async def test_pauses_incidents_and_torn_trails(store_url: str, tmp_path: Path) -> None:
    """A pause is of the resource, not of an epoch; an end whose beginning is gone is shown where it is."""
    steps = [
        step(1, 0, "in_flight", "applied", intent="gone"),
        step(2, 10, None, "paused", intent="p", epoch=None),
        step(3, 20, "applied", "applied", intent="gone", reason="duplicate-effect: more than once"),
        step(4, 30, "paused", "resumed", intent="p", epoch=None),
        step(5, 40, None, "paused", intent="q", epoch=None),
        step(6, 50, None, "something-new", intent="n"),
    ]

    story = await tell(store_url, tmp_path, steps)

    (lane,) = story["lanes"]
    assert lane["threads"][0]["stretches"] == [[0, 0, "in_flight", "applied"]]
    assert lane["marks"] == [[20, "incident"], [50, "something-new"]]
    assert story["pauses"] == [[10, 30], [40, None]]
    assert story["to"] == 1000


async def test_a_resource_without_a_step_has_its_epoch(admin: Admin) -> None:
    """Granted, and nothing written yet."""
    async with browsing(f"http://127.0.0.1:{admin.port}") as page:
        await page.goto("/")
        story = await page.evaluate(TELL, [[], str(T0 - 9), 0, T0])

    assert [(lane["epoch"], lane["begin"]) for lane in story["lanes"]] == [(str(T0 - 9), -9)]
