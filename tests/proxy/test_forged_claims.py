"""Signed claims that were made or changed by somebody who has no key: none of them writes, and none moves an epoch."""

import base64
import hashlib
import hmac
import json
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key

from tests.issuer import P256, RSA, Issuer, encoded, jwk, now_s, pem
from tests.proxy.test_claims import ISSUER, by_file, write
from tests.raw import ask
from tests.stack import POLICY, Stack, stack

THIEF = Issuer(generate_private_key(SECP256R1()))
CLAIMED = {"epoch": 99, "holder": "agent-a", "resource": "report/7", "exp": now_s() + 7200, "aud": "fence"}


def with_secret(secret: bytes) -> str:
    """As whoever takes the public key for a shared secret would sign it."""
    text = f"{encoded({'alg': 'HS256'})}.{encoded(CLAIMED)}"
    return f"{text}.{encoded(hmac.new(secret, text.encode(), hashlib.sha256).digest())}"


def said(**claims: object) -> str:
    """A claim that its issuer signed."""
    return ISSUER.claim(99, **({"aud": "fence"} | claims))


def as_text(old: str, new: str) -> str:
    """One whose payload is spelled otherwise."""
    return ISSUER.signed({"alg": "ES256"}, json.dumps(CLAIMED).replace(old, new).encode())


HEAD, PAYLOAD, SIGNATURE = said().split(".")
LAST = "A" if SIGNATURE[-2] != "A" else "B"
UNTIL = f'"exp": {CLAIMED["exp"]}'
FORGED = {
    "no algorithm": f"{encoded({'alg': 'none'})}.{PAYLOAD}.",
    "the public key as a secret": with_secret(pem(P256)),
    "the other public key as a secret": with_secret(pem(RSA)),
    "the whole file as a secret": with_secret(pem(P256) + pem(RSA)),
    "another key": THIEF.claim(99, aud="fence"),
    "another key that it brings along": THIEF.claim(99, aud="fence", header={"jwk": jwk(THIEF.key)}),
    "another key at a place": THIEF.claim(99, aud="fence", header={"jku": "http://localhost/k", "x5u": "http://x/"}),
    "a signature of zeros": f"{HEAD}.{PAYLOAD}.{encoded(bytes(64))}",
    "no signature": f"{HEAD}.{PAYLOAD}.",
    "another signature": f"{HEAD}.{PAYLOAD}.{SIGNATURE[:-2]}{LAST}{SIGNATURE[-1]}",
    "another payload": f"{HEAD}.{encoded(CLAIMED | {'epoch': 98})}.{SIGNATURE}",
    "a dot behind it": f"{HEAD}.{PAYLOAD}.{SIGNATURE}.",
    "a payload of another spelling": f"{HEAD}.{PAYLOAD}=.{SIGNATURE}",
    "letters of the other alphabet": f"{HEAD}.{PAYLOAD}.{SIGNATURE.translate(str.maketrans('-_', '+/'))}+",
    "an empty holder": said(holder=""),
    "a time to come": said(iat=now_s() + 3600, exp=now_s() + 7200),
    "a beginning to come": said(nbf=now_s() + 3600, exp=now_s() + 7200),
    "an end that has come": said(exp=now_s() - 61),
    "a fourth part": f"{HEAD}.{PAYLOAD}.{SIGNATURE}.x",
    "padding": f"{HEAD}.{PAYLOAD}.{SIGNATURE}=",
    "an algorithm in small letters": said(header={"alg": "es256"}),
    "an extension": said(header={"crit": ["x"], "x": 1}),
    "a payload that is not encoded": said(header={"b64": False, "crit": ["b64"]}),
    "no audience": said(aud=None),
    "another audience": said(aud="fences"),
    "another resource": said(resource="report/8"),
    "several resources": said(resource=["report/7"]),
    "a pattern of resources": said(resource="report/*"),
    "an end as text": said(exp=str(CLAIMED["exp"])),
    "an end that is true": said(exp=True),
    "two ends": as_text(UNTIL, f'{UNTIL}, "exp": 1'),
    "an end beyond all": as_text(UNTIL, '"exp": 1e400'),
    "two epochs": as_text('"epoch": 99', '"epoch": 1, "epoch": 99'),
    **{
        f"the epoch {epoch}": as_text('"epoch": 99', f'"epoch": {epoch}')
        for epoch in (
            *('"099"', '"99 "', "99.0", "9.9e1", "-1", '"+99"', "true", "null", str(2**64), "[99]", '""'),
            '"\uff19\uff19"',
        )
    },
}


async def registered(gate: Stack, token: str, *fields: str) -> int:
    body = b'{"resource": "report/7"}'
    return (await ask(gate.port, "POST", "/-/fence/epochs", f"Fencing-Token: {token}", *fields, body=body)).status


@pytest.fixture
def policy(tmp_path: Path) -> str:
    own = by_file(tmp_path, pem(P256) + pem(RSA), "ES256, RS256", ", audience: fence")
    bare = "  - {{name: bare, match: 'PUT /reports/bare/{{id}}', resource: 'bare/{{path.id}}', authority: header}}\n"
    assert own.startswith(POLICY)
    return own + bare


async def test_a_forged_claim_moves_nothing(store_url: str, tmp_path: Path, policy: str) -> None:
    """Neither a write nor a registration: the smallest epoch is admitted afterwards."""
    async with stack(store_url, tmp_path, policy) as gate:
        told = {name: (await write(gate, claim)).status for name, claim in FORGED.items()}
        calls = {name: await registered(gate, claim) for name, claim in FORGED.items()}
        first = await write(gate, ISSUER.claim(0, aud="fence"))

        assert {name: status for name, status in told.items() if status not in (400, 401)} == {}
        assert calls == told
        assert (first.decision, len(gate.upstream.seen)) == ("forwarded", 1)


async def test_each_authority_takes_its_own_proof(store_url: str, tmp_path: Path, policy: str) -> None:
    """A bare epoch is none where claims are wanted, nor a claim where epochs are; and a claim's holder is its own."""
    async with stack(store_url, tmp_path, policy) as gate:
        bare = await write(gate, "500", "Fencing-Holder: agent-a")
        call = await registered(gate, "900", "Fencing-Holder: agent-a")
        claim = await write(gate, ISSUER.claim(1, aud="fence", resource="bare/7"), target="/reports/bare/7")
        renamed = await write(gate, ISSUER.claim(1, aud="fence"), "Fencing-Holder: agent-b")
        first = await write(gate, ISSUER.claim(0, aud="fence"))

        assert [answer.status for answer in (bare, claim, renamed)] + [call] == [400, 400, 401, 400]
        assert (first.decision, len(gate.upstream.seen)) == ("forwarded", 1)


def test_the_last_letter_but_one_is_another() -> None:
    """The last one of a signature may have bits that nobody reads."""
    changed = FORGED["another signature"].rpartition(".")[2]

    assert base64.urlsafe_b64decode(changed + "==") != base64.urlsafe_b64decode(SIGNATURE + "==")
