"""What a call answers, line by line, and the transcript of what was asked.

Nothing of a script has an opinion: a call takes its next line. A line that is an exception is raised; a line that is
`STUCK` never comes back, so that whoever waits for it can be cancelled there.
"""

import asyncio
from collections import deque

STUCK = "stuck"


class Transcript(list[str]):
    """What was asked and answered, in order; `until` waits for a line, or for so many of them."""

    def __init__(self) -> None:
        super().__init__()
        self._changed = asyncio.Event()

    def say(self, line: str) -> None:
        self.append(line)
        self._changed.set()

    async def until(self, line: str, times: int = 1) -> None:
        async with asyncio.timeout(20):
            while self.count(line) < times:
                self._changed.clear()
                await self._changed.wait()


class Script:
    """What one call answers, line by line. Running out of lines is the test's mistake."""

    def __init__(self, *lines: object) -> None:
        self._lines = deque(lines)

    async def next(self) -> object:
        line = self._lines.popleft()
        if line is STUCK:
            await asyncio.Event().wait()
        if isinstance(line, BaseException):
            raise line
        return line
