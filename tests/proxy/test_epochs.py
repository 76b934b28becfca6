"""Epochs granted elsewhere, order, places and revisions: exact over 64 bits, and moved by nothing that is refused."""

import json
from pathlib import Path

import pytest

from tests.raw import RawAnswer, ask
from tests.recording import answering
from tests.stack import POLICY, Stack, stack

HEADER = POLICY + "    authority: header\n"
INCREASING = HEADER + "    fence: {{sequence: increasing}}\n"
CONTIGUOUS = HEADER + "    fence: {{sequence: contiguous}}\n"
STRICT = HEADER + "    fence: {{order: strict}}\n"
COUNTED = POLICY + "    revision: gateway\n"
REFUSED_THERE = answering(b"HTTP/1.1 409 Conflict\r\nContent-Length: 0\r\n\r\n")
FAILED_THERE = answering(b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n")

HIGHEST = 18446744073709551615
NO_PLACES = ("01", "-1", "+1", "", "x", "1, 2", "1,2", "1.0", "1e0", "\xb9", '"1"', HIGHEST + 1, 10**20, "9" * 5000)


async def _write(gate: Stack, epoch: object, *fields: str, holder: str = "a") -> RawAnswer:
    own = (f"Fencing-Token: {epoch}", f"Fencing-Holder: {holder}", *fields)
    return await ask(gate.port, "PUT", "/reports/7", *own, body=b"{}")


async def _register(gate: Stack, epoch: object, *, holder: str | None = "a", **more: object) -> RawAnswer:
    fields = [f"Fencing-Token: {epoch}"] + ([] if holder is None else [f"Fencing-Holder: {holder}"])
    body = json.dumps({"resource": "report/7"} | more).encode()
    return await ask(gate.port, "POST", "/-/fence/epochs", *fields, body=body)


async def test_epochs_are_compared_exactly(store_url: str, tmp_path: Path) -> None:
    """Around 2^53, where doubles merge neighbours, and up to 2^64-1."""
    async with stack(store_url, tmp_path, HEADER) as gate:
        first = await _write(gate, 9007199254740993)
        older = await _write(gate, 9007199254740992)
        newer = await _write(gate, 9007199254740994)
        shown = await _register(gate, 9007199254740994)
        last = await _write(gate, HIGHEST)
        beyond = await _write(gate, HIGHEST + 1)

        assert (first.status, first.value("Fencing-Epoch")) == (200, "9007199254740993")
        assert (older.status, older.decision) == (412, "stale-epoch")
        assert (older.problem["epoch"], older.problem["highest_epoch"]) == ("9007199254740992", "9007199254740993")
        assert (newer.status, newer.value("Fencing-Epoch")) == (200, "9007199254740994")
        assert json.loads(shown.body)["epoch"] == "9007199254740994"
        assert (last.status, last.value("Fencing-Epoch")) == (200, str(HIGHEST))
        assert (beyond.status, beyond.decision) == (400, "token-malformed")
        assert len(gate.upstream.seen) == 3


@pytest.mark.parametrize(
    "token",
    [
        *("+5", "1_0", "-1", "007", "00", "0x10", "1e3", "5.0", "5.", ".5", "nan", "inf", "5;", "5,6", "5 6", '"5"'),
        *("", " ", "\xb2", "\u0665".encode().decode("latin-1"), "\uff15".encode().decode("latin-1"), "9" * 5000),
    ],
)
async def test_what_is_no_epoch_is_malformed(store_url: str, tmp_path: Path, token: str) -> None:
    """Digits only, no sign, no leading zero, at most 2^64-1: nothing moves for anything else."""
    async with stack(store_url, tmp_path, HEADER) as gate:
        await _write(gate, 3)
        write = await _write(gate, token)
        registered = await _register(gate, token)
        after = await _write(gate, 3)

        assert [(answer.status, answer.decision) for answer in (write, registered)] == [(400, "token-malformed")] * 2
        assert (after.status, after.value("Fencing-Epoch")) == (200, "3")
        assert len(gate.upstream.seen) == 2


async def test_zero_is_an_epoch(store_url: str, tmp_path: Path) -> None:
    """The smallest one."""
    async with stack(store_url, tmp_path, HEADER) as gate:
        answers = [await _write(gate, epoch) for epoch in (0, 1, 0)]

        assert [answer.status for answer in answers] == [200, 200, 412]


@pytest.mark.parametrize("holder", [None, "", "x" * 256, "a\xff"])
async def test_a_bare_epoch_without_a_holder_is_malformed(store_url: str, tmp_path: Path, holder: str | None) -> None:
    """None, an empty one, one that is too long or not UTF-8."""
    async with stack(store_url, tmp_path, HEADER) as gate:
        fields = [] if holder is None else [f"Fencing-Holder: {holder}"]
        answer = await ask(gate.port, "PUT", "/reports/7", "Fencing-Token: 5", *fields, body=b"{}")
        after = await _write(gate, 1)

        assert (answer.status, answer.decision) == (400, "token-malformed")
        assert after.status == 200


async def test_an_epoch_belongs_to_one_holder(store_url: str, tmp_path: Path) -> None:
    """Another who shows the same epoch is refused; a newer epoch may be anyone's."""
    async with stack(store_url, tmp_path, HEADER) as gate:
        await _write(gate, 5, holder="a")
        others = [await _write(gate, 5, holder=name) for name in ("b", "A", "a,b", "a b")]
        registered = await _register(gate, 5, holder="b")
        newer = await _write(gate, 6, holder="b")

        told = [(answer.status, answer.decision) for answer in (*others, registered)]
        assert told == [(412, "holder-mismatch")] * 5
        assert (newer.status, len(gate.upstream.seen)) == (200, 2)


async def test_a_registered_epoch_refuses_older_ones(store_url: str, tmp_path: Path) -> None:
    """Before any write of it; registering an older one is refused, the same one again is not."""
    async with stack(store_url, tmp_path, HEADER) as gate:
        first = await _register(gate, HIGHEST - 1, wait_s=1)
        again = await _register(gate, HIGHEST - 1)
        stale = await _write(gate, 5)
        older = await _register(gate, 5)
        missing = await _register(gate, HIGHEST, holder=None)

        members = {"resource": "report/7", "epoch": str(HIGHEST - 1), "drained": True, "in_flight": 0}
        assert (first.status, first.decision, json.loads(first.body)) == (200, "registered", members)
        assert (again.status, json.loads(again.body)) == (200, members)
        assert [(answer.status, answer.decision) for answer in (stale, older)] == [(412, "stale-epoch")] * 2
        assert older.problem["highest_epoch"] == str(HIGHEST - 1)
        assert (missing.status, missing.decision) == (400, "token-malformed")
        assert gate.upstream.seen == []


async def test_a_registered_epoch_is_its_holders_before_it_has_written(store_url: str, tmp_path: Path) -> None:
    """Each one that is registered shuts out the one before; nobody writes under another's, nor without a name."""
    async with stack(store_url, tmp_path, HEADER) as gate:
        calls = [
            await _register(gate, epoch, holder=holder) for epoch, holder in ((5, "a"), (5, "b"), (4, "a"), (6, "b"))
        ]
        told = [await _write(gate, 6, holder="a"), await _write(gate, 6, holder=""), await _write(gate, 5, holder="a")]
        own = await _write(gate, 6, holder="b")

        assert [answer.decision for answer in calls] == ["registered", "holder-mismatch", "stale-epoch", "registered"]
        assert [answer.decision for answer in told] == ["holder-mismatch", "token-malformed", "stale-epoch"]
        assert (own.decision, len(gate.upstream.seen)) == ("forwarded", 1)


async def test_a_lease_token_is_no_bare_epoch(store_url: str, tmp_path: Path) -> None:
    """Each authority takes its own form; the lease calls know no resource of another one."""
    async with stack(store_url, tmp_path, HEADER) as gate:
        write = await _write(gate, "5." + "x" * 32)
        lease = await gate.lease("report/7")
        shown = await ask(gate.port, "GET", "/-/fence/leases?resource=report/7")

        assert (write.status, write.decision) == (400, "token-malformed")
        assert [(answer.status, answer.decision) for answer in (lease, shown)] == [(404, "no-such-resource")] * 2


@pytest.mark.parametrize(
    ("policy", "places", "statuses"),
    [
        (INCREASING, (5, 5, 4, 6, 100, 7), (200, 412, 412, 200, 200, 412)),
        (INCREASING, (0, 0, HIGHEST, HIGHEST), (200, 412, 200, 412)),
        (INCREASING, (2**53, 2**53 + 1, 2**53 + 1, 2**53, 2**53 + 2), (200, 200, 412, 412, 200)),
        (INCREASING, (10**17 - 1, 10**17, 10**17 - 1, HIGHEST - 1, HIGHEST), (200, 200, 412, 200, 200)),
        (CONTIGUOUS, (2, 1, 1, 3, 2, 3), (412, 200, 412, 412, 200, 200)),
        (CONTIGUOUS, (0, 1), (412, 200)),
    ],
)
async def test_places_within_an_epoch(
    store_url: str, tmp_path: Path, policy: str, places: tuple[int, ...], statuses: tuple[int, ...]
) -> None:
    """`increasing` wants each larger than the last, `contiguous` 1, 2, 3; a newer epoch begins anew."""
    async with stack(store_url, tmp_path, policy) as gate:
        answers = [await _write(gate, 5, f"Fencing-Sequence: {place}") for place in places]
        anew = await _write(gate, 6, "Fencing-Sequence: 1")

        assert tuple(answer.status for answer in answers) == statuses
        assert {answer.decision for answer in answers if answer.status == 412} <= {"out-of-sequence"}
        assert anew.status == 200
        assert len(gate.upstream.seen) == statuses.count(200) + 1


async def test_a_place_is_required_where_the_rule_counts_them(store_url: str, tmp_path: Path) -> None:
    """And must be a number up to 2^64-1; neither refusal moves the epoch."""
    async with stack(store_url, tmp_path, CONTIGUOUS) as gate:
        missing = await _write(gate, 9)
        malformed = [await _write(gate, 9, f"Fencing-Sequence: {text}") for text in NO_PLACES]
        older = await _write(gate, 5, "Fencing-Sequence: 1")

        assert (missing.status, missing.decision) == (400, "sequence-required")
        assert {(answer.status, answer.decision) for answer in malformed} == {(400, "header-malformed")}
        assert older.status == 200


@pytest.mark.parametrize(("answer", "status"), [(REFUSED_THERE, 200), (FAILED_THERE, 412)], ids=["proved", "unknown"])
async def test_a_place_is_given_back_only_when_its_write_is_proved_not_applied(
    store_url: str, tmp_path: Path, answer: object, status: int
) -> None:
    """After a 4xx of the upstream the same place may be tried again; after a 5xx nobody knows."""
    async with stack(store_url, tmp_path, CONTIGUOUS) as gate:
        gate.upstream.answer = answer
        await _write(gate, 5, "Fencing-Sequence: 1")
        again = await _write(gate, 5, "Fencing-Sequence: 1")

        assert (again.status == 412) == (status == 412)
        assert len(gate.upstream.seen) == (1 if status == 412 else 2)


async def test_under_strict_an_epoch_makes_one_write(store_url: str, tmp_path: Path) -> None:
    """Registering does not use it up; a write that is proved not applied gives it back."""
    async with stack(store_url, tmp_path, STRICT) as gate:
        await _register(gate, 5)
        gate.upstream.answer = REFUSED_THERE
        refused = await _write(gate, 5)
        gate.upstream.answer = answering(b"HTTP/1.1 204 No Content\r\n\r\n")
        first, second, newer = await _write(gate, 5), await _write(gate, 5), await _write(gate, 6)

        assert (refused.status, refused.value("Fencing-Outcome")) == (409, "not_applied")
        assert (first.status, newer.status) == (204, 204)
        assert (second.status, second.decision) == (412, "stale-epoch")
        assert len(gate.upstream.seen) == 3


async def test_a_leased_epoch_makes_one_write_under_strict(store_url: str, tmp_path: Path) -> None:
    """The grant itself is no write."""
    async with stack(store_url, tmp_path, POLICY + "    fence: {{order: strict}}\n") as gate:
        await gate.lease("report/7")
        answers = [await gate.write("/reports/7"), await gate.write("/reports/7")]

        assert [(answer.status, answer.decision) for answer in answers] == [(200, "forwarded"), (412, "stale-epoch")]


async def test_revisions_count_what_was_or_may_have_been_applied(store_url: str, tmp_path: Path) -> None:
    """Shown on reads and writes of the resource; a refusal there counts nothing, an unknown write counts."""
    async with stack(store_url, tmp_path, COUNTED) as gate:
        await gate.lease("report/7")
        shown = [(await ask(gate.port, "GET", "/reports/7")).value("Fencing-Revision")]
        for answer in (gate.upstream.answer, REFUSED_THERE, FAILED_THERE):
            gate.upstream.answer = answer
            shown.append((await gate.write("/reports/7")).value("Fencing-Revision"))
        shown.append((await ask(gate.port, "GET", "/reports/7")).value("Fencing-Revision"))
        other = await ask(gate.port, "GET", "/reports/7/parts")

        assert shown == ["0", "1", "1", "2", "2"]
        assert other.value("Fencing-Revision") is None


async def test_a_write_based_on_another_revision_is_refused(store_url: str, tmp_path: Path) -> None:
    """The problem names the current one; the refused write counts nothing."""
    async with stack(store_url, tmp_path, COUNTED) as gate:
        await gate.lease("report/7")
        first = await gate.write("/reports/7", "Fencing-If-Revision: 0")
        late = await gate.write("/reports/7", "Fencing-If-Revision: 0")
        early = await gate.write("/reports/7", "Fencing-If-Revision: 2")
        based = await gate.write("/reports/7", "Fencing-If-Revision: 1")

        assert [answer.value("Fencing-Revision") for answer in (first, based)] == ["1", "2"]
        for refused in (late, early):
            assert (refused.status, refused.decision) == (412, "revision-mismatch")
            assert (refused.problem["action"], refused.problem["revision"]) == ("fix-request", "1")
        assert len(gate.upstream.seen) == 2


async def test_a_revision_is_a_plain_number(store_url: str, tmp_path: Path) -> None:
    """Beyond 2^53 it is another one than its neighbours; what is none is refused, and counts nothing."""
    async with stack(store_url, tmp_path, COUNTED) as gate:
        await gate.lease("report/7")
        malformed = [await gate.write("/reports/7", f"Fencing-If-Revision: {text}") for text in (*NO_PLACES, "*")]
        other = [await gate.write("/reports/7", f"Fencing-If-Revision: {number}") for number in (2**53 + 1, HIGHEST)]
        first = await gate.write("/reports/7", "Fencing-If-Revision: 0")

        assert {(answer.status, answer.decision) for answer in malformed} == {(400, "header-malformed")}
        assert {(answer.status, answer.decision) for answer in other} == {(412, "revision-mismatch")}
        assert (first.value("Fencing-Revision"), len(gate.upstream.seen)) == ("1", 1)


async def test_a_revision_that_nobody_counts_is_refused(store_url: str, tmp_path: Path) -> None:
    """To ignore it would let a write through that its sender believes to be conditional."""
    async with stack(store_url, tmp_path) as gate:
        await gate.lease("report/7")
        answer = await gate.write("/reports/7", "Fencing-If-Revision: 0")

        assert (answer.status, answer.decision, gate.upstream.seen) == (400, "header-malformed", [])


async def test_an_upstream_s_own_412_comes_back_untouched(store_url: str, tmp_path: Path) -> None:
    """`If-Match` is forwarded, and its answer is the upstream's."""
    async with stack(store_url, tmp_path) as gate:
        await gate.lease("report/7")
        gate.upstream.answer = answering(b"HTTP/1.1 412 Precondition Failed\r\nContent-Length: 3\r\n\r\nold")
        answer = await gate.write("/reports/7", 'If-Match: "1"')

        assert (answer.status, answer.body, answer.decision) == (412, b"old", "forwarded")
        assert answer.value("Fencing-Outcome") == "not_applied"
        assert gate.upstream.seen[0].values("If-Match") == ['"1"']
