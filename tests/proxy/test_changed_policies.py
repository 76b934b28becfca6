"""Policies that change while a request is under way: whoever had to wait is judged by those in force in the end."""

import asyncio
import contextlib
import hashlib
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gateway.flow import inline, parking
from gateway.log import Log
from gateway.policy.reload import PolicyHolder, Reloaded
from gateway.serve.assignment import Assignment
from gateway.serve.worker import proxy
from gateway.store.fence import FenceStore
from gateway.store.views.intent_views import intents
from tests.issuer import P256, Issuer, jwk, jwks
from tests.raw import RawAnswer, RawClient, ask
from tests.recording import OK, RecordingUpstream, Seen
from tests.stack import ANYWHERE
from tests.until import until

POLICY = """
upstream: reports
url: http://localhost:{port}
mount: {{path: /reports}}
credentials: [{{header: Authorization, value: "Bearer {credential}"}}]
read_only:
  - match: POST /reports/{{id}}/search
    only: {{query: [], json: [/id, /text], header: [Authorization, Idempotency-Key]}}
writes:
  - name: write
    match: PUT /reports/{{id}}
    resource: report/{{path.id}}
    intent: {{mode: optional}}
  - name: named
    match: PATCH /reports
    resource: report/{{json:/id}}
  - name: queue
    match: POST /reports/{{id}}
    resource: report/{{path.id}}
    delivery: queued
    intent: {{mode: required}}
"""
BODY = b'{"id": "7"}'


def principals(*names: str, quota: str = "") -> str:
    """Each has its own name for a key."""
    rights = f'resources: ["**"], quota: {{{quota}}}' if quota else 'resources: ["**"]'
    lines = [
        f'  - {{name: {name}, key: "sha256:{hashlib.sha256(name.encode()).hexdigest()}", {rights}}}\n' for name in names
    ]
    return "principals:\n" + "".join(lines)


@dataclass
class Changing:
    """A gateway whose policies the test writes anew."""

    port: int
    upstream: RecordingUpstream
    directory: Path
    holder: PolicyHolder
    token: str = ""
    quota: str = ""

    def change(self, credential: str = "old", who: tuple[str, ...] = ("ada", "bob"), **instead: str) -> None:
        text = POLICY.format(port=self.upstream.port, credential=credential)
        for old, new in instead.items():
            text = text.replace(f"match: {old} ", f"match: {new} ")
        (self.directory / "policy.yaml").write_text(text)
        (self.directory / "principals.yaml").write_text(principals(*who, quota=self.quota))
        assert isinstance(self.holder.reload(), Reloaded)

    async def lease(self, wait_s: int = 0) -> RawAnswer:
        asked = json.dumps({"resource": "report/7", "holder": "a", "ttl_s": 60, "wait_s": wait_s}).encode()
        answer = await ask(self.port, "POST", "/-/fence/leases", "Fencegate-Key: ada", body=asked)
        if answer.status == 201:
            self.token = json.loads(answer.body)["token"]
        return answer

    async def slow(
        self, method: str, target: str, change: Callable[[], None], *fields: str, body: bytes = BODY
    ) -> RawAnswer:
        """A request whose body comes once the gateway has asked for it, and the policies have changed."""
        said = (f"Fencing-Token: {self.token}", "Fencegate-Key: ada", "Content-Type: application/json", *fields)
        lines = [f"{method} {target} HTTP/1.1", "Host: gateway", "Expect: 100-continue", *said]
        async with RawClient(self.port) as client:
            await client.send("\r\n".join((*lines, f"Content-Length: {len(body)}", "", "")).encode())
            assert (await client.line()).startswith(b"HTTP/1.1 100 ")
            change()
            await client.line()
            await client.send(body)
            return await client.answer()


@contextlib.asynccontextmanager
async def changing(store_url: str, directory: Path) -> AsyncIterator[Changing]:
    """With a lease of report/7, ada's."""
    policies = directory / "policies"
    policies.mkdir()
    async with RecordingUpstream() as upstream:
        (policies / "policy.yaml").write_text(POLICY.format(port=upstream.port, credential="old"))
        (policies / "principals.yaml").write_text(principals("ada", "bob"))
        holder = PolicyHolder.open(policies, {})
        assert isinstance(holder, PolicyHolder), holder
        assignment = Assignment(ANYWHERE, "", store_url, 2.0, 5.0, "json", "info")
        with (directory / "gateway.log").open("ab") as lines:
            log = Log("json", descriptor=lines.fileno())
            async with proxy(assignment, lambda: holder.current, log) as server:
                listening = await asyncio.get_running_loop().create_server(server, "127.0.0.1", 0)
                gate = Changing(listening.sockets[0].getsockname()[1], upstream, policies, holder)
                try:
                    assert (await gate.lease()).status == 201
                    yield gate
                finally:
                    listening.close()
                    await server.finish(5.0)


KEYED = ("Idempotency-Key: one",)
SLOW = {
    "for its intent": ("PUT", "/reports/7", KEYED),
    "for its rule": ("PATCH", "/reports", ()),
    "for its queue": ("POST", "/reports/7", KEYED),
    "for what it reads": ("POST", "/reports/7/search", ()),
}


@pytest.mark.parametrize(("method", "target", "fields"), SLOW.values(), ids=SLOW.keys())
async def test_a_revoked_principal_writes_nothing_whose_body_came_later(
    method: str, target: str, fields: tuple[str, ...], store_url: str, tmp_path: Path
) -> None:
    """However long ago its request began; whoever still may write does, once."""
    async with changing(store_url, tmp_path) as gate:
        refused = await gate.slow(method, target, lambda: gate.change(who=("bob",)), *fields)
        assert (refused.status, refused.decision) == (401, "unauthenticated")
        assert gate.upstream.seen == []

        gate.change()
        taken = await gate.slow(method, target, lambda: gate.change(credential="new"), *fields)
        assert taken.status in (200, 202)
        await gate.upstream.until(lambda: len(gate.upstream.seen) == 1)
        (seen,) = gate.upstream.seen
        assert (seen.body, seen.values("Authorization")) == (BODY, ["Bearer new"])


@pytest.mark.parametrize(("method", "target", "fields"), SLOW.values(), ids=SLOW.keys())
async def test_a_rule_that_is_gone_takes_nothing_whose_body_came_later(
    method: str, target: str, fields: tuple[str, ...], store_url: str, tmp_path: Path
) -> None:
    """No rule is left that allows it."""
    async with changing(store_url, tmp_path) as gate:
        refused = await gate.slow(method, target, lambda: gate.change(**{method: "DELETE"}), *fields)

        assert (refused.status, refused.decision) == (403, "no-policy")
        assert gate.upstream.seen == []


async def test_what_waits_on_disk_is_judged_anew(store_url: str, tmp_path: Path) -> None:
    """A body that is larger than fits in memory is read again from there."""
    body = json.dumps({"id": "7", "text": "x" * (3 << 20)}).encode()
    async with changing(store_url, tmp_path) as gate:
        for number, (method, target, fields) in enumerate(SLOW.values()):
            answer = await gate.slow(method, target, gate.change, *fields, body=body)
            assert answer.status in (200, 202), answer
            await gate.upstream.until(lambda count=number + 1: len(gate.upstream.seen) == count)
            assert gate.upstream.seen[-1].body == body


async def test_a_write_that_is_judged_anew_pays_once(store_url: str, tmp_path: Path) -> None:
    """Policies that change while it waits are not its caller's doing; the next write is its own."""
    async with changing(store_url, tmp_path) as gate:
        gate.quota = "writes_per_minute: 1"
        gate.change()

        first = await gate.slow("PUT", "/reports/7", gate.change, *KEYED)
        second = await ask(
            gate.port, "PUT", "/reports/7", f"Fencing-Token: {gate.token}", "Fencegate-Key: ada", body=BODY
        )

        assert (first.status, second.status, second.decision) == (200, 429, "quota-exceeded")


async def test_a_body_that_is_passed_on_as_it_comes_begins_under_the_policies_in_force(
    store_url: str, tmp_path: Path
) -> None:
    """Its write was admitted; nothing of it was sent, and it is judged anew."""
    async with changing(store_url, tmp_path) as gate:
        refused = await gate.slow("PUT", "/reports/7", lambda: gate.change(who=("bob",)))

        assert (refused.status, refused.decision) == (401, "unauthenticated")
        assert gate.upstream.seen == gate.upstream.partial == []


async def test_a_lease_call_of_a_revoked_principal_gets_none(store_url: str, tmp_path: Path) -> None:
    """Neither one whose body comes slowly, nor one that waits for the lease to be free."""
    asked = json.dumps({"resource": "report/9", "holder": "a", "ttl_s": 60}).encode()
    async with changing(store_url, tmp_path) as gate:
        slow = await gate.slow("POST", "/-/fence/leases", lambda: gate.change(who=("bob",)), body=asked)
        assert (slow.status, slow.decision) == (401, "unauthenticated")
        looked = await ask(gate.port, "GET", "/-/fence/leases?resource=report/9", "Fencegate-Key: bob")
        assert looked.status == 404


SIGNED = """  - name: signed
    match: PUT /reports/signed/{{id}}
    resource: signed/{{path.id}}
    authority: {{signed: {{keys: {{jwks: 'http://127.0.0.1:{keys}/keys'}}, algorithms: [ES256]}}}}
"""


async def test_an_epoch_of_a_revoked_principal_is_not_registered(store_url: str, tmp_path: Path) -> None:
    """The keys of its claim came late; one that still may registers a smaller epoch, for nothing has moved."""
    asked, served = json.dumps({"resource": "signed/7"}).encode(), jwks(jwk(P256))

    async with changing(store_url, tmp_path) as gate:

        async def late(_: Seen, writer: asyncio.StreamWriter) -> None:
            (gate.directory / "principals.yaml").write_text(principals("bob"))
            gate.holder.reload()
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(served), served))

        async with RecordingUpstream(late) as keys:
            policy = (POLICY + SIGNED).format(port=gate.upstream.port, credential="old", keys=keys.port)
            (gate.directory / "policy.yaml").write_text(policy)
            assert isinstance(gate.holder.reload(), Reloaded)

            told = []
            for who, epoch in (("ada", 99), ("bob", 41)):
                claim = Issuer().claim(epoch, resource="signed/7")
                own = (f"Fencing-Token: {claim}", f"Fencegate-Key: {who}")
                told.append(await ask(gate.port, "POST", "/-/fence/epochs", *own, body=asked))

        assert [answer.decision for answer in told] == ["unauthenticated", "registered"]


@pytest.mark.parametrize("looks_up", ["an intent", "a lease"])
async def test_a_revoked_principal_is_shown_nothing_that_was_looked_up_before(
    store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, looks_up: str
) -> None:
    """The store's answer may have waited in a process that was stopped."""
    async with changing(store_url, tmp_path) as gate:
        fields = f"Fencing-Token: {gate.token}", "Fencegate-Key: ada", "Content-Type: application/json", *KEYED
        wrote = await ask(gate.port, "POST", "/reports/7", *fields, body=BODY)
        looked_up = FenceStore.recall if looks_up == "an intent" else FenceStore.lookup

        async def meanwhile(store: FenceStore, name: Any) -> object:
            monkeypatch.undo()
            gate.change(who=("bob",))
            return await looked_up(store, name)

        monkeypatch.setattr(FenceStore, looked_up.__name__, meanwhile)
        target = wrote.value("Location") if looks_up == "an intent" else "/-/fence/leases?resource=report/7"
        told = [await ask(gate.port, "GET", str(target), f"Fencegate-Key: {who}") for who in ("ada", "bob")]

        assert [answer.status for answer in told] == [401, 200]


OBSERVED = """  - name: watched
    match: POST /reports
    resource: watched/{{json:/id}}
    mode: observe
"""


@pytest.mark.parametrize(
    ("who", "told"),
    [(("bob",), (401, "unauthenticated")), (("ada", "bob"), (403, "no-policy"))],
    ids=["its caller is gone", "its rule is gone"],
)
async def test_nor_is_an_observed_write_passed_on_by_former_policies(
    store_url: str, tmp_path: Path, who: tuple[str, ...], told: tuple[int, str]
) -> None:
    """One that does not come before the fence, for its token is none, and is passed on whatever would become of it."""
    async with changing(store_url, tmp_path) as gate:
        gate.token = "none"
        policy = gate.directory / "policy.yaml"
        policy.write_text((POLICY + OBSERVED).format(port=gate.upstream.port, credential="old"))
        assert isinstance(gate.holder.reload(), Reloaded)
        observed = await gate.slow("POST", "/reports", lambda: None)

        refused = await gate.slow("POST", "/reports", lambda: gate.change(who=who))

        assert observed.decision == "observed"
        assert (refused.status, refused.decision) == told
        assert len(gate.upstream.seen) == 1


REPLAYED = {
    "while it is asked for": ("PUT", FenceStore, "admit"),
    "while its request waits for room": ("PUT", inline, "at_hand"),
    "while it is put together": ("PUT", inline, "answer_of"),
    "while it is asked for, of a queued write": ("POST", FenceStore, "park"),
    "while its request waits for room, of a queued write": ("POST", parking, "at_hand"),
    "while it is put together, of a queued write": ("POST", parking, "answer_of"),
}


@pytest.mark.parametrize(("method", "where", "what"), REPLAYED.values(), ids=REPLAYED)
async def test_a_revoked_principal_is_told_no_answer_that_was_kept(
    store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str, where: Any, what: str
) -> None:
    """The process may have been stopped in the middle of it; whoever still may see it is told."""
    async with changing(store_url, tmp_path) as gate:
        said = f"Fencing-Token: {gate.token}", "Content-Type: application/json", *KEYED, "Prefer: wait=10"

        async def repeated(who: str) -> RawAnswer:
            return await ask(gate.port, method, "/reports/7", *said, f"Fencegate-Key: {who}", body=BODY)

        first, done = await repeated("ada"), getattr(where, what)

        async def meanwhile(*asked: Any, **more: Any) -> object:
            monkeypatch.undo()
            gate.change(who=("bob",))
            return await done(*asked, **more)

        monkeypatch.setattr(where, what, meanwhile)
        told = [await repeated(who) for who in ("ada", "bob")]

        assert first.status == 200
        assert [(answer.status, answer.decision) for answer in told] == [(401, "unauthenticated"), (200, "replayed")]
        assert len(gate.upstream.seen) == 1


async def test_what_a_revoked_principal_has_queued_is_not_sent(
    store_url: str, tmp_path: Path, store: FenceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It waited behind a write of the same lease, which ends as it would."""
    # All gateways have read the policies by now.
    monkeypatch.setattr("gateway.store.deliveries._POLICIES_SPREAD_MS", 0)
    may = asyncio.Event()

    async def answer(_: Seen, writer: asyncio.StreamWriter) -> None:
        await may.wait()
        writer.write(OK)

    async with changing(store_url, tmp_path) as gate:
        gate.upstream.answer = answer
        fields = f"Fencing-Token: {gate.token}", "Fencegate-Key: ada", "Content-Type: application/json"
        before = asyncio.ensure_future(ask(gate.port, "PUT", "/reports/7", *fields, body=BODY))
        await gate.upstream.until(lambda: len(gate.upstream.seen) == 1)
        taken = await ask(gate.port, "POST", "/reports/7", *fields, *KEYED, body=BODY)
        gate.change(who=("bob",))
        may.set()

        async def why() -> list[str]:
            return [record.reason for record in (await intents(store, "failed", None)).items]

        await until(why)
        assert (taken.status, (await before).status) == (202, 200)
        assert await why() == ["the policy no longer takes it: principal ada is not there any more"]
        assert len(gate.upstream.seen) == 1
