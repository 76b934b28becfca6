"""Large bodies are parsed beside the event loop, one at a time.

Each takes its share of the interpreter from all others; ten of them would leave nothing for a write that is small.
"""

import asyncio
import gc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from gateway.core.coding import decoded
from gateway.core.decision import BODY_TOO_LARGE, Refused

T = TypeVar("T")

# Takes about a millisecond to parse.
PARSED_AT_ONCE = 32 << 10


def _share() -> None:
    gc.callbacks.append(_look)


def _look(_phase: str, _about: dict[str, int]) -> None:
    """Parsers written in C give the interpreter away only where they run Python, and for a list they run none: as long
    as it has millions of values, all others would wait. The collector looks after some thousands, and calls this; from
    Python 3.12 on it looks between instructions only."""


_PARSER = ThreadPoolExecutor(1, "parsing", _share)


async def parsed(size: int, parse: Callable[[], T]) -> T:
    """What `parse` makes of so many bytes: at once where they are few, else when it has had its turn."""
    return parse() if size <= PARSED_AT_ONCE else await parsed_aside(parse)


async def parsed_aside(parse: Callable[[], T]) -> T:
    """What `parse` returns, once it has had its turn."""
    return await asyncio.get_running_loop().run_in_executor(_PARSER, parse)


async def plain_body(body: bytes, codings: list[bytes], limit: int) -> bytes | Refused:
    """As `decoded`. A few bytes may stand for as many as are allowed: only what is small is decoded at once."""
    plain = decoded(body, codings, min(limit, PARSED_AT_ONCE))
    if not isinstance(plain, Refused) or plain.decision is not BODY_TOO_LARGE or limit <= PARSED_AT_ONCE:
        return plain
    return await parsed_aside(partial(decoded, body, codings, limit))
