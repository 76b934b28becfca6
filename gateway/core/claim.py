"""What a signed claim says: its two JSON objects read strictly, and its statements judged.

A claim is a JWT (RFC 7519) in a compact JWS (RFC 7515) with `epoch`, `holder` (or `sub`), `resource`, `exp`, and `aud`,
`nbf`, `iat` as usual. Whose signature it bears is `gateway.claims`' to find out, before anything here is believed.
"""

import base64
import binascii
import json
import math
from dataclasses import dataclass

from gateway.core.caller import parse_holder
from gateway.core.clock import Deadline
from gateway.core.decision import TOKEN_INVALID, TOKEN_MALFORMED, Decision, Facts, Refused
from gateway.core.epoch import HIGHEST, Epoch, parse_u64

# What two clocks that are kept by NTP, or by hand, differ by. Longer, and a claim lives noticeably past its end.
LEEWAY_S = 60.0
_KEY_ID_LENGTH = 255


@dataclass(frozen=True, slots=True)
class ClaimHeader:
    """What a claim says of its signature: not trusted, only used to find a key among those that the rule trusts."""

    algorithm: str
    key_id: str | None


@dataclass(frozen=True, slots=True)
class ClaimProof:
    """A claim whose signature, resource, audience and times hold. Past `expires` it admits nothing. `at`: when that was
    found, in seconds of `Clock.boot`."""

    epoch: Epoch
    holder: str
    expires: Deadline
    at: float = 0.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a claim must be for. `audience` is None where the rule names none."""

    resource: str
    audience: str | None

    def refuse(self, decision: Decision, what: str) -> Refused:
        """`what` is wrong with the claim, and what to do."""
        do = "Mend the issuer." if decision is TOKEN_MALFORMED else "Ask the issuer for a new one."
        return Refused(decision, f"Not forwarded: the signed claim {what}. {do}", Facts(resource=self.resource))


class _Unclear(ValueError):
    """The text is not one JSON object that everybody reads alike."""


def read_object(text: bytes) -> dict[str, object] | None:
    """The JSON object that `text` is; None if it is none, or if any object in it has two members of one name."""
    try:
        value = json.loads(text.decode("utf-8"), object_pairs_hook=_members, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise _Unclear
    return members


def _no_constant(_: str) -> object:
    # NaN and Infinity are no JSON, and compare with no time.
    raise _Unclear


# Of `{"epoch":0,"resource":0}` in base64url.
_SHORTEST_PAYLOAD = 32


def carries_epoch(compact: str) -> bool:
    """Whether a compact JWS, believed or not, is a claim for a fence: it names an epoch and a resource."""
    payload = compact.split(".")[1]
    # Values may be made of thousands of such forms, too short for both names.
    members = read_object(_decoded(payload)) if len(payload) >= _SHORTEST_PAYLOAD else None
    return members is not None and "epoch" in members and "resource" in members


def _decoded(segment: str) -> bytes:
    """The bytes of unpadded base64url; none for a length that encodes nothing."""
    try:
        return base64.urlsafe_b64decode(segment + "=" * (-len(segment) % 4))
    except binascii.Error:
        return b""


def read_claim_header(compact: str, wanted: Wanted) -> ClaimHeader | Refused:
    """The header of a compact JWS. Refused: `token-malformed`."""
    members = read_object(_decoded(compact.split(".")[0]))
    if members is None:
        return wanted.refuse(TOKEN_MALFORMED, "has a header that is not one JSON object without repeated names")
    if "crit" in members:
        # RFC 7515, section 4.1.11: extensions that are not understood must not be passed over. None is.
        return wanted.refuse(TOKEN_MALFORMED, "has a `crit` header, and no extension is understood here")
    algorithm, key_id = members.get("alg"), members.get("kid")
    if not isinstance(algorithm, str):
        return wanted.refuse(TOKEN_MALFORMED, "does not name its algorithm in `alg`")
    if key_id is not None and not (isinstance(key_id, str) and len(key_id) <= _KEY_ID_LENGTH):
        return wanted.refuse(TOKEN_MALFORMED, f"has a `kid` that is not a text of at most {_KEY_ID_LENGTH} characters")
    return ClaimHeader(algorithm, key_id)


def judge_claim(payload: bytes, wanted: Wanted, now: Deadline) -> ClaimProof | Refused:
    """What a payload proves, once its signature is known to hold. Refused: `token-malformed`, `token-invalid`."""
    members = read_object(payload)
    if members is None:
        return wanted.refuse(TOKEN_MALFORMED, "is not one JSON object without repeated names")
    epoch = _epoch(members.get("epoch"))
    if epoch is None:
        return wanted.refuse(TOKEN_MALFORMED, "needs `epoch`: a whole number up to 2^64-1, or its digits as text")
    holder = members.get("holder", members.get("sub"))
    if not isinstance(holder, str) or parse_holder(holder) is None:
        return wanted.refuse(TOKEN_MALFORMED, "needs `holder` (or `sub`): 1 to 255 printable characters")
    if not isinstance(members.get("resource"), str):
        return wanted.refuse(TOKEN_MALFORMED, "needs `resource`: the resource that its epoch belongs to")
    if members["resource"] != wanted.resource:
        return wanted.refuse(TOKEN_INVALID, "is for another resource")
    refused = _wrong_audience(members.get("aud"), wanted)
    if refused is not None:
        return refused
    left_s = _left(members, wanted, now.wall)
    if isinstance(left_s, Refused):
        return left_s
    return ClaimProof(epoch, holder, Deadline(now.boot + left_s, now.wall + left_s), now.boot)


def _epoch(value: object) -> Epoch | None:
    if isinstance(value, str):
        number = parse_u64(value)
        return None if number is None else Epoch(number)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= HIGHEST:
        return Epoch(value)
    return None


def _wrong_audience(value: object, wanted: Wanted) -> Refused | None:
    """RFC 7519, section 4.1.3: whoever does not find itself in an `aud` that is there must reject the claim."""
    audiences = value if isinstance(value, list) else [] if value is None else [value]
    if not all(isinstance(audience, str) for audience in audiences):
        return wanted.refuse(TOKEN_MALFORMED, "has an `aud` that is neither a text nor a list of texts")
    if wanted.audience is None:
        # An empty list is there as well, and nobody finds itself in it.
        is_there = value is not None
        return wanted.refuse(TOKEN_INVALID, "is for an audience, and the rule names none") if is_there else None
    return None if wanted.audience in audiences else wanted.refuse(TOKEN_INVALID, "is for another audience")


def _left(members: dict[str, object], wanted: Wanted, now_s: float) -> float | Refused:
    """Seconds for which the claim may still be used, with the leeway."""
    times: dict[str, float] = {}
    for name in ("exp", "nbf", "iat"):
        if name in members:
            time = _time(members[name])
            if time is None:
                return wanted.refuse(TOKEN_MALFORMED, f"has `{name}` that is not a number of seconds since 1970")
            times[name] = time
    if "exp" not in times:
        return wanted.refuse(TOKEN_MALFORMED, "needs `exp`: the second since 1970 at which it ends")
    if max(times.get("nbf", 0.0), times.get("iat", 0.0)) > now_s + LEEWAY_S:
        return wanted.refuse(TOKEN_INVALID, "is not valid yet")
    left_s = times["exp"] + LEEWAY_S - now_s
    return left_s if left_s > 0 else wanted.refuse(TOKEN_INVALID, "has expired")


def _time(value: object) -> float | None:
    """A NumericDate of RFC 7519, section 2, that a double holds."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, int):
        return float(value) if abs(value) <= HIGHEST else None
    return value if math.isfinite(value) else None
