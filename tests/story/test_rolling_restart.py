"""Two gateways are restarted one after the other under load: their callers notice nothing but a 503 to be repeated."""

import asyncio
import contextlib
from collections import Counter
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest

from tests.listening import Listening
from tests.raw import RawAnswer, RawClient, ask, request
from tests.recording import RecordingUpstream, Seen, answer_ok
from tests.store.server import Server
from tests.story.gateways import Gateway
from tests.until import until

pytestmark = pytest.mark.slow

POLICY = """
upstream: mail
url: http://127.0.0.1:{port}
mount: {{path: /mail}}
timeouts: {{connect: 1s, total: 5s}}
writes:
  - name: send
    match: POST /mail/{{box}}
    resource: mail/{{path.box}}
    authority: header
    intent: {{mode: required}}
"""
CALLERS = 16
UNDER = ("Fencing-Token: 1", "Fencing-Holder: agent-a")


@dataclass
class Balancer(Listening):
    """Passes each connection to the next gateway that takes it, and knows nothing of HTTP."""

    backends: list[int]
    port: int = 0
    taken: Counter[int] = field(default_factory=Counter)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.CancelledError), contextlib.closing(writer):
            for backend in [*self.backends]:
                self.backends.append(self.backends.pop(0))
                with contextlib.suppress(ConnectionRefusedError):
                    far_reader, far_writer = await asyncio.open_connection("127.0.0.1", backend)
                    self.taken[backend] += 1
                    with contextlib.closing(far_writer):
                        await asyncio.gather(_pump(reader, far_writer), _pump(far_reader, writer))
                    return


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while piece := await source.read(65536):
            sink.write(piece)
            await sink.drain()
    sink.close()


@dataclass
class Callers:
    """Each sends one mail after the other, under a key of its own, and repeats it only on a 503 that says when."""

    port: int
    sent: list[str] = field(default_factory=list)
    repeated: int = 0
    stop: bool = False

    async def call(self, box: int) -> None:
        for number in count():
            if self.stop:
                return
            key = f"{box}-{number}"
            while (answer := await self._post(box, key)).status == 503:
                assert answer.value("Retry-After") is not None
                self.repeated += 1
            assert answer.status == 200, (key, answer)
            self.sent.append(key)

    async def _post(self, box: int, key: str) -> RawAnswer:
        return await ask(self.port, "POST", f"/mail/{box}", *UNDER, f"Idempotency-Key: {key}", body=b"{}")


async def in_a_moment(_: Seen, writer: asyncio.StreamWriter) -> None:
    """So that there is always something in flight."""
    await asyncio.sleep(0.02)
    await answer_ok(_, writer)


@pytest.mark.parametrize("options", [(), ("--drain", "1")], ids=["at once", "drained"])
async def test_a_rolling_restart_loses_nothing(shared_store: Server, tmp_path: Path, options: tuple[str, ...]) -> None:
    """No connection is reset, nothing is executed twice, and nothing that was answered is missing."""
    async with RecordingUpstream(answer=in_a_moment) as upstream:
        policies = tmp_path / "policies"
        policies.mkdir()
        (policies / "mail.yaml").write_text(POLICY.format(port=upstream.port))
        one, two = (Gateway(policies, tmp_path / name, shared_store.url, options) for name in ("one", "two"))
        async with one, two, Balancer([one.port, two.port]) as balancer:
            callers = Callers(balancer.port)
            calling = [asyncio.ensure_future(callers.call(box)) for box in range(CALLERS)]
            for gateway in (one, two, one, two):
                before = len(callers.sent)
                await until(lambda before=before: len(callers.sent) >= before + 100 or any(map(_failed, calling)))
                await gateway.end()
                await gateway.start()
            callers.stop = True
            await asyncio.gather(*calling)

    executed = Counter(seen.values("Idempotency-Key")[0] for seen in upstream.seen)
    assert executed == Counter(callers.sent)
    assert set(executed.values()) == {1}
    assert min(balancer.taken.values()) > 50


def _failed(task: "asyncio.Task[None]") -> bool:
    return task.done() and task.exception() is not None


async def test_a_gateway_that_drains_is_not_ready_and_still_takes_callers(shared_store: Server, tmp_path: Path) -> None:
    """Until those before it have seen that it should not be sent any; a second signal cuts it short."""
    async with RecordingUpstream() as upstream:
        policies = tmp_path / "policies"
        policies.mkdir()
        (policies / "mail.yaml").write_text(POLICY.format(port=upstream.port))
        async with Gateway(policies, tmp_path / "one", shared_store.url, ("--drain", "600")) as gateway:
            gateway._process.terminate()

            async def is_not_ready() -> bool:
                return (await ask(gateway.admin, "GET", "/readyz", host="localhost")).status == 503

            await until(is_not_ready)
            during = await ask(gateway.port, "POST", "/mail/1", *UNDER, "Idempotency-Key: k", body=b"{}")
            gateway._process.terminate()
            code = await asyncio.wait_for(gateway._process.wait(), 60)

    assert ((during.status, during.decision), code) == ((200, "forwarded"), 0)


async def test_an_open_connection_is_told_that_its_answer_is_the_last(shared_store: Server, tmp_path: Path) -> None:
    """What is asked on it while the gateway stops is answered, and it is closed behind that."""
    async with RecordingUpstream(answer=in_a_moment) as upstream:
        policies = tmp_path / "policies"
        policies.mkdir()
        (policies / "mail.yaml").write_text(POLICY.format(port=upstream.port))
        async with Gateway(policies, tmp_path / "one", shared_store.url) as gateway, RawClient(gateway.port) as client:
            answers = []
            ending: asyncio.Task[None] | None = None
            while not answers or answers[-1].value("Connection") is None:
                await client.send(request("GET", "/mail/1"))
                answers.append(await client.answer("GET"))
                if ending is None:
                    ending = asyncio.ensure_future(gateway.end())
            end = await client.line()
            assert ending is not None
            await ending

    assert {answer.status for answer in answers} == {200}
    assert (answers[-1].value("Connection"), end) == ("close", b"")
