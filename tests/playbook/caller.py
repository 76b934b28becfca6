"""A caller that notes what it is told, a body that was never sent, and whoever counts."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from gateway.core.decision import Refused
from gateway.core.intent import KeptAnswer
from gateway.core.late import Extent
from gateway.core.record import IntentRecord
from gateway.core.rule import Rule, Upstream
from gateway.core.session import Switched
from gateway.core.write import Incident
from gateway.flow.marks import Marks
from gateway.flow.ports import NearEnd
from tests.playbook.script import Transcript


@dataclass
class ScriptedCaller:
    """Implements `ports.Caller`. `takes`: is each piece taken? `gone`: at each look, has the caller left?"""

    said: Transcript
    takes: Iterable[bool] = ()
    gone: Iterable[bool] = ()
    marks: list[Marks] = field(default_factory=list)
    refusals: list[Refused] = field(default_factory=list)
    replays: list[KeptAnswer] = field(default_factory=list)
    expects: bool = False
    near: NearEnd | None = None

    def __post_init__(self) -> None:
        self._takes = iter(self.takes)
        self._gone = iter(self.gone)

    def is_gone(self) -> bool:
        return next(self._gone, False)

    def has_begun(self) -> bool:
        return bool(self.marks or self.refusals)

    def awaits_proceed(self) -> bool:
        return self.expects

    def proceed(self) -> None:
        self.said.say("proceed")

    def as_call(self, body: bytes) -> None:
        self.said.say("as call")

    def as_graphql(self) -> None:
        self.said.say("as graphql")

    def refuse(self, refused: Refused) -> None:
        self.refusals.append(refused)
        self.said.say(f"refuse {refused.decision.name}")

    def reply(self, marks: Marks, answer: object, body: bytes) -> None:
        self.marks.append(marks)
        self.said.say(f"reply {marks.outcome or marks.decision.name} {body.decode()}")

    def replay(self, marks: Marks, answer: KeptAnswer) -> None:
        self.marks.append(marks)
        self.replays.append(answer)
        self.said.say(f"replay {answer.status} {answer.body.decode()}")

    def park(self, marks: Marks, record: IntentRecord, waited_s: int | None) -> None:
        self.marks.append(marks)
        self.said.say(f"park {marks.decision.name} {record.state}" + f" after {waited_s} s" * bool(waited_s))

    def switch(self, marks: Marks, switched: Switched) -> NearEnd:
        self.marks.append(marks)
        self.said.say(f"switch {marks.outcome}")
        assert self.near is not None
        return self.near

    def begin(self, marks: Marks, answer: object) -> None:
        self.marks.append(marks)
        self.said.say(f"begin {marks.outcome or marks.decision.name}")

    async def write(self, piece: bytes, within_s: float | None) -> bool:
        self.said.say(f"write {piece.decode()}{'' if within_s is None else ' in time'}")
        return next(self._takes, True)

    def end(self) -> None:
        self.said.say("end")

    def break_off(self, refused: Refused) -> None:
        self.refusals.append(refused)
        self.said.say(f"break off {refused.decision.name}")

    def abort(self) -> None:
        self.said.say("abort")


class NoBody:
    """Implements `ports.BodySource`: nothing was sent, nothing may be asked for."""

    length: int | None = 0

    async def begin(self) -> None: ...

    async def read(self) -> bytes:
        return b""

    def take_buffered(self) -> bytes | None:
        return b""

    def restrict(self, limit: int | None) -> None:
        assert limit is None

    async def hold(self, limit: int) -> bytes:
        return b""

    async def spool(self, feed: Callable[[bytes], None], in_memory: int) -> bytes | None:
        feed(b"")
        return b""

    def rewind(self) -> bool:
        return True


@dataclass
class Counted:
    """Implements `ports.Observer`."""

    said: list[str] = field(default_factory=list)

    def sent(self, upstream: Upstream) -> None:
        self.said.append("sent")

    def ended(self, upstream: Upstream, seconds: float) -> None:
        self.said.append("ended")

    def session_began(self, upstream: Upstream) -> None:
        self.said.append("session began")

    def session_ended(self, upstream: Upstream) -> None:
        self.said.append("session ended")

    def overtaken(self) -> None:
        self.said.append("overtaken")

    def quarantined(self, rule: Rule, extent: Extent) -> None:
        self.said.append(f"quarantined {extent}")

    def incident(self, kind: Incident) -> None:
        self.said.append(kind)
