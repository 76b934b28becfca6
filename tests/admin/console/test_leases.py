"""How long leases lasted: by what grants and ends say of them, in a browser."""

import pytest

from tests.admin.conftest import Admin
from tests.admin.console.browser import browsing
from tests.admin.console.test_story import T0, Json, step, write

pytestmark = pytest.mark.slow

TELL = """async ([steps, expires, t0]) => {
  const { tell } = await import("/console/story.js");
  const events = steps.map((step) => ({ ...step, at: new Date(t0 + step.ms).toISOString() }));
  const lease = expires === null ? null : { expires_at: new Date(t0 + expires).toISOString(), ttl_s: 1 };
  const newest = String(Math.max(...steps.map((step) => Number(step.epoch))));
  const { lanes } = tell(events, { epoch: newest, holder: null, lease }, t0 + 100_000);
  const since = (ms) => (ms === null ? null : ms - t0);
  return lanes.flatMap((lane) => lane.leases.map((each) => [since(each.from), since(each.to), each.end, lane.epoch]));
}"""


def granted(number: int, ms: int, epoch: str, reason: str) -> Json:
    return step(number, ms, None, "granted", intent="", rule="", epoch=epoch, reason=reason)


def ended(ms: int, to: str, reason: str, epoch: str = "7") -> Json:
    return step(9, ms, None, to, intent="", rule="", epoch=epoch, reason=reason)


FIRST = granted(1, 0, "7", "for 60 s")
# Steps, until when the newest lease lives, and what the first lane's lease is told to be: from, to and how it ended.
CASES: dict[str, tuple[list[Json], int | None, list[object]]] = {
    "it lives": ([FIRST], 90_000, [0, None, None, "7"]),
    "given back": ([FIRST, ended(5000, "released", "with 55.0 s left")], None, [0, 5000, "returned", "7"]),
    "given back too late": ([FIRST, ended(70_000, "released", "4.0 s after it ran out")], None,
        [0, 66_000, "expired", "7"]),
    "taken over": ([FIRST, granted(2, 9000, "8", "for 1e+06 s, taken over from a with 51.0 s left")], None,
        [0, 9000, "taken", "7"]),
    "ran out": ([FIRST, granted(2, 70_000, "8", "for 2 s, 10.0 s after the lease of a ran out")], None,
        [0, 60_000, "expired", "7"]),
    "lost": ([FIRST, granted(2, 9000, "8", "for 2 s, the lease of a ended with what the store lost")], None,
        [0, 9000, "lost", "7"]),
    "a name that sounds like an end": (
        [FIRST, granted(2, 9000, "8", "for 2 s, taken over from 1.0 s after the lease of c ran out with 5.0 s left")],
        None, [0, 9000, "taken", "7"]),
    "raised by an operator": ([FIRST, ended(9000, "advanced", "above epoch 7", "8")], None, [0, 9000, "raised", "7"]),
    "raised when it may have ended": ([FIRST, ended(90_000, "advanced", "above epoch 7", "8")], None,
        [0, 60_000, "unseen", "7"]),
    "renewed, as a write shows": ([FIRST, *write(2, 80_000, "one")], None, [0, 80_000, "unseen", "7"]),
    "nobody told its end": ([FIRST], None, [0, 60_000, "unseen", "7"]),
    "its grant is not in the trail": (write(2, 10, "one"), 90_000, [10, None, None, "7"]),
}  # fmt: skip


async def test_how_a_lease_ended(admin: Admin) -> None:
    """By the grant that came after it, by its own return, or by what was written last; never by a holder's name."""
    told = {}
    async with browsing(f"http://127.0.0.1:{admin.port}") as page:
        await page.goto("/")
        for name, (steps, expires, _) in CASES.items():
            told[name] = (await page.evaluate(TELL, [steps, expires, T0]))[0]

    assert told == {name: lease for name, (_, _, lease) in CASES.items()}
