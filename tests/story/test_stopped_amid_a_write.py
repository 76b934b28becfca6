"""A gateway that is stopped amid a write of each kind, and goes on when its holder was overtaken long ago."""

import asyncio
import contextlib
from pathlib import Path

import pytest

from tests.raw import RawClient, ask, request
from tests.recording import RecordingUpstream, Seen, answer_ok
from tests.store.server import Server
from tests.story.gateways import Gateway, two_gateways, write_policies
from tests.until import until

POLICY = """
upstream: reports
url: http://127.0.0.1:{port}
mount: {{path: /reports}}
timeouts: {{connect: 1s, total: 2s, late: 5s}}
defaults: {{fence: {{drain_timeout: 20s}}}}
writes:
  - name: write
    match: PUT /reports/{{id}}
    resource: report/{{path.id}}
    intent: {{mode: optional}}
"""
KEY = "Idempotency-Key: k"
# What is here when the gateway is stopped, what comes then, and what its caller is told in the end.
KINDS = {
    "chunked": ((b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", b"5\r\nworld\r\n0\r\n\r\n"), "outcome-unknown"),
    "length": ((b"Content-Length: 10\r\n\r\nhello", b"world"), "outcome-unknown"),
    "keyed": ((KEY.encode() + b"\r\nContent-Length: 10\r\n\r\nhello", b"world"), "stale-epoch"),
    "head": ((b"Content-Le", b"ngth: 10\r\n\r\nhelloworld"), "stale-epoch"),
    "asked": ((KEY.encode() + b"\r\nContent-Length: 4\r\n\r\nheld", b""), "outcome-unknown"),
}


class Api(RecordingUpstream):
    """Answers a body of `held` only once it is let go."""

    def __init__(self) -> None:
        super().__init__(self._answer)
        self.goes = asyncio.Event()

    async def _answer(self, seen: Seen, writer: asyncio.StreamWriter) -> None:
        if seen.body == b"held":
            await self.goes.wait()
        await answer_ok(seen, writer)

    def bodies(self, kind: str) -> list[bytes]:
        return [seen.body for seen in self.seen if f" /reports/{kind} " in seen.line]

    def halves(self, kind: str) -> list[bytes]:
        return [piece for piece in self.partial if b" /reports/%b " % kind.encode() in piece]


async def taken_over(gateway: Gateway, kind: str) -> str:
    """Another holder's write, and how it ended."""
    token = (await gateway.lease(f"report/{kind}", f"b-{kind}", takeover=True))["token"]
    return str((await ask(gateway.port, "PUT", f"/reports/{kind}", f"Fencing-Token: {token}", body=b"newer")).decision)


# Two gateways of processes, and the time of a write that nobody ends.
@pytest.mark.slow
async def test_nothing_of_it_comes_behind_the_newer_write(shared_store: Server, tmp_path: Path) -> None:
    """Half a body is cut off and never completed, what was not yet sent is not; the answer to what was sent settles
    it, late as it is."""
    async with Api() as api, contextlib.AsyncExitStack() as open_ones:
        policies = write_policies(tmp_path, "reports.yaml", POLICY.format(port=api.port))
        async with two_gateways(policies, tmp_path, shared_store.url) as (one, two):
            clients = []
            for kind, ((first, _), _) in KINDS.items():
                token = (await one.lease(f"report/{kind}", f"a-{kind}"))["token"]
                clients.append(await open_ones.enter_async_context(RawClient(one.port)))
                head = request("PUT", f"/reports/{kind}", f"Fencing-Token: {token}")
                await clients[-1].send(head.removesuffix(b"\r\n") + first)
            await until(lambda: api.receiving == 3)
            one.pause()
            for client, ((_, rest), _) in zip(clients, KINDS.values(), strict=True):
                await client.send(rest)
            newer = await asyncio.gather(*(taken_over(two, kind) for kind in KINDS))
            one.go_on()
            told = [(await client.answer()).decision for client in clients]
            api.goes.set()
            token = two.tokens["b-asked"]

            async def is_settled() -> bool:
                fields = (f"Fencing-Token: {token}", KEY)
                return (await ask(two.port, "PUT", "/reports/asked", *fields, body=b"held")).decision == "replayed"

            await until(is_settled)

        assert newer == ["forwarded"] * len(KINDS)
        assert told == [decision for _, decision in KINDS.values()]
        assert {kind: api.bodies(kind) for kind in KINDS} == {
            **{kind: [b"newer"] for kind in KINDS},
            "asked": [b"held", b"newer"],
        }
        assert {kind: len(api.halves(kind)) for kind in KINDS} == {**dict.fromkeys(KINDS, 0), "chunked": 1, "length": 1}
        assert not any(b"world" in piece for piece in api.partial)
