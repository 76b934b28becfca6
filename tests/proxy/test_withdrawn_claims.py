"""A claim whose key is withdrawn at its URL while its write waits: it is judged anew before the write is admitted."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from gateway.store.fence import FenceStore
from tests.issuer import ED25519, P256, Issuer, jwk, jwks
from tests.proxy.test_key_urls import served
from tests.proxy.test_pauses import waits
from tests.raw import RawAnswer, RawClient, ask
from tests.recording import OK, RecordingUpstream, Seen
from tests.stack import Stack, stack
from tests.until import until

POLICY = """
upstream: reports
url: http://localhost:{{port}}
mount: {{{{path: /reports}}}}
timeouts: {{{{connect: 1s, total: 20s}}}}
defaults:
  authority: {{{{signed: {{{{keys: {{{{jwks: "http://127.0.0.1:{keys}/keys"}}}}, algorithms: [ES256, EdDSA]}}}}}}}}
  fence: {{{{queue_timeout: 60s, drain_timeout: 60s}}}}
  intent: {{{{mode: optional}}}}
writes:
  - {{{{name: write, match: "PUT /reports/{{{{id}}}}", resource: "report/{{{{path.id}}}}"}}}}
  - {{{{name: queue, match: "POST /reports/{{{{id}}}}", resource: "report/{{{{path.id}}}}", delivery: queued,
      intent: {{{{mode: required}}}}}}}}
  - {{{{name: blind, match: "PATCH /reports/{{{{id}}}}", resource: "report/{{{{path.id}}}}", delivery: queued,
      intent: {{{{mode: required, fingerprint: none}}}}}}}}
"""
BODY = b'{"id": "7"}'
STAYS, GOES = (
    Issuer(ED25519, "EdDSA", resource="report/7", holder="older"),
    Issuer(P256, "ES256", resource="report/7", holder="newer"),
)
BOTH, LEFT = jwks(jwk(ED25519, kid="stays"), jwk(P256, kid="goes")), jwks(jwk(ED25519, kid="stays"))


@dataclass
class Signing:
    """A gateway, and the URL of the keys that it trusts."""

    gate: Stack
    keys: RecordingUpstream

    def withdraw(self) -> None:
        publish(self.keys, LEFT)

    async def put(self, claim: str) -> RawAnswer:
        return await ask(self.gate.port, "PUT", "/reports/7", f"Fencing-Token: {claim}", body=BODY)


def publish(keys: RecordingUpstream, document: bytes) -> None:
    async def answer(_: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(served(b"200 OK", document))

    keys.answer = answer


@pytest.fixture
async def signing(store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Signing]:
    """Keys are asked for anew each time, as after five minutes; and a claim is proved for no time."""
    monkeypatch.setattr("gateway.claims.keyurl._STALE_AFTER_S", 0.0)
    monkeypatch.setattr("gateway.claims.keyurl._AWAY_FOR_S", 0.0)
    monkeypatch.setattr("gateway.flow.admission._PROVED_FOR_S", 0.0)
    async with RecordingUpstream() as keys:
        publish(keys, BOTH)
        async with stack(store_url, tmp_path, POLICY.format(keys=keys.port)) as gate:
            yield Signing(gate, keys)


@contextlib.asynccontextmanager
async def held(upstream: RecordingUpstream) -> AsyncIterator[asyncio.Event]:
    """It answers once it may."""
    may = asyncio.Event()

    async def answer(_: Seen, writer: asyncio.StreamWriter) -> None:
        await may.wait()
        writer.write(OK)

    upstream.answer = answer
    try:
        yield may
    finally:
        may.set()


@pytest.mark.parametrize("method", ["PUT", "POST", "PATCH"], ids=["sent", "queued", "queued unread"])
async def test_a_write_whose_body_comes_after_its_key_was_withdrawn_is_refused(method: str, signing: Signing) -> None:
    """It was judged by its head; neither is it sent, nor taken for delivery, nor does its epoch count."""
    fields = (f"Fencing-Token: {GOES.claim(42, header={'kid': 'goes'})}", "Idempotency-Key: one")
    head = (f"{method} /reports/7 HTTP/1.1", "Host: gateway", "Expect: 100-continue", *fields)
    async with RawClient(signing.gate.port) as client:
        await client.send("\r\n".join((*head, f"Content-Length: {len(BODY)}", "", "")).encode())
        assert (await client.line()).startswith(b"HTTP/1.1 100 ")
        signing.withdraw()
        await client.line()
        await client.send(BODY)
        refused = await client.answer()

    assert (refused.status, refused.decision) == (401, "token-invalid")
    assert (await signing.put(STAYS.claim(41, header={"kid": "stays"}))).decision == "forwarded"
    assert [seen.line for seen in signing.gate.upstream.seen] == ["PUT /reports/7 HTTP/1.1"]


async def test_a_write_that_waits_while_its_key_is_withdrawn_is_refused(signing: Signing, store: FenceStore) -> None:
    """Its turn has come; the one before it, whose key stays, is not touched."""
    async with held(signing.gate.upstream) as may:
        older = asyncio.ensure_future(signing.put(STAYS.claim(41, header={"kid": "stays"})))
        await signing.gate.upstream.until(lambda: len(signing.gate.upstream.seen) == 1)
        newer = asyncio.ensure_future(signing.put(GOES.claim(42, header={"kid": "goes"})))
        await until(lambda: waits(store, "report/7"))

        signing.withdraw()
        may.set()

        assert (await older).decision == "forwarded"
        assert ((await newer).status, (await newer).decision) == (401, "token-invalid")
        assert len(signing.gate.upstream.seen) == 1
