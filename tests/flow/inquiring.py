"""An inquiry between scripts: the store's unknown intents, and upstreams that answer as they are told."""

import gzip
import json
from pathlib import Path
from typing import Any

from gateway.core.epoch import Epoch
from gateway.core.intent import IntentId
from gateway.core.outcome import NoReply, NotSent
from gateway.core.record import IntentRecord
from gateway.core.request import Request
from gateway.core.rule import Upstream
from gateway.core.whole_body import WholeBody
from gateway.core.write import Incident
from gateway.flow.inquiry import Inquiry, Resolution
from gateway.log import Log
from gateway.policy.ruleset import RuleSet
from tests.playbook.given import RESOURCE
from tests.playbook.script import Script, Transcript
from tests.playbook.upstream import ScriptedAnswer
from tests.until import until

POLICY = """
upstream: mail
url: http://localhost:9
mount: {path: /mail}
timeouts: {connect: 50ms, total: 100ms, late: 30s}
capabilities:
  query:
    request: GET /mail/by-key/{intent.key}
    applied: {status: 200}
    not_applied: {status: 404}
    duplicated: {json: {/count: ">1"}}
    not_before: 1s
writes:
  - name: send
    match: POST /mail/{box}
    resource: mail/{path.box}
    intent: {mode: required, on_unknown: query}
"""
# From here on a no counts: `late` and `not_before`.
LATE_ENOUGH_S = 31.0
JSON = b'{"count":1}'
TWICE = b'{"count":2}'
GZIPPED = gzip.compress(TWICE, mtime=0)


def record(id: str = "000one", *, upstream: str = "mail", key: str | None = None) -> IntentRecord:
    return IntentRecord(
        id=IntentId(id),
        state="unknown",
        upstream=upstream,
        rule="send",
        resource=RESOURCE,
        epoch=Epoch(42),
        holder="a",
        key=key or f"key-{id[3:]}",
        tenant="default",
        target="POST /mail/out",
        attempts=1,
        created_at_ms=1000,
        updated_at_ms=2000,
        reason="no answer",
    )


class Asked:
    """Implements `inquiry.Question`."""

    def __init__(self, record: IntentRecord, unknown_for_s: float) -> None:
        self.record = record
        self.unknown_for_s = unknown_for_s


class ScriptedQuestions:
    """Implements `inquiry.Questions` for some intents; a line of `broken` is raised instead of the answer."""

    def __init__(self, said: Transcript, *records: IntentRecord, unknown_for_s: float = LATE_ENOUGH_S) -> None:
        self.said = said
        self.records = {record.id: record for record in records}
        self.unknown_for_s = unknown_for_s
        self.broken: dict[str, Exception] = {}
        self.resolves = True
        self.evidence: list[bytes] = []
        self.is_own: list[bool] = []

    def _say(self, verb: str, line: str) -> None:
        self.said.say(line)
        if verb in self.broken:
            raise self.broken[verb]

    async def recall(self, id: IntentId) -> IntentRecord | None:
        self._say("recall", f"recall {id}")
        return self.records.get(id)

    async def take(self, id: IntentId) -> Asked | None:
        self._say("take", f"take {id}")
        return Asked(self.records[id], self.unknown_for_s) if id in self.records else None

    async def resolve(
        self, record: IntentRecord, outcome: Resolution, reason: str, evidence: bytes, *, is_own: bool
    ) -> bool:
        self._say("resolve", f"resolve {record.id} {outcome}: {reason}")
        self.evidence.append(evidence)
        self.is_own.append(is_own)
        return self.resolves


class ScriptedSender:
    """Implements `inquiry.Sender`: an upstream's answers in order, by the key that is asked about."""

    def __init__(self, said: Transcript, **answers: object) -> None:
        self._said = said
        self._scripts = {key: Script(answer) for key, answer in answers.items()}
        self.requests: list[Request] = []

    async def read(self, upstream: Upstream, request: Request, body: WholeBody) -> ScriptedAnswer | NotSent | NoReply:
        assert (body.take_buffered(), body.length, await body.read(), body.rewind()) == (b"", 0, b"", True)
        self.requests.append(request)
        self._said.say(f"{request.method} {request.target.raw} of {upstream.name}")
        answer = await self._scripts[request.target.path.rpartition("-")[2]].next()
        assert isinstance(answer, ScriptedAnswer | NotSent | NoReply)
        return answer


class Play:
    """An inquiry between scripts; `said` is the conversation, and incidents are part of it. It logs to `log`."""

    def __init__(self, rules: RuleSet, log: Path, descriptor: int, *records: IntentRecord, after_s: float) -> None:
        self.said = Transcript()
        self.questions = ScriptedQuestions(self.said, *records, unknown_for_s=after_s)
        self.rules = rules
        self._log = log
        self.directory = log.parent
        self._descriptor = descriptor

    async def ask(self, *due: str, **answers: object) -> list[str]:
        """One turn to its end."""
        inquiry, sender = self.begin(*due, **answers)
        await inquiry.close(5)
        self.requests = sender.requests
        return self.said

    def begin(self, *due: str, **answers: object) -> tuple[Inquiry, ScriptedSender]:
        for answer in answers.values():
            if isinstance(answer, ScriptedAnswer):
                answer.said = self.said
        sender = ScriptedSender(self.said, **answers)
        log = Log("json", descriptor=self._descriptor)
        inquiry = Inquiry(self.questions, sender, lambda: self.rules, self, log)
        inquiry.begin(map(IntentId, due))
        return inquiry, sender

    async def looked_at(self, count: int) -> None:
        """Wait until so many intents have been."""
        await until(lambda: len({line for line in self.said if line.startswith("recall")}) == count)

    def incident(self, kind: Incident) -> None:
        self.said.say(f"incident {kind}")

    def logged(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self._log.read_text().splitlines()]


def answer(
    status: int, body: bytes = JSON, *, whole: bool = True, coding: bytes = b"", age: bytes = b""
) -> ScriptedAnswer:
    headers = ((b"Content-Encoding", coding),) if coding else ()
    headers += ((b"Age", age),) if age else ()
    return ScriptedAnswer(Transcript(), status, (body, whole), headers=headers)
