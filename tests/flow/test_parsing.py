"""Large bodies are parsed beside the event loop, one at a time."""

import asyncio
import contextlib
import gc
import json
import sys
import threading
import time
import zlib
from collections.abc import Iterator
from functools import partial
from itertools import pairwise

import pytest

from gateway.core.decision import BODY_TOO_LARGE, UNSUPPORTED_CODING, Decision, Refused
from gateway.flow import parsing
from gateway.flow.parsing import PARSED_AT_ONCE, parsed, parsed_aside, plain_body

LARGE = bytes(PARSED_AT_ONCE + 1)


async def test_it_has_a_thread_of_its_own() -> None:
    """Always the same: two would leave the loop a third of the interpreter."""
    named = {await parsed_aside(lambda: threading.current_thread().name) for _ in range(3)}

    assert len(named) == 1
    assert threading.current_thread().name not in named


@contextlib.contextmanager
def nobody_else_looks() -> Iterator[None]:
    """The tests' own tools are called by the collector too. It looks as seldom as in a worker."""
    others, thresholds = list(gc.callbacks), gc.get_threshold()
    gc.callbacks[:] = [one for one in others if one is parsing._look]
    gc.set_threshold(20_000)
    try:
        yield
    finally:
        gc.callbacks[:] = others
        gc.set_threshold(*thresholds)


async def test_what_is_small_is_parsed_at_once() -> None:
    """Without a turn of the loop; one byte more, and it has the thread."""
    here = threading.current_thread().name

    assert await parsed(PARSED_AT_ONCE, lambda: threading.current_thread().name) == here
    assert await parsed(PARSED_AT_ONCE + 1, lambda: threading.current_thread().name) != here


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="from 3.12 on nothing of Python runs inside a parser in C")
async def test_the_loop_goes_on_meanwhile() -> None:
    """Also where nothing of Python runs, as for millions of empty lists."""
    await parsed_aside(int)
    with nobody_else_looks():
        lists = asyncio.ensure_future(parsed_aside(partial(json.loads, f"[{'[],' * 2_000_000}[]]")))
        turns = [time.monotonic()]
        while not lists.done():
            await asyncio.sleep(0)
            turns.append(time.monotonic())

    # The parser has the interpreter for some milliseconds at a time, and not once for all.
    assert sum(later - turn > 0.001 for turn, later in pairwise(turns)) > 3


@pytest.mark.parametrize(
    ("body", "coding", "limit", "expected"),
    [
        (b"{}", b"", 1 << 20, b"{}"),
        (LARGE, b"", 1, LARGE),
        (zlib.compress(b"{}"), b"deflate", 1 << 20, b"{}"),
        (zlib.compress(LARGE), b"deflate", 1 << 20, LARGE),
        (zlib.compress(LARGE), b"deflate", len(LARGE), LARGE),
        (zlib.compress(LARGE), b"deflate", len(LARGE) - 1, BODY_TOO_LARGE),
        (zlib.compress(LARGE), b"deflate", 5, BODY_TOO_LARGE),
        (zlib.compress(LARGE)[:-1], b"deflate", 1 << 20, UNSUPPORTED_CODING),
        (zlib.compress(b"{}")[:-1], b"deflate", 1 << 20, UNSUPPORTED_CODING),
        (b"{}", b"br", 1 << 20, UNSUPPORTED_CODING),
    ],
    ids=[
        "plain", "large and plain", "small", "large", "as large as may be", "over the limit", "over a small limit",
        "large and cut", "cut", "unknown",
    ],
)  # fmt: skip
async def test_a_body_is_decoded_as_its_coding_says(
    body: bytes, coding: bytes, limit: int, expected: bytes | Decision
) -> None:
    """The limit is of what is decoded; what is not coded has another."""
    plain = await plain_body(body, [coding] if coding else [], limit)

    assert (plain.decision if isinstance(plain, Refused) else plain) == expected


async def test_no_more_than_a_little_is_decoded_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a few bytes that stand for many, the rest is decoded beside the loop."""
    at, decoded = list[tuple[str, int]](), parsing.decoded

    def watched(body: bytes, codings: list[bytes], limit: int) -> bytes | Refused:
        at.append((threading.current_thread().name, limit))
        return decoded(body, codings, limit)

    monkeypatch.setattr(parsing, "decoded", watched)
    await plain_body(zlib.compress(bytes(1 << 20)), [b"deflate"], 2 << 20)

    assert at == [(threading.current_thread().name, PARSED_AT_ONCE), ("parsing_0", 2 << 20)]
