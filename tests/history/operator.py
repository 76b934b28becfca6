"""The operator of a run: looks whether the store has lost anything, and lets writes go on once that is over."""

import asyncio
import contextlib
import json
from typing import Any

from tests.history.log import Log
from tests.history.policy import LATE_S, TOTAL_S
from tests.history.stage import Stage
from tests.raw import RawAnswer, ask
from tests.until import until

_LOOKS_EVERY_S = 0.2
# Of a gateway that is stopped; one that accepts a loss asks a thousand shards.
_PATIENCE_S, _ACCEPTS_WITHIN_S = 1.0, 15.0
# What was sent before the loss has ended by then, as far as anybody can know.
_ACCEPTS_AFTER_S = TOTAL_S + LATE_S


class Operator:
    """One for a run. Notes `lost` when it is told of a loss, and `accepting` before it accepts it."""

    def __init__(self, stage: Stage, log: Log) -> None:
        self._stage = stage
        self._log = log
        self._known: set[str] = set()

    async def run(self) -> None:
        """Until it is cancelled."""
        while True:
            if await self._found_loss() is not None:
                await asyncio.sleep(_ACCEPTS_AFTER_S)
                await self._accept()
            await asyncio.sleep(_LOOKS_EVERY_S)

    async def until_done(self) -> None:
        """Until a gateway says that nothing is lost that was not accepted. Raises TimeoutError."""

        async def nothing_is_open() -> bool:
            shown = await self._shown()
            return shown is not None and not shown["regressed"]

        await until(nothing_is_open)

    async def _found_loss(self) -> str | None:
        """The floor of the loss that is open, if there is one."""
        shown = await self._shown()
        if shown is None or not shown["regressed"]:
            return None
        server = shown["servers"][0]
        if server["incarnation"] not in self._known:
            self._known.add(server["incarnation"])
            self._log.note("lost", why=server["loss"]["why"])
        return str(server["loss"]["floor"])

    async def _accept(self) -> None:
        # Another one may have come on top of it.
        floor = await self._found_loss()
        if floor is None:
            return
        self._log.note("accepting")
        # One that comes now is looked at first.
        body = json.dumps({"note": "looked", "floor": floor}).encode()
        await self._asked("POST", "/api/v1/store/accept", body, within_s=_ACCEPTS_WITHIN_S)

    async def _shown(self) -> Any:
        """What operators see of the store; nothing of an answer that a fault has cut off. Untyped: JSON."""
        answer = await self._asked("GET", "/api/v1/store")
        with contextlib.suppress(json.JSONDecodeError):
            return None if answer is None else json.loads(answer.body)
        return None

    async def _asked(
        self, method: str, target: str, body: bytes | None = None, *, within_s: float = _PATIENCE_S
    ) -> RawAnswer | None:
        """What the first gateway says that says anything."""
        kind = ("Content-Type: application/json",) if body else ()
        for gateway in self._stage.gateways:
            try:
                async with asyncio.timeout(within_s):
                    answer = await ask(gateway.admin, method, target, *kind, body=body, host="localhost")
            except (OSError, EOFError, TimeoutError):
                continue
            if answer.status == 200:
                return answer
        return None
