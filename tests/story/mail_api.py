"""An API that sends mail, and sends it once more for each request that it gets: what keeps the effect single is in
front of it.

It runs in the test's own process, where a test tells it how to treat a mail; or as a process that can be killed:
`python -m tests.story.mail_api PORT LOG KEY...`, which sends the mails of these keys and never confirms them.
"""

import asyncio
import contextlib
import json
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.listening import Listening

_ROOT = Path(__file__).parents[2]


@dataclass
class Mail:
    """One request to send, and what may be done about it."""

    key: str
    api: "MailApi"
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def send(self) -> None:
        """The effect, which nothing takes back."""
        self.api.note(self.key)

    def confirm(self) -> None:
        """No two confirmations are the same, not even of one key."""
        document = {"key": self.key, "number": len(self.api.sent)}
        self.api.confirmed[self.key] = json.dumps(document).encode()
        self.writer.write(_answer("200 OK", document))

    def confirm_half(self) -> None:
        self.writer.write(_answer("200 OK", {"key": self.key})[:-1])
        self.writer.close()

    def refuse(self) -> None:
        self.writer.write(_answer("422 Unprocessable Content", {"key": self.key}))

    def hang_up(self) -> None:
        self.writer.transport.abort()

    async def until_hung_up(self) -> None:
        """Wait until whoever asked has given the connection up."""
        with contextlib.suppress(ConnectionError):
            assert await self.reader.read() == b""


Manner = Callable[[Mail], Awaitable[None]]


async def at_once(mail: Mail) -> None:
    mail.send()
    mail.confirm()


async def never_confirmed(mail: Mail) -> None:
    mail.send()
    await mail.until_hung_up()


def confirmed_after(told: asyncio.Event) -> Manner:
    """Sent at once; the confirmation waits."""

    async def manner(mail: Mail) -> None:
        mail.send()
        await told.wait()
        mail.confirm()

    return manner


async def sent_when_given_up(mail: Mail) -> None:
    """Slower than everybody's patience, and sent all the same."""
    await mail.until_hung_up()
    mail.send()


@dataclass
class MailApi(Listening):
    """`POST` with a JSON body that has a `key` sends; `GET /mail/by-key/KEY` tells how often that was done.

    `sent` has the key of each mail that was sent, in order; `confirmed` each key's answer; `asked` those that were
    asked about and not found.
    `manners` says how the mails of a key are treated, `manner` how all others are.
    """

    port: int = 0
    log: Path | None = None
    manner: Manner = at_once
    manners: dict[str, Manner] = field(default_factory=dict)
    sent: list[str] = field(default_factory=list)
    confirmed: dict[str, bytes] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._times: Counter[str] = Counter(self.sent)

    def note(self, key: str) -> None:
        self.sent.append(key)
        self._times[key] += 1
        if self.log is not None:
            with self.log.open("a") as log:
                log.write(f"{key}\n")

    def times(self, key: str) -> int:
        """How often the mail of this key was sent."""
        return self._times[key]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                await self._one(reader, writer)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            # A request that never became whole is none.
            pass
        finally:
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line, *fields = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, target, _ = line.split(" ")
        if method == "GET":
            self._tell(target.rpartition("/")[2], writer)
            return
        lengths = [int(value) for name, _, value in (one.partition(":") for one in fields) if name == "Content-Length"]
        document = json.loads(await reader.readexactly(lengths[0]))
        mail = Mail(str(document["key"]), self, reader, writer)
        await self.manners.get(mail.key, self.manner)(mail)

    def _tell(self, key: str, writer: asyncio.StreamWriter) -> None:
        times = self._times[key]
        writer.write(_answer("200 OK" if times else "404 Not Found", {"count": times}))
        if not times:
            self.asked.append(key)


def _answer(status: str, document: dict[str, object]) -> bytes:
    body = json.dumps(document).encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


@dataclass
class MailProcess:
    """The API as a process, on a log and later on a port of its own; killed, it can be started again."""

    log: Path
    port: int = 0

    @property
    def sent(self) -> list[str]:
        return self.log.read_text().split() if self.log.exists() else []

    @contextlib.asynccontextmanager
    async def running(self, *never_confirmed: str) -> AsyncIterator[asyncio.subprocess.Process]:
        """Until the end of the block, or until it is killed there."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.story.mail_api", str(self.port), str(self.log), *never_confirmed),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            cwd=_ROOT,
        )
        assert process.stdout is not None
        self.port = int(await process.stdout.readline())
        try:
            yield process
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()


async def main(port: str, log: str, *held: str) -> None:
    """Serve until killed; the port is told on standard output."""
    async with MailApi(int(port), Path(log), manners=dict.fromkeys(held, never_confirmed)) as api:
        print(api.port, flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
