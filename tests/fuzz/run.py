"""Drives conversations through a gateway, and has both of its sides judged."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.fuzz.grammar import REPORTS, TASKS, conversation
from tests.fuzz.leases import Leases
from tests.fuzz.oracle import Oracle
from tests.fuzz.reader import Reading, read
from tests.raw import ask

POLICIES = {
    "reports": """
upstream: reports
url: http://localhost:{port}
mount: {{path: /reports}}
timeouts: {{connect: 2s, total: 10s}}
capabilities: {{fencing_token: X-Fencing-Token}}
writes:
  - name: write-report
    match: PUT,POST,PATCH,DELETE /reports/{{id}}
    resource: report/{{path.id}}
    intent: {{mode: optional}}
""",
    "jobs": """
upstream: jobs
url: http://127.0.0.1:{port}
mount: {{path: /jobs}}
timeouts: {{connect: 2s, total: 10s}}
capabilities: {{fencing_token: X-Fencing-Token}}
writes:
  - name: write-job
    match: PUT /jobs/{{id}}
    resource: job/{{path.id}}
    authority: header
""",
    "tasks": """
upstream: tasks
url: http://127.0.0.1:{port}
mount: {{path: /tasks}}
timeouts: {{connect: 2s, total: 10s}}
capabilities: {{fencing_token: X-Fencing-Token}}
writes:
  - name: add-task
    match: POST /tasks
    resource: task/{{json:/id}}
""",
}
# A conversation lasts milliseconds; a write may wait ten seconds for another one of its resource.
_WITHIN_S = 30.0
# Behind bytes that are no request the gateway closes. Where it waits for more of them instead, its caller leaves.
_TO_CLOSE_S = 0.5
_TAKEOVER_EVERY = 50
_STATUS_LINE = re.compile(rb"HTTP/1\.1 [1-5][0-9]{2} ")
_EPOCH_EVERY = 20


@dataclass
class Run:
    """One seed's conversations, several at a time. Raises nothing: what was wrong is in `oracle.found`."""

    seed: int
    port: int
    oracle: Oracle
    conversations: int = 0
    waited: int = 0
    decisions: Counter[str] = field(default_factory=Counter)

    @property
    def requests(self) -> int:
        """Those that were judged: behind what ends a connection, none is."""
        return sum(self.decisions.values())

    @property
    def leases(self) -> Leases:
        return self.oracle.leases

    async def begin(self) -> None:
        """Take a lease of every resource, twice: there are dead tokens from the start."""
        for resource in (*REPORTS, *TASKS) * 2:
            await self._take(resource)

    async def go(self, numbers: Iterable[int], at_once: int = 8) -> None:
        """These conversations; the first that is wrong ends the run."""
        left = iter(numbers)

        async def work() -> None:
            for number in left:
                if self.oracle.found:
                    return
                await self._converse(number)

        async with asyncio.TaskGroup() as group:
            for _ in range(at_once):
                group.create_task(work())

    async def _take(self, resource: bytes) -> None:
        asked = {"resource": resource.decode(), "holder": "fuzz", "ttl_s": 3_600, "takeover": True}
        answer = await ask(self.port, "POST", "/-/fence/leases", body=json.dumps(asked).encode())
        assert answer.status == 201, answer.body
        self.leases.granted(resource, json.loads(answer.body)["token"].encode())

    async def _converse(self, number: int) -> None:
        if number % _TAKEOVER_EVERY == 0:
            await self._take((*REPORTS, *TASKS)[number // _TAKEOVER_EVERY % len(REPORTS + TASKS)])
        data, cuts = conversation(f"{self.seed}/{number}", self.leases, 10 + number // _EPOCH_EVERY)
        reading = read(data)
        self.oracle.sending(reading.messages)
        self.conversations += 1
        before = len(self.oracle.found)
        try:
            async with asyncio.timeout(_WITHIN_S):
                await self._exchange(data, cuts, reading)
        except TimeoutError:
            self.oracle.found.append("the conversation did not end")
        if len(self.oracle.found) > before:
            self.oracle.found.append(_how_to_replay(self.seed, number, data))

    async def _exchange(self, data: bytes, cuts: list[int], reading: Reading) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        sending = asyncio.ensure_future(_send(writer, data, cuts))
        try:
            for message in reading.messages:
                if not await self._answer(reader, message.method == b"HEAD", may_pass=True):
                    return
            if reading.faulty:
                async with asyncio.timeout(_TO_CLOSE_S):
                    while await self._answer(reader, head_only=False, may_pass=False):
                        pass
        except TimeoutError:
            if not reading.faulty:
                raise
            self.waited += 1
        except ConnectionError:
            # What was unread when the gateway closed resets the connection.
            return
        finally:
            sending.cancel()
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, head_only: bool, *, may_pass: bool) -> bool:
        """Take the next answer; False at the end of the connection."""
        status = 100
        while status < 200:
            try:
                head = await reader.readuntil(b"\r\n\r\n")
            except asyncio.IncompleteReadError as error:
                if error.partial:
                    self.oracle.found.append(f"an answer broke off: {error.partial!r}")
                return False
            if not _STATUS_LINE.match(head):
                self.oracle.found.append(f"no answer begins so: {head!r}")
                return False
            status = int(head[9:12])
        fields = {
            name.lower(): value.strip() for name, _, value in (line.partition(b":") for line in head.split(b"\r\n"))
        }
        decision = fields.get(b"fencing-decision", b"none").decode()
        self.decisions[decision] += 1
        if status == 500 or decision in ("none", "internal-error", "outcome-unknown", "upstream-broken"):
            self.oracle.found.append(f"an answer that must not be: {head!r}")
        if not may_pass and decision in ("forwarded", "passed", "replayed"):
            self.oracle.found.append(f"what no strict reader takes was answered with {decision}")
        if decision == "bad-request":
            # Nobody knows what follows, so nothing may; whether the answer has a body neither.
            await reader.read()
            return False
        if not head_only and status not in (204, 304):
            await reader.readexactly(int(fields[b"content-length"]))
        return True


async def _send(writer: asyncio.StreamWriter, data: bytes, cuts: list[int]) -> None:
    for start, end in zip((0, *cuts), (*cuts, len(data)), strict=True):
        writer.write(data[start:end])
        await writer.drain()
        await asyncio.sleep(0)


def _how_to_replay(seed: int, number: int, data: bytes) -> str:
    return (
        f"in conversation {number}; once more: python -m tests.fuzz --seed {seed} --first {number} --count 1\n{data!r}"
    )
