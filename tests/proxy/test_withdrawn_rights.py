"""Rights that go while their owner is connected, or waits: nothing that is sent afterwards has them."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.policy.reload import Reloaded
from gateway.store.fence import FenceStore
from tests.issuer import ED25519, P256, Issuer, pem
from tests.proxy.reloading import principal, reloading
from tests.proxy.test_changed_policies import BODY, POLICY, Changing, changing
from tests.proxy.test_pauses import waits
from tests.raw import RawAnswer, RawClient, ask, request
from tests.recording import OK, Seen
from tests.stack import POLICY as PLAIN
from tests.until import until

JSON = "Content-Type: application/json"
SIGNED = """  - name: signed
    match: PUT /reports/signed/{{id}}
    resource: signed/{{path.id}}
    authority: {{signed: {{keys: {{file: {keys}}}, algorithms: [ES256, EdDSA]}}}}
"""
STAYS, GOES = (
    Issuer(ED25519, "EdDSA", resource="signed/7", holder="older"),
    Issuer(P256, "ES256", resource="signed/7", holder="newer"),
)


@contextlib.asynccontextmanager
async def held(gate: Changing) -> AsyncIterator[asyncio.Event]:
    """An upstream that answers once it may."""
    may = asyncio.Event()

    async def answer(_: Seen, writer: asyncio.StreamWriter) -> None:
        await may.wait()
        writer.write(OK)

    gate.upstream.answer = answer
    try:
        yield may
    finally:
        may.set()


def reload(gate: Changing, policy: str) -> None:
    (gate.directory / "policy.yaml").write_text(policy)
    assert isinstance(gate.holder.reload(), Reloaded)


async def put(gate: Changing, target: str, token: str, who: str = "ada") -> RawAnswer:
    return await ask(gate.port, "PUT", target, f"Fencing-Token: {token}", f"Fencegate-Key: {who}", JSON, body=BODY)


async def test_a_revoked_principals_write_that_waits_for_its_turn_is_not_sent(
    store_url: str, store: FenceStore, tmp_path: Path
) -> None:
    """The write before it, which was forwarded by right, goes on to its end."""
    async with changing(store_url, tmp_path) as gate, held(gate) as may:
        first = asyncio.ensure_future(put(gate, "/reports/7", gate.token))
        await gate.upstream.until(lambda: len(gate.upstream.seen) == 1)
        second = asyncio.ensure_future(put(gate, "/reports/7", gate.token))
        await until(lambda: waits(store, "report/7"))

        gate.change(who=("bob",))
        refused = await second
        may.set()

        assert (refused.status, refused.decision) == (401, "unauthenticated")
        assert (await first).decision == "forwarded"
        assert len(gate.upstream.seen) == 1


async def test_a_claim_that_waits_is_judged_by_the_keys_that_are_left(
    store_url: str, store: FenceStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The newer one's key leaves the file: it is not sent, and the older one's goes on."""
    monkeypatch.setattr("gateway.claims.keyfile._LOOK_EVERY_S", 0.0)
    keys = tmp_path / "keys.pem"
    keys.write_bytes(pem(ED25519) + pem(P256))
    async with changing(store_url, tmp_path) as gate, held(gate) as may:
        policy = (POLICY + SIGNED).format(port=gate.upstream.port, credential="old", keys=keys)
        reload(gate, policy)
        older = asyncio.ensure_future(put(gate, "/reports/signed/7", STAYS.claim(41)))
        await gate.upstream.until(lambda: len(gate.upstream.seen) == 1)
        newer = asyncio.ensure_future(put(gate, "/reports/signed/7", GOES.claim(42)))
        await until(lambda: waits(store, "signed/7"))

        keys.write_bytes(pem(ED25519))
        assert isinstance(gate.holder.reload(), Reloaded)
        refused = await newer
        may.set()

        assert (refused.status, refused.decision) == (401, "token-invalid")
        assert (await older).decision == "forwarded"
        assert len(gate.upstream.seen) == 1


async def test_a_revoked_principal_is_nobody_on_the_connection_that_it_has(store_url: str, tmp_path: Path) -> None:
    """Its next request there is refused, a read as well."""
    async with changing(store_url, tmp_path) as gate, RawClient(gate.port) as client:
        read = request("GET", "/reports/7", "Fencegate-Key: ada")
        write = request("PUT", "/reports/7", "Fencegate-Key: ada", f"Fencing-Token: {gate.token}", JSON, body=BODY)
        told = []
        for sent in (read, write):
            await client.send(sent)
            told.append((await client.answer()).decision)

        gate.change(who=("bob",))
        for sent in (read, write):
            await client.send(sent)
            answer = await client.answer()
            told.append(answer.decision)
            assert answer.status == 401

        assert told == ["passed", "forwarded", "unauthenticated", "unauthenticated"]
        assert len(gate.upstream.seen) == 2


async def test_a_resource_that_is_renamed_is_written_under_no_older_token(store_url: str, tmp_path: Path) -> None:
    """Neither where it was, which no rule makes any more, nor under its new name; nor is its lease renewed there."""
    async with changing(store_url, tmp_path) as gate:
        reload(gate, POLICY.replace("report/", "document/").format(port=gate.upstream.port, credential="old"))
        told = [(await put(gate, "/reports/7", gate.token)).decision]
        for resource in ("report/7", "document/7"):
            body = json.dumps({"resource": resource}).encode()
            fields = (f"Fencing-Token: {gate.token}", "Fencegate-Key: ada")
            told.append((await ask(gate.port, "POST", "/-/fence/leases/renew", *fields, body=body)).decision)

        assert told == ["token-invalid", "no-such-resource", "token-invalid"]
        assert gate.upstream.seen == []


async def test_a_grant_that_waits_goes_to_nobody_who_lost_the_resource(
    store_url: str, store: FenceStore, tmp_path: Path
) -> None:
    """Though the key is still the principal's: the resource is free for the next one who asks."""

    async def asks(who: str, call: str = "leases", *fields: str, **more: object) -> RawAnswer:
        body = json.dumps({"resource": "report/7", **more}).encode()
        return await ask(gate.port, "POST", f"/-/fence/{call}", f"Fencegate-Key: {who}", *fields, body=body)

    bob = principal("bob")
    async with reloading(store_url, tmp_path, PLAIN.format(port=9), principal("ada"), bob) as gate:
        held = json.loads((await asks("bob", holder="b", ttl_s=60)).body)
        waiting = asyncio.ensure_future(asks("ada", holder="a", ttl_s=60, wait_s=20))
        await until(lambda: waits(store, "report/7"))

        gate.principals(principal("ada", resources='["other/*"]'), bob)
        released = await asks("bob", "leases/release", f"Fencing-Token: {held['token']}")
        refused = await waiting
        left = await ask(gate.port, "GET", "/-/fence/leases?resource=report/7", "Fencegate-Key: bob")

        assert (released.status, refused.status, refused.decision) == (204, 403, "forbidden")
        assert left.status == 404


async def test_who_loses_the_resource_does_nothing_with_the_token_that_it_has(store_url: str, tmp_path: Path) -> None:
    """Nor is it told what its own key was answered; who still has the right is."""
    async with changing(store_url, tmp_path) as gate:
        keyed = (f"Fencing-Token: {gate.token}", "Idempotency-Key: k", JSON)
        first = await ask(gate.port, "PUT", "/reports/7", "Fencegate-Key: ada", *keyed, body=BODY)
        lines = principal("ada", resources='["report/8"]'), principal("bob")
        (gate.directory / "principals.yaml").write_text("principals:\n" + "".join(lines))
        assert isinstance(gate.holder.reload(), Reloaded)
        named, target = b'{"resource": "report/7"}', b'{"target": "PUT /reports/7", "holder": "a", "ttl_s": 60}'
        calls = [
            *(("PUT", "/reports/7", BODY), ("POST", "/reports/7", BODY), ("POST", "/-/fence/leases/renew", named)),
            *(("POST", "/-/fence/leases/release", named), ("POST", "/-/fence/leases", target)),
            ("GET", "/-/fence/leases?resource=report/7", b""),
        ]
        told = [
            (await ask(gate.port, method, place, "Fencegate-Key: ada", *keyed, body=body)).decision
            for method, place, body in calls
        ]
        bob = await ask(gate.port, "PUT", "/reports/7", "Fencegate-Key: bob", *keyed, body=BODY)

        assert first.decision == "forwarded"
        assert told == ["forbidden"] * len(calls)
        assert (bob.decision, len(gate.upstream.seen)) == ("replayed", 1)
