"""Which keys are read from PEM and from a JWKS, and which algorithms each is for."""

import json

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP384R1
from cryptography.hazmat.primitives.asymmetric.ec import generate_private_key as generate_ec_key
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key as generate_rsa_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from jwt import get_algorithm_by_name

from gateway.claims.keys import KeyFault, KeySet, read_keys
from gateway.core.rule import Algorithm
from tests.issuer import ED25519, KEYS, P256, RSA, jwk, jwks, pem

ALGORITHMS: tuple[Algorithm, ...] = ("EdDSA", "ES256", "RS256", "HS256")
PRIVATE_PEM = P256.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
PRIVATE_JWK = get_algorithm_by_name("ES256").to_jwk(P256, as_dict=True)
SMALL_RSA = pem(generate_rsa_key(65537, 1024))
P384 = pem(generate_ec_key(SECP384R1()))
OCT = {"kty": "oct", "k": "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0"}


@pytest.mark.parametrize("name", KEYS)
def test_a_key_is_for_its_own_algorithm_only(name: str) -> None:
    """Whatever a token says: a public key is never a secret."""
    for content in (pem(KEYS[name]), jwks(jwk(KEYS[name]))):
        read = read_keys(content)

        assert isinstance(read, KeySet)
        assert [algorithm for algorithm in ALGORITHMS if read.fitting(algorithm, None)] == [name]


def test_a_file_may_hold_several_keys() -> None:
    """The next one beside the one in use."""
    read = read_keys(b"# one\n" + pem(P256) + b"\n# two\n" + pem(ED25519))

    assert isinstance(read, KeySet)
    assert len(read.keys) == 2


@pytest.mark.parametrize(
    ("asked", "found"),
    [("one", ["one", None]), ("two", ["two", None]), ("three", [None]), (None, ["one", "two", None])],
    ids=["its own and those without", "the other", "unknown", "a claim without a kid"],
)
def test_a_kid_chooses_among_keys_that_have_one(asked: str | None, found: list[str | None]) -> None:
    """A key without an id may be any claim's."""
    read = read_keys(jwks(jwk(P256, kid="one"), jwk(P256, kid="two"), jwk(P256), jwk(RSA, kid="one")))

    assert isinstance(read, KeySet)
    assert [key.id for key in read.fitting("ES256", asked)] == found


@pytest.mark.parametrize(
    "other",
    [
        OCT,
        jwk(RSA, use="enc"),
        jwk(RSA, key_ops=["encrypt"]),
        jwk(RSA, alg="PS256"),
        jwk(RSA, alg=["RS256"]),
        jwk(RSA, kid=7),
        {"kty": "XX"},
        7,
        {"kty": "RSA", "n": "AQAB"},
        {},
    ],
    ids=[
        "a secret",
        "for encryption",
        "not to verify",
        "for another algorithm",
        "an alg that is no text",
        "a kid that is no text",
        "unknown",
        "no object",
        "incomplete",
        "empty",
    ],
)
def test_what_is_not_understood_is_passed_over(other: object) -> None:
    """RFC 7517, section 5: a set may hold keys for other uses."""
    content = json.dumps({"keys": [other, jwk(P256)]}).encode()

    read = read_keys(content)

    assert isinstance(read, KeySet)
    assert [key.algorithms for key in read.keys] == [{"ES256"}]
    assert isinstance(read_keys(json.dumps({"keys": [other]}).encode()), KeyFault)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "neither"),
        (PRIVATE_PEM, "private key; give the public one"),
        (jwks(PRIVATE_JWK), "private key (`d`)"),
        (SMALL_RSA, "RSA of 2048 bits or more"),
        (P384, "P-256"),
        (b"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----", "none of"),
        (b"{}", "not a JWKS"),
        (b'{"keys": [], "keys": []}', "repeated names"),
        (b'{"keys": []}', "no key in it"),
        (pem(P256) * 65, "more than 64"),
        (jwks(*[jwk(P256)] * 65), "more than 64"),
    ],
    ids=[
        "nothing",
        "a private key",
        "a private JWK",
        "RSA of 1024 bits",
        "another curve",
        "no key in the frame",
        "no JWKS",
        "a name twice",
        "an empty set",
        "too many",
        "too many in a set",
    ],
)
def test_what_is_wrong_with_a_source_is_said(content: bytes, says: str) -> None:
    """A source without one usable key is a fault."""
    read = read_keys(content)

    assert isinstance(read, KeyFault)
    assert says in read.why
