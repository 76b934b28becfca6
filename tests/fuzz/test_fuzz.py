"""The request path under hostile bytes: what the fence did not admit is never sent, nor anything but what it judged."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz.grammar import conversation
from tests.fuzz.kinds import LEASED
from tests.fuzz.leases import Leases
from tests.fuzz.oracle import Oracle
from tests.fuzz.reader import Message, read
from tests.fuzz.serving import fuzzed, in_process, judged

_CONVERSATIONS = 350
# A conversation has six judged requests and more on average: the two long runs together make a million.
_REQUESTS_EACH = 6
_MANY = 84_000
_LIVE, _DEAD = b"42." + b"x" * 32, b"41." + b"y" * 32


async def test_hostile_bytes_cannot_write_past_the_fence(store_url: str, tmp_path: Path) -> None:
    """Each request that the upstream sees was sent by its caller, was admitted, and is seen once."""
    async with judged(tmp_path) as oracle, in_process(store_url, tmp_path) as port:
        run = await fuzzed(7, port, oracle, range(_CONVERSATIONS))

    assert oracle.found == []
    assert '"level":"error"' not in (tmp_path / "gateway.log").read_text()
    assert run.decisions["forwarded"] > _CONVERSATIONS
    refusals = {"stale-epoch", "bad-request", "ambiguous-target", "token-invalid", "no-policy", "unsupported-coding"}
    assert {"passed", *refusals} < set(run.decisions)


@pytest.mark.slow
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize(
    ("seed", "conversations", "options"),
    [(1, _MANY, []), (2, _MANY, ["--workers", "2"]), (3, 5_000, ["--pure"])],
    ids=["one worker", "two workers", "python parser"],
)
def test_a_million_requests_find_no_way(seed: int, conversations: int, options: list[str]) -> None:
    """Neither a way past the fence, nor a fault, a hang or a leak: memory and descriptors stay where they were."""
    command = (sys.executable, "-m", "tests.fuzz", "--seed", str(seed), "--count", str(conversations), *options)
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    print(ended.stdout[:2_000])

    assert ended.returncode == 0, ended.stdout[:20_000] + ended.stderr
    assert int(ended.stdout.split(" ", 1)[0]) > _REQUESTS_EACH * conversations
    held = [[int(number) for number in pair] for pair in re.findall(r"\((\d+), (\d+)\)", ended.stdout)]
    for before, after in zip(held[: len(held) // 2], held[len(held) // 2 :], strict=True):
        assert after[0] < before[0] + (40 << 10)
        assert after[1] < before[1] + 64


def test_a_seed_gives_the_same_bytes() -> None:
    """But for the tokens: whoever replays a conversation sends what was sent."""
    leases = Leases()
    for number, resource in enumerate(LEASED):
        leases.granted(resource, _LIVE + b"%d" % number)

    drawn = [conversation(f"1/{number}", leases, 10) for number in range(50)]

    assert drawn == [conversation(f"1/{number}", leases, 10) for number in range(50)]
    assert len({data for data, _ in drawn}) == 50


def _put(target: bytes = b"/reports/r1", token: bytes = _LIVE, *fields: bytes) -> Message:
    named = [
        (b"Fencing-Token", token),
        (b"X-N", b"1"),
        *((name, value) for name, _, value in (field.partition(b": ") for field in fields)),
    ]
    return Message(b"PUT", target, tuple(named), b"{}")


def _seen(target: bytes = b"/reports/r1", epoch: bytes = b"42", body: bytes = b"{}") -> Message:
    return Message(b"PUT", target, ((b"X-N", b"1"), (b"X-Fencing-Token", epoch)), body)


@pytest.mark.parametrize(
    ("sent", "seen", "is_found"),
    [
        ([_put()], [_seen()], False),
        ([_put()], [], False),
        ([_put()], [_seen(), _seen()], True),
        ([_put()], [_seen(body=b"{} ")], True),
        ([_put()], [_seen(epoch=b"43")], True),
        ([_put()], [_put()], True),
        ([_put(token=_DEAD)], [_seen(epoch=b"41")], True),
        ([_put(b"/reports/r2")], [_seen(b"/reports/r2")], True),
        ([_put(b"/x/../reports/r1")], [_seen(b"/x/../reports/r1")], True),
        ([_put(b"/reports/r1", _LIVE, b"X-HTTP-Method: GET")], [_seen()], True),
        ([], [_seen()], True),
        ([_put(b"/reports/r1", _LIVE, b"X-Api-Key: " + _LIVE)], [_seen()], False),
        ([_put(b"/reports/r1?t=" + _LIVE)], [_seen(b"/reports/r1?t=" + _LIVE)], True),
    ],
    ids=[
        *("admitted", "not forwarded", "twice", "another body", "another epoch", "with its token", "stale"),
        *("another resource", "two readings", "two methods", "never sent", "with its token dropped"),
        "with its token in the URL",
    ],
)
def test_the_oracle_finds_what_must_not_be_seen(sent: list[Message], seen: list[Message], is_found: bool) -> None:
    """An oracle that is never wrong about a right gateway, and never silent about a wrong one."""
    leases = Leases()
    leases.granted(b"report/r1", _DEAD)
    leases.granted(b"report/r1", _LIVE)
    oracle = Oracle(leases)

    oracle.sending(sent)
    for message in seen:
        oracle.saw(message)

    assert bool(oracle.found) is is_found


@pytest.mark.parametrize(
    ("decision", "number", "is_found"),
    [
        ("forwarded", b"1", False),
        ("forwarded", b"2", True),
        ("forwarded", b"", True),
        ("replayed", b"2", False),
        ("replayed", b"3", True),
    ],
    ids=["its own", "another's", "nobody's", "of its intent's first request", "of another intent"],
)
def test_the_oracle_finds_anothers_answer(decision: str, number: bytes, is_found: bool) -> None:
    """A caller gets what the API said to its own request, or to one of the same intent."""
    leases, key = Leases(), b"Idempotency-Key: k"
    leases.granted(b"report/r1", _LIVE)
    oracle, repeat = Oracle(leases), _put(b"/reports/r1", _LIVE, key)
    first = Message(repeat.method, repeat.target, (*repeat.fields[:1], (b"X-N", b"2"), *repeat.fields[2:]), b"{}")

    oracle.sending([first, repeat, _put(b"/reports/r1", _LIVE, key + b"2")])
    oracle.answered(repeat, decision, number)

    assert bool(oracle.found) is is_found


@pytest.mark.parametrize(
    ("data", "whole", "faulty"),
    [
        (b"PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabcGET / HTTP/1.1\r\nHost: x\r\n\r\n", 2, False),
        (b"PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3;a\r\nabc\r\n0\r\nX: 1\r\n\r\n", 1, False),
        (b"\r\nGET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", 1, False),
        (b"PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nab", 0, False),
        (b"PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc", 0, True),
        (b"PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 0, True),
        (b"PUT / HTTP/1.1\r\nHost: x\r\nX : 1\r\n\r\n", 0, True),
        (b"PUT / HTTP/1.1\r\nHost: x\r\nX: a\nb\r\n\r\n", 0, True),
        (b"PUT / HTTP/1.1\r\n\r\n", 0, True),
        (b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\na", 0, True),
        (b"PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n", 0, True),
    ],
)
def test_the_strict_reader_takes_only_what_has_one_reading(data: bytes, whole: int, faulty: bool) -> None:
    """Whole requests until one is faulty, unfinished, or the connection's last."""
    reading = read(data)

    assert (len(reading.messages), reading.faulty) == (whole, faulty)
