"""Public keys, each with the algorithms that it may be used for, from PEM or from a JWKS (RFC 7517)."""

import re
from dataclasses import dataclass, field

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed448 import Ed448PublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from jwt import PyJWK, PyJWTError

from gateway.claims.fault import KeyFault
from gateway.core.claim import read_object
from gateway.core.rule import Algorithm

# A set holds the keys of one issuer: the one in use, the next, and the last ones.
_MOST_KEYS = 64
# RFC 7518, section 3.3.
_RSA_BITS = 2048
_PEM = re.compile(rb"-----BEGIN PUBLIC KEY-----.*?-----END PUBLIC KEY-----", re.DOTALL)

PublicKey = Ed25519PublicKey | Ed448PublicKey | EllipticCurvePublicKey | RSAPublicKey


@dataclass(frozen=True, slots=True)
class Key:
    """A public key, or a secret's bytes. `id` is None where its source gives it none: then it is any claim's."""

    id: str | None
    algorithms: frozenset[Algorithm]
    key: PublicKey | bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class KeySet:
    """The keys of one source."""

    keys: tuple[Key, ...]

    def fitting(self, algorithm: Algorithm, key_id: str | None) -> tuple[Key, ...]:
        """Those that may have made a signature of this algorithm under this `kid` (None: the claim names none)."""
        return tuple(
            key
            for key in self.keys
            if algorithm in key.algorithms and (key_id is None or key.id is None or key.id == key_id)
        )


def read_keys(content: bytes) -> KeySet | KeyFault:
    """The keys of a file or an answer. Those in a JWKS that no algorithm here takes are passed over."""
    if b"PRIVATE KEY-----" in content:
        return KeyFault("it holds a private key; give the public one, and keep the private one with the issuer")
    if content.lstrip().startswith(b"{"):
        return _of_jwks(content)
    keys = []
    for block in _PEM.findall(content)[: _MOST_KEYS + 1]:
        try:
            key = _key(load_pem_public_key(block), None)
        except (ValueError, UnsupportedAlgorithm):
            key = None
        if key is None:
            return KeyFault(f"a key in it is none of {_TAKEN}")
        keys.append(key)
    return _set(keys, KeyFault("it holds neither `-----BEGIN PUBLIC KEY-----` nor a JWKS"))


_TAKEN = f"Ed25519, Ed448, P-256 and RSA of {_RSA_BITS} bits or more"


def _of_jwks(content: bytes) -> KeySet | KeyFault:
    members = read_object(content)
    listed = None if members is None else members.get("keys")
    if not isinstance(listed, list):
        return KeyFault('it is not a JWKS, which is a JSON object such as {"keys": [...]} without repeated names')
    if any(isinstance(jwk, dict) and jwk.get("kty") != "oct" and "d" in jwk for jwk in listed):
        return KeyFault("it holds a private key (`d`); give the public ones, and keep the private with the issuer")
    keys = [key for jwk in listed[: _MOST_KEYS + 1] if isinstance(jwk, dict) and (key := _of_jwk(jwk)) is not None]
    without = f"no key in it is for signatures and one of {_TAKEN}"
    return _set(keys, KeyFault(without, is_empty=all(isinstance(jwk, dict) for jwk in listed)))


def _set(keys: list[Key], without: KeyFault) -> KeySet | KeyFault:
    if len(keys) > _MOST_KEYS:
        return KeyFault(f"it holds more than {_MOST_KEYS} keys")
    return KeySet(tuple(keys)) if keys else without


def _of_jwk(jwk: dict[str, object]) -> Key | None:
    """One member of a JWKS; None for what is not understood, which RFC 7517, section 5, says to ignore."""
    operations = jwk.get("key_ops", ["verify"])
    if jwk.get("use", "sig") != "sig" or not isinstance(operations, list) or "verify" not in operations:
        return None
    key_id, algorithm = jwk.get("kid"), jwk.get("alg")
    if jwk.get("kty") == "oct" or not (key_id is None or isinstance(key_id, str)):
        return None
    try:
        # Without `alg`: it may name one that the library lacks, and the key itself says what it is good for.
        loaded = PyJWK({name: value for name, value in jwk.items() if name != "alg"}).key
    except (PyJWTError, ValueError, TypeError, UnsupportedAlgorithm):
        return None
    key = _key(loaded, key_id)
    # Not by a hash: it may be a list.
    return None if key is None or not (algorithm is None or algorithm in tuple(key.algorithms)) else key


def _key(loaded: object, key_id: str | None) -> Key | None:
    match loaded:
        case Ed25519PublicKey() | Ed448PublicKey():
            return Key(key_id, frozenset(("EdDSA",)), loaded)
        case EllipticCurvePublicKey() if isinstance(loaded.curve, SECP256R1):
            return Key(key_id, frozenset(("ES256",)), loaded)
        case RSAPublicKey() if loaded.key_size >= _RSA_BITS:
            return Key(key_id, frozenset(("RS256",)), loaded)
    return None
