"""The sender and the answers of an upstream under scripts."""

from dataclasses import dataclass

from gateway.core.clock import Deadline
from gateway.core.outcome import NoReply, NotSent, Overdue
from gateway.core.request import HeaderPairs, Request
from gateway.core.rule import Upstream
from gateway.core.session import Switched
from gateway.core.write import Admitted
from gateway.flow.ports import BodySource
from tests.playbook.script import Script, Transcript


@dataclass
class ScriptedAnswer:
    """Implements `ports.Answer`: `small` is what `read_small` gives, `pieces` what follows."""

    said: Transcript
    status: int = 200
    small: object = (b"ok", True)
    pieces: tuple[object, ...] = ()
    is_stream: bool = False
    reason: bytes = b"OK"
    headers: HeaderPairs = ()
    own_headers: HeaderPairs = ()
    is_early: bool = False

    def __post_init__(self) -> None:
        self.own_headers = self.own_headers or self.headers
        self._small = Script(self.small)
        self._pieces = Script(*self.pieces)

    async def read_small(self, limit: int) -> tuple[bytes, bool]:
        self.said.say("read small" if limit >= 0 else "read at once")
        taken = await self._small.next()
        assert isinstance(taken, tuple)
        return taken

    async def read(self, within_s: float | None) -> bytes:
        self.said.say("read on")
        piece = await self._pieces.next()
        assert isinstance(piece, bytes)
        return piece

    def close(self) -> None:
        self.said.say("close")


class ScriptedSender:
    """Implements `ports.Sender`."""

    def __init__(self, said: Transcript, *lines: object) -> None:
        self._said = said
        self._script = Script(*lines)
        self.deadlines: list[Deadline] = []

    async def send(
        self, admitted: Admitted, request: Request, body: BodySource, deadline: Deadline
    ) -> ScriptedAnswer | Overdue | NotSent | NoReply:
        self.deadlines.append(deadline)
        return await self._next(f"send {admitted.ticket}")

    async def switch(
        self, admitted: Admitted, request: Request, body: BodySource, deadline: Deadline
    ) -> ScriptedAnswer | Switched | NotSent | NoReply:
        self._said.say(f"switch {admitted.ticket}")
        evidence = await self._script.next()
        assert isinstance(evidence, ScriptedAnswer | Switched | NotSent | NoReply)
        return evidence

    async def read(self, upstream: Upstream, request: Request, body: BodySource) -> ScriptedAnswer | NotSent | NoReply:
        return await self._unfenced("send read")

    async def pass_on(
        self, upstream: Upstream, request: Request, body: BodySource
    ) -> ScriptedAnswer | NotSent | NoReply:
        return await self._unfenced("pass on")

    async def _unfenced(self, line: str) -> ScriptedAnswer | NotSent | NoReply:
        evidence = await self._next(line)
        assert not isinstance(evidence, Overdue)
        return evidence

    async def _next(self, line: str) -> ScriptedAnswer | Overdue | NotSent | NoReply:
        self._said.say(line)
        evidence = await self._script.next()
        assert isinstance(evidence, ScriptedAnswer | Overdue | NotSent | NoReply)
        return evidence
