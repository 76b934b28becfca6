"""What a claim says: read strictly, and judged against what the rule and the clock want."""

import json

import pytest

from gateway.core.claim import (
    LEEWAY_S,
    ClaimHeader,
    ClaimProof,
    Wanted,
    carries_epoch,
    judge_claim,
    read_claim_header,
    read_object,
)
from gateway.core.clock import Deadline
from gateway.core.decision import TOKEN_INVALID, TOKEN_MALFORMED, Decision, Refused
from gateway.core.epoch import HIGHEST, Epoch
from tests.issuer import encoded

WANTED = Wanted("report/7", None)
NOW = Deadline(boot=100.0, wall=1_000_000.0)
SAID = {"epoch": 42, "holder": "a", "resource": "report/7", "exp": 1_000_030}


def compact(header: object, payload: object = {}) -> str:
    return f"{encoded(header)}.{encoded(payload)}.AAAA"


def judged(wanted: Wanted = WANTED, /, **claims: object) -> ClaimProof | Refused:
    said = {name: value for name, value in (SAID | claims).items() if value is not ...}
    return judge_claim(json.dumps(said).encode(), wanted, NOW)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b"7",
        b'{"a":1,"a":1}',
        b'{"b":{"a":1,"a":2}}',
        b'{"a":NaN}',
        b'{"a":-Infinity}',
        b"\xff",
        b"{",
        b"[" * 9999,
        b'{"a":' + b"9" * 5000 + b"}",
        '{"a":1}'.encode("utf-16"),
    ],
    ids=[
        *("empty", "a list", "a number", "a name twice", "a name twice further in", "NaN", "Infinity", "not UTF-8"),
        *("broken off", "deep", "a number too long to be read", "UTF-16"),
    ],
)
def test_only_one_plain_json_object_is_read(text: bytes) -> None:
    """Two readers of a claim must not see two claims."""
    assert read_object(text) is None


@pytest.mark.parametrize(
    ("header", "read"),
    [
        ({"alg": "ES256"}, ClaimHeader("ES256", None)),
        ({"alg": "none", "kid": "one", "typ": "JWT"}, ClaimHeader("none", "one")),
    ],
    ids=["an algorithm", "an algorithm and a key"],
)
def test_a_header_names_algorithm_and_key(header: object, read: ClaimHeader) -> None:
    """Both are only looked up among those that the rule trusts."""
    assert read_claim_header(compact(header), WANTED) == read


@pytest.mark.parametrize(
    "header",
    [
        b"{",
        [],
        {},
        {"alg": 1},
        {"alg": None},
        {"alg": "ES256", "kid": 1},
        {"alg": "ES256", "kid": "x" * 256},
        {"alg": "ES256", "crit": []},
        {"alg": "ES256", "crit": ["b64"], "b64": False},
        b'{"alg":"ES256","alg":"none"}',
    ],
    ids=[
        "no JSON",
        "a list",
        "nothing",
        "alg is a number",
        "alg is null",
        "kid is a number",
        "a long kid",
        "crit is empty",
        "an extension",
        "alg twice",
    ],
)
def test_a_header_that_is_not_understood_is_malformed(header: object) -> None:
    """An extension that must be understood is not passed over (RFC 7515, section 4.1.11)."""
    refused = read_claim_header(compact(header), WANTED)

    assert isinstance(refused, Refused)
    assert refused.decision is TOKEN_MALFORMED


def test_a_claim_proves_its_epoch_and_holder_until_it_ends() -> None:
    """The end is the claim's own, and the leeway."""
    left = 30 + LEEWAY_S

    assert judged() == ClaimProof(Epoch(42), "a", Deadline(100.0 + left, 1_000_000.0 + left), 100.0)


@pytest.mark.parametrize(
    ("claims", "epoch", "holder"),
    [
        ({"epoch": "0"}, 0, "a"),
        ({"epoch": HIGHEST}, HIGHEST, "a"),
        ({"epoch": str(HIGHEST)}, HIGHEST, "a"),
        ({"holder": ..., "sub": "b"}, 42, "b"),
        ({"sub": "b"}, 42, "a"),
        ({"exp": 999_940.5}, 42, "a"),
        ({"nbf": 1_000_060, "iat": 1_000_060.0}, 42, "a"),
    ],
    ids=[
        "zero",
        "the highest",
        "the highest as text",
        "sub holds",
        "holder comes before sub",
        "within the leeway of its end",
        "within the leeway of its beginning",
    ],
)
def test_what_holds(claims: dict[str, object], epoch: int, holder: str) -> None:
    """Epochs are exact as numbers and as text; times have a leeway of a minute."""
    proof = judged(**claims)

    assert isinstance(proof, ClaimProof)
    assert (proof.epoch, proof.holder) == (epoch, holder)


MALFORMED = [
    *({"epoch": value} for value in (..., None, True, -1, 1.0, 1e3, HIGHEST + 1, "", "01", "+1", " 1", "1.0", [1])),
    *({"holder": value} for value in (..., None, "", 7, "a\n", "x" * 256)),
    *({"resource": value} for value in (..., None, 7, ["report/7"])),
    *({"exp": value} for value in (..., None, "1000030", True, [], 10**400)),
    *({"nbf": None}, {"iat": "1"}, {"aud": 7}, {"aud": ["x", 7]}),
]
INVALID = [
    *({"resource": "report/70"}, {"resource": ""}, {"exp": 999_940}, {"exp": -1}, {"nbf": 1_000_061}),
    *({"iat": 1_000_061}, {"aud": "fence"}, {"aud": ["fence"]}, {"aud": []}),
]


@pytest.mark.parametrize(
    ("claims", "decision"),
    [(claims, TOKEN_MALFORMED) for claims in MALFORMED] + [(claims, TOKEN_INVALID) for claims in INVALID],
    ids=lambda value: value.name if isinstance(value, Decision) else str(value)[:40],
)
def test_what_does_not_hold(claims: dict[str, object], decision: Decision) -> None:
    """A wrong type is the issuer's to mend; a wrong resource, audience or time wants another claim."""
    refused = judged(**claims)

    assert isinstance(refused, Refused)
    assert refused.decision is decision
    assert refused.facts.resource == "report/7"


@pytest.mark.parametrize(
    ("audience", "holds"),
    [("fence", True), (["x", "fence"], True), ("x", False), ("fences", False), ([], False), (..., False)],
    ids=["alone", "among others", "another", "longer", "none", "absent"],
)
def test_an_audience_that_the_rule_names_is_wanted(audience: object, holds: bool) -> None:
    """RFC 7519, section 4.1.3."""
    proof = judged(Wanted("report/7", "fence"), aud=audience)

    assert isinstance(proof, ClaimProof) is holds


@pytest.mark.parametrize(
    ("payload", "carries"),
    [
        ({"epoch": 1, "resource": "r"}, True),
        ({"epoch": 1}, False),
        ({"resource": "r"}, False),
        ([], False),
        (b"", False),
    ],
    ids=["both", "no resource", "no epoch", "a list", "nothing"],
)
def test_a_claim_for_a_fence_is_told_from_other_jwts(payload: object, carries: bool) -> None:
    """It names an epoch and a resource; what names neither is a key to the API."""
    assert carries_epoch(compact({}, payload)) is carries
