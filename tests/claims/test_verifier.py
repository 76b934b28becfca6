"""Whose signature a claim bears."""

import hmac
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key

from gateway.claims.keys import KeyFault
from gateway.claims.verifier import Verifier
from gateway.core.claim import ClaimProof
from gateway.core.decision import KEYS_UNAVAILABLE, TOKEN_INVALID, TOKEN_MALFORMED, Decision, Refused
from gateway.core.rule import Algorithm, KeyFile, KeyUrl, Origin, Pem, SharedSecret, Signed, Tls
from gateway.core.token import SignedClaim, parse_token
from gateway.core.write import ResourceKey
from gateway.flow.clock import BootClock
from tests.issuer import ED25519, KEYS, P256, RSA, SECRET, Issuer, encoded, jwk, jwks, now_s, pem

RESOURCE = ResourceKey("report/7")
URL = KeyUrl(Origin("https", "issuer.internal", 443), "/keys")
STRANGER = generate_private_key(SECP256R1())
SHARED = SharedSecret(SECRET.encode())


async def verified(text: str, terms: Signed, served: bytes | KeyFault = b"") -> ClaimProof | Decision:
    async def fetch(_: KeyUrl) -> bytes | KeyFault:
        return served

    claim = parse_token(text)
    assert isinstance(claim, SignedClaim)
    found = await Verifier(BootClock(), fetch, print).verify(claim, terms, RESOURCE)
    return found.decision if isinstance(found, Refused) else found


def file(directory: Path, content: bytes, *algorithms: Algorithm) -> Signed:
    (directory / "keys").write_bytes(content)
    return Signed(KeyFile(str(directory / "keys")), algorithms)


@pytest.mark.parametrize("name", KEYS)
async def test_a_public_key_verifies_what_its_private_key_signed(name: Algorithm, tmp_path: Path) -> None:
    """For each asymmetric algorithm, with the time that is left by both clocks."""
    terms = file(tmp_path, pem(KEYS[name]), name)

    proof = await verified(Issuer(KEYS[name], name).claim(), terms)

    assert isinstance(proof, ClaimProof)
    assert (proof.epoch, proof.holder) == (42, "agent-a")
    assert 110 < BootClock().left(proof.expires) <= 121


async def test_a_shared_secret_verifies_what_it_signed() -> None:
    """And nothing that another one signed."""
    terms = Signed(SHARED, ("HS256",))

    assert isinstance(await verified(Issuer(SECRET, "HS256").claim(), terms), ClaimProof)
    assert await verified(Issuer(SECRET[::-1], "HS256").claim(), terms) is TOKEN_INVALID


def _altered(claim: str) -> str:
    head, _, signature = claim.split(".")
    said = {"epoch": 99, "holder": "agent-a", "resource": RESOURCE, "exp": now_s() + 60}
    return f"{head}.{encoded(said)}.{signature}"


def _by_public_key(claim: str) -> str:
    """What a verifier takes that believes the token's HS256 and uses the public key as the secret for it."""
    text = f"{encoded({'alg': 'HS256'})}.{claim.split('.')[1]}"
    return f"{text}.{encoded(hmac.digest(pem(P256), text.encode(), 'sha256'))}"


ES256 = Issuer()
FORGED = {
    "another key": Issuer(STRANGER).claim(),
    "another payload": _altered(ES256.claim()),
    "none": f"{encoded({'alg': 'none'})}.{ES256.claim().split('.')[1]}.AAAA",
    "none in another case": ES256.claim(header={"alg": "nOnE"}),
    "a longer signature": ES256.claim() + "AAAA",
    "the public key as a secret": _by_public_key(ES256.claim()),
    "its own key in the header": Issuer(STRANGER).claim(header={"jwk": jwk(STRANGER)}),
    "an algorithm that the rule does not name": Issuer(RSA, "RS256").claim(),
    "the algorithm of another key in the set": Issuer(RSA, "RS256").claim(header={"alg": "ES256"}),
    "no algorithm that exists": ES256.claim(header={"alg": "ES257"}),
}


@pytest.mark.parametrize("claim", FORGED.values(), ids=FORGED)
async def test_what_the_rules_keys_did_not_sign_is_invalid(claim: str, tmp_path: Path) -> None:
    """The algorithm is the rule's, the key one of its own, and each key for its own algorithm."""
    terms = file(tmp_path, jwks(jwk(P256), jwk(RSA), jwk(ED25519)), "ES256", "EdDSA")

    assert await verified(claim, terms) is TOKEN_INVALID


async def test_what_a_claim_says_counts_only_when_it_is_signed(tmp_path: Path) -> None:
    """A stranger is not told what is wrong with a payload; whoever signed it is."""
    terms = file(tmp_path, pem(P256), "ES256")

    assert await verified(Issuer(STRANGER).claim(epoch=None), terms) is TOKEN_INVALID
    assert await verified(ES256.claim(epoch=None), terms) is TOKEN_MALFORMED
    assert await verified(ES256.signed({"alg": "ES256"}, b'{"epoch":1,"epoch":2}'), terms) is TOKEN_MALFORMED


async def test_a_header_that_is_not_understood_is_refused_before_any_key_is_asked_for() -> None:
    """Even where no key can be had."""
    terms = Signed(URL, ("ES256",))

    assert await verified(ES256.claim(header={"crit": ["x"]}), terms, KeyFault("away")) is TOKEN_MALFORMED
    assert await verified(ES256.claim(header={"alg": "RS256"}), terms, KeyFault("away")) is TOKEN_INVALID
    assert await verified(ES256.claim(), terms, KeyFault("away")) is KEYS_UNAVAILABLE


async def test_every_key_that_fits_is_tried(tmp_path: Path) -> None:
    """A file of PEM keys names none of them."""
    terms = file(tmp_path, pem(STRANGER) + pem(P256), "ES256")

    assert isinstance(await verified(ES256.claim(header={"kid": "any"}), terms), ClaimProof)


async def test_a_kid_chooses_the_key(tmp_path: Path) -> None:
    """A claim that names another key than the one that signed it is not tried with the others."""
    terms, served = Signed(URL, ("ES256",)), jwks(jwk(P256, kid="one"), jwk(STRANGER, kid="two"))

    assert isinstance(await verified(ES256.claim(header={"kid": "one"}), terms, served), ClaimProof)
    assert await verified(ES256.claim(header={"kid": "two"}), terms, served) is TOKEN_INVALID
    assert await verified(ES256.claim(header={"kid": "three"}), terms, served) is TOKEN_INVALID


async def test_a_touched_authority_takes_no_keys_away() -> None:
    """The same URL under another CA is the same issuer: its keys stay while the URL is away."""
    served = [jwks(jwk(P256)), KeyFault("it is away")]

    async def fetch(_: KeyUrl) -> bytes | KeyFault:
        return served.pop(0)

    verifier = Verifier(BootClock(), fetch, print)
    claim = parse_token(ES256.claim())
    assert isinstance(claim, SignedClaim)
    for pem_now in (b"one", b"another"):
        trusted = replace(URL, tls=Tls(ca="/etc/ca.pem", pem=Pem(ca=pem_now)))
        found = await verifier.verify(claim, Signed(trusted, ("ES256",)), RESOURCE)
        assert isinstance(found, ClaimProof)
    elsewhere = Signed(replace(URL, target="/other"), ("ES256",))
    served.append(KeyFault("it is away"))
    unknown = await verifier.verify(claim, elsewhere, RESOURCE)
    assert isinstance(unknown, Refused)
    assert unknown.decision is KEYS_UNAVAILABLE


class SleepingClock(BootClock):
    """The machine has slept for so long."""

    slept_s = 0.0

    def boot(self) -> float:
        return super().boot() + self.slept_s


async def test_keys_grow_old_while_the_machine_sleeps() -> None:
    """One that was withdrawn meanwhile verifies nothing when it wakes."""
    served = [jwks(jwk(P256, kid="one")), jwks(jwk(STRANGER, kid="two"))]

    async def fetch(_: KeyUrl) -> bytes | KeyFault:
        return served.pop(0)

    clock = SleepingClock()
    verifier = Verifier(clock, fetch, print)
    claim = parse_token(ES256.claim(header={"kid": "one"}))
    assert isinstance(claim, SignedClaim)
    found = []
    for clock.slept_s in (0.0, 8 * 3600.0):
        proof = await verifier.verify(claim, Signed(URL, ("ES256",)), RESOURCE)
        found.append(proof.decision if isinstance(proof, Refused) else type(proof))

    assert found == [ClaimProof, TOKEN_INVALID]
