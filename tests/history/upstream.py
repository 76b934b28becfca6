"""The API: `python -m tests.history.upstream PORT LOG FATES SEED`, a process that can be stopped and killed. It acts
each time that it is asked, and writes down what it did before it says so. Under `/native/` alone it refuses the second
of one `X-Native` itself; `GET /done/KEY` tells whether it did what has that key."""

import asyncio
import json
import random
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.history.log import Log, read_log
from tests.recording import OK, RecordingUpstream, Seen

_SLOW_S = (0.05, 0.7)
# Longer than `timeouts.total` and `timeouts.late` of the run's policy together, or than the first only.
_LATE_S = (1.0, 5.0)
# Later than any of them, but not than the policy believes a no (`not_before`).
_TARDY_S = (2.5, 9.0)
_BEFORE_S = {"slow": _SLOW_S, "tardy": _TARDY_S}
_REFUSED = b"HTTP/1.1 422 Unprocessable Content\r\nContent-Length: 0\r\n\r\n"
_MISSING = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
_BROKEN = b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n"
_FAILED = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"


class Api:
    """Treats each write by a fate that is drawn by weight. `before`: its log, of all that it
    ever did."""

    def __init__(
        self, log: Log, before: Iterable[Mapping[str, Any]], fates: Mapping[str, int], chance: random.Random
    ) -> None:
        self._log = log
        self._fates, self._weights = list(fates), list(fates.values())
        self._chance = chance
        executed = [line for line in before if line["event"] == "executed"]
        self._done = {line["key"] for line in executed}
        self._natives = {line["native"] for line in executed}

    async def heard(self, seen: Seen, _: asyncio.StreamWriter) -> None:
        """Its head is here."""
        self._log.note("head", id=_id(seen))

    async def __call__(self, seen: Seen, writer: asyncio.StreamWriter) -> None:
        self._log.note("whole", id=_id(seen))
        if not seen.line.startswith("PUT"):
            asks, is_done = seen.line.startswith("GET /done/"), seen.line.split(" ")[1].rpartition("/")[2] in self._done
            writer.write(_MISSING if asks and not is_done else OK)
            return
        [fate] = self._chance.choices(self._fates, self._weights)
        if fate in _BEFORE_S:
            await asyncio.sleep(self._chance.uniform(*_BEFORE_S[fate]))
        if fate not in ("refused", "dropped", "failed"):
            self._execute(seen)
        match fate:
            case "refused":
                writer.write(_REFUSED)
            case "broken":
                writer.write(_BROKEN)
            case "failed":
                writer.write(_FAILED)
            case "cut" | "dropped":
                writer.transport.abort()
            case "half":
                writer.write(OK[:-4])
                writer.close()
            case "late":
                await asyncio.sleep(self._chance.uniform(*_LATE_S))
                writer.write(OK)
            case _:
                writer.write(OK)
        self._log.note("answered", id=_id(seen), fate=fate)

    def _execute(self, seen: Seen) -> None:
        target = seen.line.split(" ")[1].removeprefix("/")
        key, native = _value(seen, "X-Action"), _value(seen, "X-Native")
        if target.startswith("native/") and native in self._natives:
            return
        self._done.add(key)
        self._natives.add(native)
        epoch = int(seen.values("X-Epoch")[0])
        self._log.note("executed", id=_id(seen), resource=target, epoch=epoch, key=key, native=native)


def _id(seen: Seen) -> str | None:
    return _value(seen, "X-Attempt")


def _value(seen: Seen, name: str) -> str | None:
    return next(iter(seen.values(name)), None)


async def main(port: str, log: str, fates: str, seed: str) -> None:
    """Serve until killed; the port is told on standard output."""
    api = Api(Log(Path(log)), read_log(Path(log)), json.loads(fates), random.Random(seed))
    async with RecordingUpstream(api, before_body=api.heard, port=int(port)) as upstream:
        print(upstream.port, flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
