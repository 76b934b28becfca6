"""The running gateway: what survives which death, how it ends, and what it says while it starts."""

import asyncio
import json
import os
import signal
from pathlib import Path

from gateway.log import Log
from gateway.serve.signals import Signals
from gateway.serve.supervisor import work_until_stopped
from gateway.store.embedded import running_store
from tests.gateway_process import GatewayProcess, call, running, starting, write_policy
from tests.process import is_alive
from tests.recording import OK, RecordingUpstream, Seen
from tests.until import until


async def write(gateway: GatewayProcess, token: str) -> int:
    """The status of one write."""
    answer = await call(gateway.proxy, "PUT", "/reports/7", f"Fencing-Token: {token}", body=b"{}")
    return answer.status


def store_pid(directory: Path) -> int:
    return int((directory / "data" / "store.lock").read_text().split()[0])


async def test_the_log_says_where_it_listens_and_that_callers_are_anonymous(tmp_path: Path) -> None:
    """Whoever starts a gateway sees both addresses, and that nobody is authenticated."""
    write_policy(tmp_path, 9)
    async with running(tmp_path) as gateway:
        assert gateway.logged("every caller is anonymous")
        assert (await gateway.operate("GET", "/readyz")).status == 200
        assert gateway.proxy != gateway.admin


async def test_the_log_says_which_process_the_audit_trail_names(tmp_path: Path) -> None:
    """Who has two gateways finds the log of the one that did it; `fencegate store` names it likewise."""
    write_policy(tmp_path, 9)
    async with running(tmp_path) as gateway:
        await gateway.lease("report/7")
        [granted] = json.loads((await gateway.operate("GET", "/api/v1/audit")).body)["items"]
        [server] = json.loads((await gateway.operate("GET", "/api/v1/store")).body)["servers"]

        [connected] = gateway.logged("connected to the store")
    assert (connected["pid"], connected["process"]) == (gateway.workers()[0], granted["by"])
    assert connected["process"] in [mark["process"] for mark in server["marks"]]


async def test_rules_that_only_observe_are_told_and_go_on_without_the_store(tmp_path: Path) -> None:
    """A careful start must not stop what worked before, and must not be forgotten."""
    async with RecordingUpstream() as upstream:
        policy = write_policy(tmp_path, upstream.port) / "reports.yaml"
        policy.write_text(policy.read_text() + "    mode: observe\n")
        async with running(tmp_path, FENCEGATE_STORE_TIMEOUT="0.3") as gateway:
            os.kill(store_pid(tmp_path), signal.SIGSTOP)
            try:
                token = "Fencing-Token: 5.aaaaaaaaaaaaaaaaaaaaaa"
                answer = await call(gateway.proxy, "PUT", "/reports/7", token, body=b"{}")
            finally:
                os.kill(store_pid(tmp_path), signal.SIGCONT)

            assert gateway.logged("rules only observe")[0]["first"] == "reports/write"
            assert (answer.status, answer.value("Fencing-Would")) == (200, "store-unavailable")
            assert len(upstream.seen) == 1


async def test_with_principals_a_gateway_starts_closed(tmp_path: Path) -> None:
    """The log says so, and no request gets through without a key."""
    policies = write_policy(tmp_path, 9)
    (policies / "principals.yaml").write_text(
        f"principals: [{{name: ada, key: 'sha256:{'0' * 64}', resources: '**'}}]\n"
    )
    async with running(tmp_path) as gateway:
        assert gateway.logged("every request needs the key")[0]["principals"] == 1
        assert not gateway.logged("every caller is anonymous")
        assert (await call(gateway.proxy, "GET", "/reports/7")).decision == "unauthenticated"


async def test_when_the_parent_is_killed_store_and_workers_end(tmp_path: Path) -> None:
    """Nothing is left behind that would write, or hold the port or the data."""
    write_policy(tmp_path, 9)
    async with running(tmp_path, "--workers", "2") as gateway:
        children = [*gateway.workers(), store_pid(tmp_path)]

        gateway.tell(signal.SIGKILL)
        await gateway.process.wait()

        await until(lambda: not any(map(is_alive, children)))
    async with running(tmp_path) as gateway:
        assert (await gateway.operate("GET", "/readyz")).status == 200


async def test_epochs_survive_the_stores_death(tmp_path: Path) -> None:
    """The store comes back with what it had answered; the gateway finds it again, and old tokens still hold."""
    async with RecordingUpstream() as upstream:
        write_policy(tmp_path, upstream.port)
        async with running(tmp_path) as gateway:
            token = await gateway.lease("report/7")

            os.kill(store_pid(tmp_path), signal.SIGKILL)
            await until(lambda: bool(gateway.logged("the embedded store is back")))

            assert await write(gateway, token) == 200
            assert await write(gateway, "1." + "a" * 32) == 412
            assert (await gateway.operate("GET", "/readyz")).status == 200


async def test_a_worker_that_dies_is_replaced(tmp_path: Path) -> None:
    """The port answers again, the metrics say that a worker died, and what it counted stays."""
    async with RecordingUpstream() as upstream:
        write_policy(tmp_path, upstream.port)
        async with running(tmp_path) as gateway:
            token = await gateway.lease("report/7")
            (worker,) = gateway.workers()

            async def is_counted() -> bool:
                shown = (await gateway.operate("GET", "/metrics")).body.decode()
                return 'fencegate_requests_total{decision="granted",' in shown

            # A request is counted once it has been answered.
            await until(is_counted)
            os.kill(worker, signal.SIGKILL)
            await until(lambda: len(gateway.workers()) == 2)

            assert await write(gateway, token) == 200
            metrics = (await gateway.operate("GET", "/metrics")).body.decode()
            assert "fencegate_worker_exits_total 1.0" in metrics
            assert 'fencegate_requests_total{decision="granted",' in metrics


async def test_metrics_are_those_of_all_workers(tmp_path: Path) -> None:
    """Requests that different workers answered add up to one number."""
    async with RecordingUpstream() as upstream:
        write_policy(tmp_path, upstream.port)
        async with running(tmp_path, "--workers", "2") as gateway:
            token = await gateway.lease("report/7")

            statuses = await asyncio.gather(*(write(gateway, token) for _ in range(40)))

            assert statuses == [200] * 40
            counted = 'fencegate_requests_total{decision="forwarded",rule="write",upstream="reports"} 40.0'

            async def page() -> str:
                return (await gateway.operate("GET", "/metrics")).body.decode()

            async def all_are_told() -> bool:
                return counted in await page()

            # Counts reach the page within a tenth of a second.
            await until(all_are_told)
            metrics = await page()
            assert 'fencegate_store_seconds_count{script="admit"}' in metrics
            assert "fencegate_workers_ready 2.0" in metrics
            assert "fencegate_store_up 1.0" in metrics


async def test_sigterm_finishes_what_was_accepted(tmp_path: Path) -> None:
    """A write that is under way gets its answer and is settled; nothing new is accepted meanwhile."""
    may_answer = asyncio.Event()

    async def slowly(_: Seen, writer: asyncio.StreamWriter) -> None:
        await may_answer.wait()
        writer.write(OK)

    async with RecordingUpstream(slowly) as upstream:
        write_policy(tmp_path, upstream.port)
        async with running(tmp_path) as gateway:
            token = await gateway.lease("report/7")
            (worker,) = gateway.workers()
            under_way = asyncio.get_running_loop().create_task(write(gateway, token))
            await upstream.until(lambda: len(upstream.seen) == 1)

            gateway.tell(signal.SIGTERM)
            await until(lambda: refuses_connections(gateway.proxy))
            not_ready = await gateway.operate("GET", "/readyz")
            may_answer.set()

            assert await under_way == 200
            assert await gateway.process.wait() == 0
            assert not_ready.status == 503
            assert "the gateway is stopping" in json.loads(not_ready.body)["reasons"]
            assert not is_alive(worker)
            assert running_store(tmp_path / "data") is None
    async with running(tmp_path) as gateway:
        shown = json.loads((await gateway.operate("GET", "/api/v1/resources/report/7")).body)
        assert (shown["in_flight"], shown["older_in_flight"]) == (0, 0)


async def refuses_connections(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except ConnectionRefusedError:
        return True
    writer.close()
    return False


async def never(_: Seen, _writer: asyncio.StreamWriter) -> None:
    """An upstream's answer that does not come."""
    await asyncio.Event().wait()


async def write_at(upstream: RecordingUpstream, gateway: GatewayProcess) -> asyncio.Task[int]:
    """A write that has reached the upstream and is not answered yet."""
    token = await gateway.lease("report/7")
    under_way = asyncio.get_running_loop().create_task(write(gateway, token))
    await upstream.until(lambda: len(upstream.seen) == 1)
    return under_way


async def test_a_second_signal_ends_at_once(tmp_path: Path) -> None:
    """An operator who does not want to wait for a slow upstream says so twice."""

    async with RecordingUpstream(never) as upstream:
        write_policy(tmp_path, upstream.port)
        async with running(tmp_path, "--grace", "600") as gateway:
            under_way = await write_at(upstream, gateway)

            gateway.tell(signal.SIGTERM)
            await until(lambda: bool(gateway.logged("stopping")))
            gateway.tell(signal.SIGTERM)

            assert await gateway.process.wait() == 0
            under_way.cancel()


async def test_when_the_grace_ends_a_caller_is_told_that_nobody_knows(tmp_path: Path) -> None:
    """And the write is settled as unknown, with nothing left in flight."""

    async with RecordingUpstream(never) as upstream:
        write_policy(tmp_path, upstream.port)
        async with running(tmp_path, "--grace", "1") as gateway:
            under_way = await write_at(upstream, gateway)

            gateway.tell(signal.SIGTERM)

            assert await under_way == 504
            assert await gateway.process.wait() == 0
    async with running(tmp_path) as gateway:
        shown = json.loads((await gateway.operate("GET", "/api/v1/resources/report/7")).body)
        unknown = json.loads((await gateway.operate("GET", "/api/v1/intents?state=unknown")).body)
        assert (shown["in_flight"], [item["reason"] for item in unknown["items"]]) == (
            0,
            ["the gateway was stopped while the write was in flight"],
        )


ASKED = """
upstream: {name}
url: http://127.0.0.1:{port}
mount: {{path: /{name}}}
timeouts: {{connect: 1s, total: 1s, late: 100ms}}
capabilities:
  query: {{request: "GET /{name}/by-key/{{intent.key}}", {proofs}, not_before: 100ms}}
writes:
  - name: send
    match: POST /{name}/{{box}}
    resource: {name}/{{path.box}}
    authority: header
    intent: {{mode: required, on_unknown: query}}
"""


async def forgetful(seen: Seen, writer: asyncio.StreamWriter) -> None:
    """Takes a mail without an answer, and knows of it when it is asked."""
    writer.close() if seen.line.startswith("POST") else writer.write(OK)


async def send(gateway: GatewayProcess, upstream: str) -> str | None:
    """What is decided about a write with a key."""
    fields = ("Fencing-Token: 42", "Fencing-Holder: a", "Idempotency-Key: k-1")
    return (await call(gateway.proxy, "POST", f"/{upstream}/out", *fields, body=b"{}")).decision


async def test_an_upstream_that_did_not_answer_is_asked_what_became_of_it(tmp_path: Path) -> None:
    """Nobody has to do anything: the mail's next retry is answered from its record, and nothing is sent twice. An
    effect that is there twice is counted and logged, and nothing more is written to the resource until somebody has
    looked."""
    async with RecordingUpstream(forgetful) as upstream:
        policies = write_policy(tmp_path, upstream.port)
        for name, proofs in (
            ("mail", "applied: {status: 200}"),
            ("bill", "applied: {status: 204}, duplicated: {json: {/ok: true}}"),
        ):
            (policies / f"{name}.yaml").write_text(ASKED.format(name=name, port=upstream.port, proofs=proofs))
        async with running(tmp_path) as gateway:
            assert await send(gateway, "mail") == "outcome-unknown"
            await until(lambda: bool(gateway.logged("an unknown intent is resolved")))

            assert await send(gateway, "mail") == "replayed"
            assert [seen.line for seen in upstream.seen] == ["POST /mail/out HTTP/1.1", "GET /mail/by-key/k-1 HTTP/1.1"]

            await send(gateway, "bill")
            await until(lambda: bool(gateway.logged("an intent took effect more than once")))

            assert await send(gateway, "bill") == "paused"
            metrics = (await gateway.operate("GET", "/metrics")).body.decode()
            assert 'fencegate_incidents_total{kind="duplicate-effect"} 1.0' in metrics


async def test_a_second_gateway_takes_neither_data_nor_port(tmp_path: Path) -> None:
    """It is told which process has the directory, or which option names the port; the first one goes on."""
    write_policy(tmp_path, 9)
    async with running(tmp_path) as first:
        ends = {
            f"in use by the gateway with process id {first.process.pid}": ("--data-dir", str(tmp_path / "data")),
            f"--listen 127.0.0.1:{first.proxy} cannot be listened on": ("--listen", f"127.0.0.1:{first.proxy}"),
        }
        for number, (told, taken) in enumerate(ends.items()):
            directory = tmp_path / str(number)
            directory.mkdir()
            write_policy(directory, 9)
            async with starting(directory, *taken) as second:
                assert await second.process.wait() == 1
                assert told in second.log.read_text()
        assert (await first.operate("GET", "/readyz")).status == 200


async def test_a_gateway_does_not_start_on_bad_policies(tmp_path: Path) -> None:
    """Every finding is shown with its place."""
    policies = write_policy(tmp_path, 9)
    (policies / "reports.yaml").write_text("upstream: reports\nurll: x\n")
    async with starting(tmp_path) as gateway:
        assert await gateway.process.wait() == 1
        assert "reports.yaml:2:1:" in gateway.log.read_text()


async def test_what_may_be_wrong_with_a_stores_url_is_asked_at_the_start(tmp_path: Path) -> None:
    """A password that is wrong is no reason to take another store."""
    write_policy(tmp_path, 9)
    async with starting(tmp_path, "--store", "redis://gateway:s3cret@localhost:1") as gateway:
        assert await gateway.process.wait() == 1
        told = gateway.log.read_text()

    assert "Is its address right, and its user and password?" in told and "s3cret" not in told


async def test_a_gateway_does_not_start_on_a_store_that_forgets(tmp_path: Path, store_url: str) -> None:
    """A store without persistence lets an old writer in again; the operator has to say that this is wanted."""
    write_policy(tmp_path, 9)
    async with starting(tmp_path, "--store", store_url) as gateway:
        assert await gateway.process.wait() == 1
        assert "the append-only file is off" in gateway.log.read_text()
    async with running(tmp_path, "--store", store_url, "--allow-unsafe-store") as gateway:
        assert gateway.logged("the store is unsafe")
        # No server of its own: nothing is there but what is known of that store.
        assert {one.name for one in (tmp_path / "data").iterdir()} <= {"store-marks.json", "store-marks.lock"}


async def test_a_bug_beside_requests_ends_neither_the_gateway_nor_its_work(tmp_path: Path) -> None:
    """The work begins anew; when the gateway stops, all of it is cancelled, and may end what it has begun."""
    faults, ended, begun = list[object](), list[str](), list[None]()

    async def fails_once() -> None:
        begun.append(None)
        if len(begun) == 1:
            raise ValueError
        await asyncio.Event().wait()

    async def goes_on() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.append("goes on")

    loop, signals = asyncio.get_running_loop(), Signals()
    loop.set_exception_handler(lambda _, context: faults.append(context["exception"]))
    with (tmp_path / "log").open("ab") as log:
        work = work_until_stopped({"a": fails_once, "b": goes_on}, signals, 0.0, Log(descriptor=log.fileno()))
        running = loop.create_task(work)
        await until(lambda: len(begun) == 2)
        signals.stop.set()
        async with asyncio.timeout(20):
            await running
    loop.set_exception_handler(None)

    assert [type(fault) for fault in faults] == [ValueError]
    assert ended == ["goes on"]
