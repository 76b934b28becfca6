"""HAProxy and nginx before gateways, as `deploy` sets them up: nothing is sent twice, held back or made up."""

import asyncio
import json
import subprocess
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.core.forwarded import CLAIMS
from tests.deploy.balancing import HAPROXY, NGINX, Kind, balancing, free_port, write_file
from tests.raw import RawAnswer, RawClient, ask, request
from tests.recording import Answer, RecordingUpstream, Seen, answer_ok, answering
from tests.sessions import POLICY as ROOMS
from tests.sessions import Agent, SessionUpstream, frame, lease
from tests.stack import POLICY, Stack, stack
from tests.store.server import Server
from tests.story.gateways import Gateway, write_policy
from tests.until import until

FORWARDED = POLICY.replace("timeouts:", "forwarded: x-forwarded\ntimeouts:")
THIS_MACHINE = ("127.0.0.1",)
LARGE = 8 << 20


@pytest.fixture(params=[HAPROXY, NGINX], ids=["haproxy", "nginx"])
def kind(request: pytest.FixtureRequest) -> Kind:
    """A balancer that is there."""
    kind: Kind = request.param
    if kind.binary is None:
        pytest.skip(f"no {kind.program} (apt-get install {kind.program})")
    return kind


@pytest.fixture
async def ready() -> AsyncIterator[RecordingUpstream]:
    """Stands for an admin listener: ready, whatever it is asked."""
    async with RecordingUpstream() as admin:
        yield admin


def test_the_file_is_valid(kind: Kind, tmp_path: Path) -> None:
    """Without a warning."""
    file = write_file(kind, tmp_path, 1, ((2, 3), (4, 5)))

    checked = subprocess.run([str(kind.binary), *kind.check, str(file)], capture_output=True, text=True, check=False)

    said = checked.stdout + checked.stderr
    assert checked.returncode == 0, said
    assert "[warn]" not in said and "[WARNING]" not in said


async def _half(_: Seen, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Le")
    writer.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    "death",
    [answering(b"", close=True), answering(b"", reset=True), _half],
    ids=["closes", "resets", "ends within its answer's head"],
)
@pytest.mark.parametrize("method", ["PUT", "DELETE", "POST"])
async def test_what_a_gateway_took_is_not_sent_to_another(
    kind: Kind, tmp_path: Path, ready: RecordingUpstream, method: str, death: Answer
) -> None:
    """It may have reached the API. That PUT and DELETE may be repeated by HTTP's word does not make it so."""
    body = b"{}" if method != "DELETE" else None
    async with (
        RecordingUpstream(answer=death) as one,
        RecordingUpstream(answer=death) as two,
        balancing(kind, tmp_path, ((one.port, ready.port), (two.port, ready.port))) as port,
    ):
        answer = await ask(port, method, "/reports/7", body=body)

    # Without a decision of the gateway: what became of it is not known.
    assert (answer.status, answer.decision) == (502, None)
    assert [seen.line.split()[0] for seen in (*one.seen, *two.seen)] == [method]


@pytest.mark.slow
async def test_requests_pass_as_they_are(kind: Kind, tmp_path: Path, store_url: str, ready: RecordingUpstream) -> None:
    """Leases and writes under them; the head before the body has come; and the 100 that a careful sender waits for."""
    async with stack(store_url, tmp_path, trusted_proxies=THIS_MACHINE) as gate:
        both = ((gate.port, ready.port),) * 2
        async with balancing(kind, tmp_path, both) as port, RawClient(port) as client:
            through = Stack(port, gate.upstream, gate.log)
            granted = await through.lease("report/7")
            written = await through.write("/reports/7")
            under = f"Fencing-Token: {through.tokens['agent-a']}"
            await client.send(request("PUT", "/reports/7", under, f"Content-Length: {LARGE}", "Expect: 100-continue"))
            go_on = await client.line()
            await client.line()
            await client.send(bytes(LARGE // 2))
            await gate.upstream.until(lambda: gate.upstream.receiving == 2)
            await client.send(bytes(LARGE // 2))
            large = await client.answer()

    assert granted.status == 201
    assert (written.status, written.decision) == (200, "forwarded")
    assert go_on.startswith(b"HTTP/1.1 100 ")
    assert (large.status, large.decision) == (200, "forwarded")
    assert [len(seen.body) for seen in gate.upstream.seen] == [2, LARGE]


@pytest.mark.slow
async def test_a_refusal_passes(kind: Kind, tmp_path: Path, store_url: str, ready: RecordingUpstream) -> None:
    """With all that an agent acts on."""
    async with (
        stack(store_url, tmp_path) as gate,
        balancing(kind, tmp_path, ((gate.port, ready.port),) * 2) as port,
    ):
        answer = await ask(port, "PUT", "/reports/7", body=b"{}")

    assert (answer.status, answer.decision) == (428, "token-required")
    assert answer.problem["action"] == "reacquire"


@pytest.mark.slow
async def test_a_target_passes_as_it_is_spelled(
    kind: Kind, tmp_path: Path, store_url: str, ready: RecordingUpstream
) -> None:
    """What can be read in two ways is the gateway's to refuse, and not made into one of them before it sees it."""
    async with (
        stack(store_url, tmp_path) as gate,
        balancing(kind, tmp_path, ((gate.port, ready.port),) * 2) as port,
    ):
        targets = ("/reports/a%2Fb", "/reports/a/../b", "/reports//b", "/reports/b;c", "/reports/%2e%2e/b")
        answers = [await ask(port, "PUT", target, body=b"{}") for target in targets]

    assert [(answer.status, answer.decision) for answer in answers] == [(400, "ambiguous-target")] * len(targets)


@pytest.mark.slow
async def test_a_caller_cannot_say_where_it_comes_from(
    kind: Kind, tmp_path: Path, store_url: str, ready: RecordingUpstream
) -> None:
    """The balancer is believed, so that it has to say it anew; and says the host that it was asked for."""
    claimed = [f"{name.decode()}: 192.0.2.66" for name in (*sorted(CLAIMS), b"x-forwarded-for", b"x-forwarded-port")]
    async with stack(store_url, tmp_path, FORWARDED, trusted_proxies=THIS_MACHINE) as gate:
        async with balancing(kind, tmp_path, ((gate.port, ready.port),) * 2) as port:
            answer = await ask(port, "GET", "/reports/7", *claimed, host="reports.example")
        await until(lambda: '"client"' in gate.log.read_text())

    (seen,) = gate.upstream.seen
    assert answer.status == 200
    assert b"192.0.2.66" not in seen.raw
    assert seen.values("x-forwarded-for") == ["127.0.0.1, 127.0.0.1"]
    assert seen.values("x-forwarded-host") == ["reports.example"]
    assert seen.values("x-forwarded-proto") == ["http"]
    assert json.loads(gate.log.read_text().splitlines()[-1])["client"] == "127.0.0.1"


@pytest.mark.slow
async def test_a_websocket_session_passes(kind: Kind, tmp_path: Path, store_url: str, ready: RecordingUpstream) -> None:
    """The handshake, and frames both ways."""
    said, heard = frame(b"hello"), frame(b"hi", masked=False)
    async with (
        SessionUpstream() as rooms,
        stack(store_url, tmp_path, ROOMS.replace("{port}", str(rooms.port))) as gate,
        balancing(kind, tmp_path, ((gate.port, ready.port),) * 2) as port,
        Agent(port) as agent,
    ):
        opened = await agent.open("/rooms/7/live", await lease(port, "room/7"))
        await agent.send(said)
        await rooms.until(lambda: rooms.received == said)
        await rooms.say(heard)

        assert opened.status == 101
        assert await agent.take(len(heard)) == heard


NOT_READY = answering(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")


@pytest.fixture
def haproxy() -> Kind:
    if HAPROXY.binary is None:
        pytest.skip("no haproxy (apt-get install haproxy)")
    return HAPROXY


@pytest.mark.slow
async def test_a_refused_connection_is_tried_at_the_other_gateway(
    haproxy: Kind, tmp_path: Path, ready: RecordingUpstream
) -> None:
    """Nothing was sent on it. (nginx cannot tell this from an answer that does not come.)"""
    async with RecordingUpstream() as one:
        nobody = free_port()
        async with balancing(haproxy, tmp_path, ((nobody, ready.port), (one.port, ready.port))) as port:
            statuses = [(await ask(port, "PUT", "/reports/7", body=b"{}")).status for _ in range(4)]

    assert statuses == [200] * 4
    assert len(one.seen) == 4


@pytest.mark.slow
async def test_one_that_is_not_ready_gets_nothing(haproxy: Kind, tmp_path: Path, ready: RecordingUpstream) -> None:
    """As one that drains, or has lost its store, while another is ready."""
    async with (
        RecordingUpstream() as one,
        RecordingUpstream() as two,
        RecordingUpstream(answer=NOT_READY) as draining,
        balancing(haproxy, tmp_path, ((one.port, draining.port), (two.port, ready.port))) as port,
    ):
        await draining.until(lambda: sum(seen.line.startswith("GET /readyz ") for seen in draining.seen) >= 3)
        for _ in range(4):
            assert (await ask(port, "PUT", "/reports/7", body=b"{}")).status == 200

    assert (len(one.seen), len(two.seen)) == (0, 4)


async def _alive(seen: Seen, writer: asyncio.StreamWriter) -> None:
    await (answer_ok if seen.line.startswith("GET /healthz ") else NOT_READY)(seen, writer)


@pytest.mark.slow
async def test_where_none_is_ready_those_that_live_answer(haproxy: Kind, tmp_path: Path) -> None:
    """Reads pass while the store is away, and a write is told by the gateway itself when to come back."""
    async with (
        RecordingUpstream() as one,
        RecordingUpstream(answer=_alive) as admin,
        balancing(haproxy, tmp_path, ((one.port, admin.port),) * 2) as port,
    ):
        await admin.until(lambda: sum(seen.line.startswith("GET /readyz ") for seen in admin.seen) >= 6)
        answer = await ask(port, "GET", "/reports/7")

    assert answer.status == 200


@pytest.mark.slow
async def test_a_gateway_stops(haproxy: Kind, tmp_path: Path, shared_store: Server) -> None:
    """One that drains hands its callers over: every write is answered, and none is sent twice."""
    answers: list[RawAnswer | None] = []
    async with RecordingUpstream() as upstream:
        policies, drains = write_policy(tmp_path, upstream.port), ("--drain", "8")
        one, two = (Gateway(policies, tmp_path / name, shared_store.url, drains) for name in ("one", "two"))
        async with one, two, balancing(haproxy, tmp_path, ((one.port, one.admin), (two.port, two.admin))) as port:
            ending = asyncio.ensure_future(one.end())
            while not ending.done():
                answers += await _written(port, range(len(answers), len(answers) + 10), dies=None)

    assert answers
    assert {answer is not None and answer.status for answer in answers} == {200}
    assert max(Counter(seen.body for seen in upstream.seen).values()) == 1


@pytest.mark.slow
async def test_a_gateway_dies(kind: Kind, tmp_path: Path, shared_store: Server) -> None:
    """Writes go on through the other one, and none comes to the API twice, those in flight at the death included."""
    async with RecordingUpstream() as upstream:
        policies = write_policy(tmp_path, upstream.port)
        one, two = (Gateway(policies, tmp_path / name, shared_store.url) for name in ("one", "two"))
        async with one, two, balancing(kind, tmp_path, ((one.port, one.admin), (two.port, two.admin))) as port:
            answers = await _written(port, range(40), dies=one)
            after = await _written(port, range(40, 60), dies=None)

    counts = Counter(seen.body for seen in upstream.seen)
    assert max(counts.values()) == 1
    assert len(counts) >= sum(answer is not None and answer.status == 200 for answer in (*answers, *after))
    assert [answer is not None and answer.status for answer in after[5:]] == [200] * len(after[5:])


async def _written(port: int, numbers: range, dies: Gateway | None) -> list[RawAnswer | None]:
    """One write after the other, of another resource each; in the middle a gateway is killed. None: no answer came."""
    answers: list[RawAnswer | None] = []
    for number in numbers:
        shown = ("Fencing-Token: 1", "Fencing-Holder: agent-a")
        writing = asyncio.ensure_future(
            ask(port, "PUT", f"/reports/{number}", *shown, body=f'{{"number": {number}}}'.encode(), host="localhost")
        )
        if dies is not None and number == numbers[len(numbers) // 2]:
            await dies.kill()
        try:
            answers.append(await writing)
        except ConnectionError:
            answers.append(None)
    return answers
