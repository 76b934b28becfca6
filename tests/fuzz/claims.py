"""Signed claims, right and wrong on purpose, and a second reader of them that shares nothing with the gateway's."""

import base64
import hashlib
import hmac
import json
import random
import re

SECRET = "a-secret-that-only-the-issuer-has"
_AUDIENCE = "fence"
# The year 2100, so that a seed gives the same bytes.
_LATER = 4_102_444_800
_PARTS = re.compile(rb"([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)")
_HEADER = {"alg": "HS256", "typ": "JWT"}
_OTHER_HEADERS = ({"alg": "none"}, {"alg": "HS512"}, {"alg": "HS256", "crit": ["b64"], "b64": False}, {"alg": "ES256"})
_OTHER_MEMBERS: tuple[dict[str, object], ...] = (
    *({"resource": "claim/c0"}, {"resource": None}, {"aud": "other"}, {"aud": None}, {"exp": 1}, {"exp": None}),
    *({"epoch": -1}, {"epoch": 1.5}, {"epoch": "1e3"}, {"epoch": True}, {"epoch": 1 << 64}, {"epoch": "007"}),
    *({"holder": ""}, {"holder": None}, {"nbf": _LATER}, {"aud": ["fence", "other"]}, {"exp": "soon"}),
)


def drawn_claim(draw: random.Random, resource: bytes, epoch: int) -> bytes:
    """Most often one that holds."""
    said: dict[str, object] = {"epoch": draw.choice((epoch, str(epoch))), "holder": f"h{epoch}", "aud": _AUDIENCE}
    said |= {"resource": resource.decode(), "exp": _LATER}
    chance = draw.random()
    if chance < 0.7:
        return _signed(_HEADER, said)
    if chance < 0.8:
        return _signed(draw.choice(_OTHER_HEADERS), said)
    if chance < 0.9:
        return _signed(_HEADER, said | draw.choice(_OTHER_MEMBERS))
    return _spoiled(_signed(_HEADER, said), draw)


def epoch_of(token: bytes, resource: bytes) -> bytes | None:
    """The epoch of a claim that holds for the resource, for the strictest reader that may be asked; None of another."""
    parts = _PARTS.fullmatch(token)
    if parts is None:
        return None
    signature = hmac.digest(SECRET.encode(), parts[1] + b"." + parts[2], hashlib.sha256)
    try:
        header, said, shown = json.loads(_decoded(parts[1])), json.loads(_decoded(parts[2])), _decoded(parts[3])
    except ValueError:
        return None
    if shown != signature or header.get("alg") != "HS256" or "crit" in header:
        return None
    in_time = isinstance(said.get("exp"), int) and said["exp"] >= _LATER and "nbf" not in said
    # RFC 7519, section 4.1.3: one of several.
    audience = said["aud"] if isinstance(said.get("aud"), list) else [said.get("aud")]
    is_for = said.get("resource") == resource.decode("utf-8", "replace") and _AUDIENCE in audience
    epoch = said.get("epoch")
    if not in_time or not is_for or not said.get("holder") or isinstance(epoch, bool):
        return None
    digits = re.fullmatch("0|[1-9][0-9]{0,19}", str(epoch))
    return None if digits is None or int(digits[0]) >= 1 << 64 else digits[0].encode()


def _signed(header: dict[str, object], said: dict[str, object]) -> bytes:
    named = {name: value for name, value in said.items() if value is not None}
    text = _encoded(json.dumps(header).encode()) + b"." + _encoded(json.dumps(named).encode())
    if header["alg"] == "none":
        return text + b"."
    return text + b"." + _encoded(hmac.digest(SECRET.encode(), text, hashlib.sha256))


def _spoiled(token: bytes, draw: random.Random) -> bytes:
    """One character another one, or the parts of it in another way."""
    at = draw.randrange(len(token))
    other = token[:at] + draw.choice((b"A", b"_", b".", b"=", b"")) + token[at + 1 :]
    header, said, signature = token.split(b".")
    return draw.choice(
        (other, token + b".", token + b"=", said + b"." + header + b"." + signature, header + b"." + said + b".AA")
    )


def _encoded(data: bytes) -> bytes:
    return base64.urlsafe_b64encode(data).rstrip(b"=")


def _decoded(part: bytes) -> bytes:
    return base64.urlsafe_b64decode(part + b"=" * (-len(part) % 4))
