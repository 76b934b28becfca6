"""Large bodies are parsed beside the event loop, one at a time.

Each takes its share of the interpreter from all others; ten of them would leave nothing for a write that is small.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")

# Takes about a millisecond to parse.
PARSED_AT_ONCE = 32 << 10

_PARSER = ThreadPoolExecutor(1, "parsing")


async def parsed(parse: Callable[[], T]) -> T:
    """What `parse` returns, once it has had its turn."""
    return await asyncio.get_running_loop().run_in_executor(_PARSER, parse)
