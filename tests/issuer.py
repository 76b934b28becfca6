"""An issuer of signed claims: keys made for the test, and compact JWS written by hand, right or wrong on purpose."""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key as generate_rsa_key
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt import get_algorithm_by_name

SECRET = "0123456789abcdef0123456789abcdef"
PrivateKey = Ed25519PrivateKey | EllipticCurvePrivateKey | RSAPrivateKey

ED25519 = Ed25519PrivateKey.generate()
P256 = generate_private_key(SECP256R1())
RSA = generate_rsa_key(65537, 2048)
KEYS: Mapping[str, PrivateKey] = {"EdDSA": ED25519, "ES256": P256, "RS256": RSA}


def now_s() -> int:
    """Seconds since 1970, as claims have them."""
    return int(datetime.now(UTC).timestamp())


def pem(key: PrivateKey) -> bytes:
    """The public half, as a policy's key file has it."""
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def jwk(key: PrivateKey, **members: object) -> dict[str, object]:
    """The public half as a member of a JWKS."""
    algorithm = next(name for name, kind in _KINDS.items() if isinstance(key, kind))
    made: dict[str, object] = get_algorithm_by_name(algorithm).to_jwk(key.public_key(), as_dict=True)
    return made | members


_KINDS = {"EdDSA": Ed25519PrivateKey, "ES256": EllipticCurvePrivateKey, "RS256": RSAPrivateKey}


def jwks(*keys: Mapping[str, object]) -> bytes:
    return json.dumps({"keys": keys}).encode()


def encoded(value: object) -> str:
    """Base64url without padding; of JSON unless it is bytes already."""
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


@dataclass(frozen=True)
class Issuer:
    """Signs for one resource with one key."""

    key: PrivateKey | str = P256
    algorithm: str = "ES256"
    resource: str = "report/7"
    holder: str = "agent-a"

    def claim(self, epoch: object = 42, *, header: Mapping[str, object] | bytes = {}, **claims: object) -> str:
        """A claim; members that are None are left out. `header` adds to the header, or replaces it as bytes."""
        said = {"epoch": epoch, "holder": self.holder, "resource": self.resource, "exp": now_s() + 60}
        payload = {name: value for name, value in (said | claims).items() if value is not None}
        head = header if isinstance(header, bytes) else {"alg": self.algorithm, "typ": "JWT"} | dict(header)
        return self.signed(head, payload)

    def signed(self, header: object, payload: object) -> str:
        """Header and payload as they are, under a signature that holds."""
        text = f"{encoded(header)}.{encoded(payload)}"
        algorithm = get_algorithm_by_name(self.algorithm)
        return f"{text}.{encoded(algorithm.sign(text.encode(), algorithm.prepare_key(self.key)))}"
