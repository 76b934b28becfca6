"""A JWKS URL that answers with something else: no claim is judged, and none moves an epoch."""

import json
from pathlib import Path

import pytest

from tests.issuer import P256, Issuer, jwk, jwks
from tests.proxy.test_claims import signed, write
from tests.recording import RecordingUpstream, answering
from tests.stack import stack

KEYS = jwks(jwk(P256, kid="one"))
DOCUMENTS = {
    "a page": b"<html>",
    "no keys": b'{"keys": []}',
    "two lists of keys": b'{"keys": [], "keys": %s}' % json.dumps(json.loads(KEYS)["keys"]).encode(),
    "secrets only": b'{"keys": [{"kty": "oct", "k": "AAAA", "kid": "one"}]}',
    "300 kB": b" " * 300_000 + KEYS,
    "half a document": KEYS[:-20],
}


def served(status: bytes, body: bytes) -> bytes:
    return b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s" % (status, len(body), body)


ANSWERS = {name: served(b"200 OK", body) for name, body in DOCUMENTS.items()} | {
    "a redirect": b"HTTP/1.1 302 Found\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n",
    "cut off": b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n" + KEYS,
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS.keys())
async def test_what_is_no_key_set_vouches_for_nobody(answer: bytes, store_url: str, tmp_path: Path) -> None:
    """The caller is told to come back, and the resource is as it was."""
    async with RecordingUpstream(answering(answer, close=True)) as keys:
        policy = signed(f"jwks: 'http://127.0.0.1:{keys.port}/keys'")
        async with stack(store_url, tmp_path, policy) as gate:
            refused = await write(gate, Issuer().claim(99, header={"kid": "one"}))

            assert (refused.status, refused.decision) == (503, "keys-unavailable")
            assert [seen.line for seen in keys.seen] == ["GET /keys HTTP/1.1"]
            assert gate.upstream.seen == []
    # The epoch that it named was not recorded: an older one is admitted.
    async with RecordingUpstream(answering(served(b"200 OK", KEYS))) as keys:
        policy = signed(f"jwks: 'http://127.0.0.1:{keys.port}/keys'")
        async with stack(store_url, tmp_path, policy) as gate:
            assert (await write(gate, Issuer().claim(98, header={"kid": "one"}))).decision == "forwarded"
