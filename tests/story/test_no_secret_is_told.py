"""No secret is told: a whole conversation with marked ones, and all that the gateway says is searched for the mark."""

import asyncio
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.store.embedded import find_server
from tests.gateway_process import GatewayProcess, call, running
from tests.raw import RawAnswer
from tests.recording import RecordingUpstream
from tests.store.server import Server
from tests.until import until

pytestmark = pytest.mark.slow

# In each secret, and nowhere else.
MARK = "s3cr3t"
STORE, ADMIN, CREDENTIAL, FILED, ADA, WRONG, AUTH, QUERY = (
    f"{MARK}-{name}-0123456789abcdef"
    for name in ("store", "admin", "credential", "filed", "ada", "wrong", "authorization", "query")
)
# Base64, as it has to be.
WEBHOOK = f"whsec_{MARK}{'A' * 26}"
POLICY = """
upstream: reports
url: http://127.0.0.1:{port}
mount: {{path: /reports}}
timeouts: {{connect: 1s, total: 2s}}
credentials:
  - {{header: Authorization, value: "Bearer ${{env:CREDENTIAL}}"}}
  - {{header: X-Filed, value: "${{file:{filed}}}"}}
notify: {{url: "http://127.0.0.1:9/hook", secret: "${{env:WEBHOOK}}", events: [unknown, incident]}}
writes:
  - name: write
    match: PUT /reports/{{id}}
    resource: report/{{path.id}}
    intent: {{mode: optional}}
    on_stale: quarantine
"""


@pytest.fixture
def guarded_store(tmp_path: Path) -> Iterator[str]:
    """The URL of a store that wants a password."""
    (tmp_path / "store").mkdir()
    server = Server(find_server(), tmp_path / "store", "--save", "", "--requirepass", STORE)
    server.start()
    yield server.url.replace("unix://", f"unix://:{STORE}@")
    server.kill()


def write_policies(directory: Path, port: int) -> None:
    filed = directory / "filed"
    filed.write_text(FILED)
    policies = directory / "policies"
    policies.mkdir()
    (policies / "reports.yaml").write_text(POLICY.format(port=port, filed=filed))
    key = hashlib.sha256(ADA.encode()).hexdigest()
    (policies / "principals.yaml").write_text(
        f"principals:\n  - {{name: ada, key: 'sha256:{key}', tenant: north, resources: ['**'], takeover: true}}\n"
    )


async def converse(gateway: GatewayProcess) -> tuple[list[RawAnswer], set[str]]:
    """Right and wrong in every way there is; the answers, and the secrets that the gateway itself has made."""
    ada = f"Fencegate-Key: {ADA}"
    asked = json.dumps({"resource": "report/7", "holder": "a", "ttl_s": 60, "takeover": True}).encode()
    leases = [await call(gateway.proxy, "POST", "/-/fence/leases", ada, body=asked) for _ in range(2)]
    tokens = [str(json.loads(lease.body)["token"]) for lease in leases]
    older, newer = (f"Fencing-Token: {token}" for token in tokens)
    epoch = tokens[1].partition(".")[0]

    async def put(*fields: str, target: str = f"/reports/7?key={QUERY}", body: bytes = b"{}") -> RawAnswer:
        return await call(gateway.proxy, "PUT", target, *fields, body=body)

    answers = [
        await put(ada, newer, f"Authorization: Bearer {AUTH}", f"Cookie: {AUTH}"),
        # Kept in quarantine, query and all: that is said where it is switched on.
        await put(ada, older, f"X-Api-Key: {AUTH}", target="/reports/7"),
        await put(ada, f"Fencing-Token: {epoch}.{WRONG}"),
        await put(ada, f"Fencing-Token: {WRONG} {WRONG}"),
        await put(ada, newer, newer),
        await put(newer, f"Fencegate-Key: {WRONG}"),
        await put(newer),
        await put(ada, newer, target=f"/reports/../x?key={QUERY}"),
        await put(ada, newer, "Content-Length: 1"),
        await call(gateway.proxy, "GET", f"/reports/7?key={QUERY}", ada, f"Authorization: Basic {AUTH}"),
        await call(gateway.proxy, "POST", "/-/fence/leases/renew", ada, newer, body=b'{"resource": "report/7"}'),
        await call(gateway.proxy, "GET", "/-/fence/leases?resource=report/7", ada),
        await call(gateway.admin, "GET", "/api/v1/policies", f"Authorization: Bearer {WRONG}"),
    ]
    return answers, {token.partition(".")[2] for token in tokens}


async def looked_at(gateway: GatewayProcess) -> list[RawAnswer]:
    """Everything that an operator can read."""
    admin = f"Authorization: Bearer {ADMIN}"
    listed = ["/metrics", "/healthz", "/readyz", "/", "/api/v1", "/api/v1/openapi.json", "/api/v1/policies"]
    listed += ["/api/v1/resources", "/api/v1/resources/report/7", "/api/v1/audit", "/api/v1/pauses"]
    listed += [f"/api/v1/intents?state={state}" for state in ("applied", "unknown", "in_flight", "not_applied")]
    listed += ["/api/v1/quarantine", "/api/v1/budgets", "/api/v1/notifications", "/api/v1/notifications?state=waiting"]
    answers = [await gateway.operate("GET", path, admin) for path in listed]
    assert {answer.status for answer in answers} == {200}
    for path in ("quarantine", "intents?state=applied", "intents?state=unknown"):
        for item in json.loads((await gateway.operate("GET", f"/api/v1/{path}", admin)).body)["items"]:
            answers.append(await gateway.operate("GET", f"/api/v1/{path.partition('?')[0]}/{item['id']}", admin))
    return [*answers, await gateway.operate("POST", "/api/v1/policies/reload", admin, body=b"{}")]


def command_lines(pids: list[int]) -> str:
    return "".join(Path(f"/proc/{pid}/cmdline").read_text() for pid in pids)


async def test_no_secret_is_told(guarded_store: str, tmp_path: Path) -> None:
    """Neither in the log at its most talkative, nor in an answer, a metric, a record or the list of processes."""
    async with RecordingUpstream() as upstream:
        write_policies(tmp_path, upstream.port)
        secrets = {"FENCEGATE_STORE": guarded_store, "FENCEGATE_ADMIN_TOKEN": ADMIN}
        secrets |= {"CREDENTIAL": CREDENTIAL, "WEBHOOK": WEBHOOK}
        options = ("--log-level", "debug", "--allow-unsafe-store")
        async with running(tmp_path, *options, **secrets) as gateway:
            answers, made = await converse(gateway)
            upstream.answer = hang_up
            answers.append(await unknown(gateway))
            answers += await looked_at(gateway)
            (tmp_path / "policies" / "reports.yaml").write_text(f"upstream: [{MARK[:2]}\n")
            failed = await gateway.operate("POST", "/api/v1/policies/reload", f"Authorization: Bearer {ADMIN}")
            await until(lambda: bool(gateway.logged("the policies were not reloaded")))
            shown = command_lines([gateway.process.pid, *gateway.workers()])
            log = gateway.log.read_text()

    decisions = [answer.decision for answer in answers[:13]]
    assert decisions[:7] == [
        *("forwarded", "stale-epoch", "token-invalid", "token-malformed", "token-malformed"),
        *("unauthenticated", "unauthenticated"),
    ]
    sent = b"".join(seen.raw for seen in upstream.seen).decode()
    assert CREDENTIAL in sent and FILED in sent, "the conversation is one with secrets"
    said = "\n".join([log, shown, *(told(answer) for answer in (*answers, failed))])
    places = [said[at - 200 : at + 100] for at in range(len(said)) if said.startswith(MARK, at)]
    assert places == []
    assert not [secret for secret in made if secret in said]


def told(answer: RawAnswer) -> str:
    return f"{answer.fields} {answer.body.decode()}"


async def hang_up(_: object, writer: asyncio.StreamWriter) -> None:
    writer.close()


async def unknown(gateway: GatewayProcess) -> RawAnswer:
    """A write of which nobody knows, so that there is a record, and a webhook that cannot be sent."""
    asked = json.dumps({"resource": "report/8", "holder": "a", "ttl_s": 60}).encode()
    ada = f"Fencegate-Key: {ADA}"
    lease = json.loads((await call(gateway.proxy, "POST", "/-/fence/leases", ada, body=asked)).body)
    fields = (ada, f"Fencing-Token: {lease['token']}", "Idempotency-Key: k", f"Authorization: Bearer {AUTH}")
    answer = await call(gateway.proxy, "PUT", "/reports/8", *fields, body=b"{}")
    assert answer.decision == "outcome-unknown"
    return answer
