"""Drives conversations through a gateway, and has both of its sides judged."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.fuzz.allowed import stripped
from tests.fuzz.answers import breaks_off
from tests.fuzz.grammar import conversation
from tests.fuzz.kinds import LEASED
from tests.fuzz.leases import Leases
from tests.fuzz.oracle import Oracle
from tests.fuzz.reader import Message, Reading, read
from tests.raw import ask

# A conversation lasts milliseconds; a write may wait ten seconds for another one of its resource.
_WITHIN_S = 30.0
# Behind bytes that are no request the gateway closes. Where it waits for more of them instead, its caller leaves.
_TO_CLOSE_S = 0.5
_TAKEOVER_EVERY = 50
_STATUS_LINE = re.compile(rb"HTTP/1\.1 [1-5][0-9]{2} ")
_EPOCH_EVERY = 20
_OF_THE_API = ("forwarded", "passed", "replayed")
_NEVER = ("none", "internal-error")
_BROKEN = ("outcome-unknown", "upstream-broken")


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
        for resource in LEASED * 2:
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
            await self._take(LEASED[number // _TAKEOVER_EVERY % len(LEASED)])
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
                if not await self._answer(reader, message):
                    return
            if reading.faulty:
                async with asyncio.timeout(_TO_CLOSE_S):
                    while await self._answer(reader, None):
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

    async def _answer(self, reader: asyncio.StreamReader, asked: Message | None) -> bool:
        """Take the next answer; False at the end of the connection. `asked`: None behind what is no request."""
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
        # A body that no strict reader takes to its end may be on its way already: then nobody knows what came of it.
        may_break = decision == "outcome-unknown" if asked is None else _may_break(asked)
        if status == 500 or decision in _NEVER or (decision in _BROKEN and not may_break):
            self.oracle.found.append(f"an answer that must not be: {head!r}")
        if asked is None and decision in ("forwarded", "passed", "replayed"):
            self.oracle.found.append(f"what no strict reader takes was answered with {decision}")
        if decision == "bad-request":
            # Nobody knows what follows, so nothing may; whether the answer has a body neither.
            await reader.read()
            return False
        bodiless = asked is not None and asked.method == b"HEAD"
        try:
            body = b"" if bodiless else await _body(reader, fields)
        except asyncio.IncompleteReadError:
            if not may_break:
                raise
            return False
        if asked is not None and decision in _OF_THE_API:
            self.oracle.answered(asked, decision, _number(decision, fields, body))
        return True


def _may_break(asked: Message) -> bool:
    """Whether the API's answer breaks off, or that to a request of the same intent may have."""
    return breaks_off(stripped(asked, []).number or b"") or bool(asked.values(b"idempotency-key"))


async def _body(reader: asyncio.StreamReader, fields: dict[bytes, bytes]) -> bytes:
    if b"content-length" in fields:
        return await reader.readexactly(int(fields[b"content-length"]))
    if fields.get(b"transfer-encoding") != b"chunked":
        # To an older client it ends with its connection.
        return await reader.read()
    body = b""
    while size := int(await reader.readuntil(b"\r\n"), 16):
        body += (await reader.readexactly(size + 2))[:-2]
    await reader.readexactly(2)
    return body


def _number(decision: str, fields: dict[bytes, bytes], body: bytes) -> bytes:
    """Of the request that the API answered, as it says itself. A replay keeps the body, and few fields."""
    told = json.loads(body)["number"] if decision == "replayed" else fields[b"x-echo"].decode()
    return bytes.fromhex(told)


async def _send(writer: asyncio.StreamWriter, data: bytes, cuts: list[int]) -> None:
    for start, end in zip((0, *cuts), (*cuts, len(data)), strict=True):
        writer.write(data[start:end])
        await writer.drain()
        await asyncio.sleep(0)


def _how_to_replay(seed: int, number: int, data: bytes) -> str:
    return (
        f"in conversation {number}; once more: python -m tests.fuzz --seed {seed} --first {number} --count 1\n{data!r}"
    )
