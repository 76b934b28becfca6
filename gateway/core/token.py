"""The grammar of `Fencing-Token` and of the headers beside it. Past this module nobody holds a token, only a proof."""

import base64
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from gateway.core.claim import carries_epoch
from gateway.core.epoch import Epoch, parse_u64
from gateway.core.frozen import frozen

TokenSource = Literal["fencing-token", "bearer", "basic"]

# base64url of 16 bytes is 22 characters; what the lease API hands out is longer. The bound keeps `42.7` from being
# taken for a lease token, and a hostile megabyte from being hashed.
_SECRET = re.compile("[A-Za-z0-9_-]{22,128}")
_SHORTEST_SECRET = 22

# Three parts in base64url, none of them empty (RFC 7515, section 7.1): a JWS without a signature is no token at all.
_COMPACT_JWS = re.compile("[A-Za-z0-9_-]+[.][A-Za-z0-9_-]+[.][A-Za-z0-9_-]+")
# With a signature of RSA and a few claims of the issuer's own it is one kilobyte.
_JWS_LENGTH = 8192
# What may be a token in the middle of a text: all of its parts, for a part of another's key (`1000.a.b`) is none.
_INSIDE = re.compile(r"(?<![\w.-])[\w-]+[.][\w-]+(?:[.][\w-]+)?(?![\w-]|[.][\w-])", re.ASCII)
# Base64 of the shortest token, or of more; some leave its padding away, some use the other alphabet (RFC 4648).
_ENCODED = re.compile("[A-Za-z0-9+/_-]{32,}")
_ESCAPED = re.compile("%([0-9A-Fa-f]{2})")
# Each of those behind may read what the one before it has left: a proxy, a server, its application.
_UNESCAPED_AT_MOST = 3
_TO_STANDARD = str.maketrans("-_", "+/")


@frozen
class LeaseProof:
    """`42.SECRET`: an epoch and the digest of the secret that was handed out with it."""

    epoch: Epoch
    secret_digest: bytes


@frozen
class BareProof:
    """`42`: an epoch that another system granted; the holder comes in a header of its own."""

    epoch: Epoch


@dataclass(frozen=True, slots=True)
class SignedClaim:
    """A compact JWS, told by its form. Nothing of it is believed: `gateway.claims` makes a ClaimProof of it."""

    text: str = field(repr=False)


Proof = LeaseProof | BareProof | SignedClaim


def digest_secret(secret: str) -> bytes:
    """What the store keeps of a lease's secret: 128 bits of its SHA-256.

    The secret itself is random (128 bits or more), so that neither a salt nor a slow hash would add anything, and
    comparing digests tells a clock nothing about the secret.
    """
    return hashlib.sha256(secret.encode("ascii")).digest()[:16]


def parse_token(text: str) -> Proof | None:
    """The proof that `text` spells, or None if it is malformed. Exact over the whole 64-bit range."""
    digits, dot, secret = text.partition(".")
    epoch = parse_u64(digits)
    if epoch is None:
        return SignedClaim(text) if len(text) <= _JWS_LENGTH and _COMPACT_JWS.fullmatch(text) else None
    if not dot:
        return BareProof(Epoch(epoch))
    if not _SECRET.fullmatch(secret):
        return None
    return LeaseProof(Epoch(epoch), digest_secret(secret))


def token_in_authorization(value: str, sources: tuple[TokenSource, ...]) -> str | None:
    """The token that an `Authorization` value carries for one of `sources`, unparsed; None if it carries none."""
    scheme, _, rest = value.replace("\t", " ").strip(" ").partition(" ")
    rest = rest.strip(" ")
    match scheme.lower():
        # GitHub, Gitea, Forgejo and Django REST call it `token`; Octokit and PyGithub send their key so.
        case "bearer" | "token" if "bearer" in sources:
            return rest or None
        case "basic" if "basic" in sources:
            try:
                userinfo = base64.b64decode(rest, validate=True).decode("utf-8")
            except ValueError:
                # Not in base64, or not in ASCII, or no text.
                return None
            return userinfo.partition(":")[2] or None
        # Linear's SDK sends a key without any scheme. What has no token's form there is a scheme without a key.
        case _ if not rest and "bearer" in sources and parse_token(scheme) is not None:
            return scheme
    return None


def authorization_is_a_token(value: str, sources: tuple[TokenSource, ...]) -> bool:
    """Whether an `Authorization` must not reach an upstream because it is a fencing token.

    A lease token is recognised whatever the rule says, wherever it stands in the value and in what `Basic` encodes:
    nothing else looks like it, and it must leak nowhere. So is a signed claim that names an epoch and a resource; any
    other JWT is the agent's key to the API. A bare epoch only where a rule takes it from there (`42` is a legal
    password of other systems).
    """
    is_basic = value.lstrip(" \t")[:5].lower() == "basic"
    if any(map(_has_token, _readings(value, decoded=is_basic))):
        return True
    text = token_in_authorization(value, sources)
    return text is not None and isinstance(parse_token(text), BareProof)


def shows_secret(value: str, token: str | None) -> bool:
    """Whether a field shows the secret of the token that its request presents elsewhere, whatever is around it.

    What is compared with the token itself needs no form of its own: `x.T`, the secret alone, any scheme.
    """
    secret = "" if token is None else token.partition(".")[2]
    if len(secret) < _SHORTEST_SECRET:
        return False
    texts = tuple(_unescaped(value)) if "%" in value else (value,)
    if any(secret in text for text in texts):
        return True
    words = (word for text in texts for word in _ENCODED.findall(text))
    return any(secret in _plain(word) for word in words if len(word) * 3 >= len(secret) * 4)


def _readings(value: str, *, decoded: bool) -> Iterator[str]:
    """A field's value, and what is percent-encoded in it; `decoded`: what is in base64 too."""
    yield from _unescaped(value)
    for word in _ENCODED.findall(value) if decoded else ():
        yield from _readings(_plain(word), decoded=False)


def _unescaped(value: str) -> Iterator[str]:
    """The value, without its percent-encoding, and without what was in that."""
    yield value
    for _ in range(_UNESCAPED_AT_MOST):
        if "%" not in value:
            return
        value = _ESCAPED.sub(lambda escape: chr(int(escape[1], 16)), value)
        yield value


def _has_token(text: str) -> bool:
    return "." in text and any(_is_telling(parse_token(found)) for found in _INSIDE.findall(text))


def _plain(encoded: str) -> str:
    """What is in base64; rubbish for what is not in it."""
    whole = len(encoded) - (len(encoded) % 4 == 1)
    padding = "=" * (-whole % 4)
    return base64.b64decode(encoded[:whole].translate(_TO_STANDARD) + padding).decode("latin-1")


def _is_telling(proof: Proof | None) -> bool:
    """Whether nothing but a fencing token looks like this."""
    return isinstance(proof, LeaseProof) or (isinstance(proof, SignedClaim) and carries_epoch(proof.text))
