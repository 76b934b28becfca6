"""Signed claims over the wire: epochs that another system granted and signed."""

import base64
import json
from pathlib import Path

import pytest

from tests.certificates import Authority
from tests.issuer import ED25519, KEYS, P256, RSA, SECRET, Issuer, jwk, jwks, now_s, pem
from tests.raw import RawAnswer, ask
from tests.recording import RecordingUpstream, answering
from tests.stack import POLICY, Stack, stack

ISSUER = Issuer()


def signed(keys: str, algorithms: str = "ES256", more: str = "") -> str:
    """A policy whose one rule takes claims under these keys."""
    terms = f"{{{{keys: {{{{{keys}}}}}, algorithms: [{algorithms}]{more}}}}}"
    return f"{POLICY}    authority: {{{{signed: {terms}}}}}\n"


def by_file(directory: Path, content: bytes, algorithms: str = "ES256", more: str = "") -> str:
    file = directory / "keys"
    file.write_bytes(content)
    return signed(f"file: {file}", algorithms, more)


async def write(gate: Stack, token: str, *fields: str, target: str = "/reports/7") -> RawAnswer:
    return await ask(gate.port, "PUT", target, f"Fencing-Token: {token}", *fields, body=b"{}")


async def register(gate: Stack, token: str, **more: object) -> RawAnswer:
    body = json.dumps({"resource": "report/7"} | more).encode()
    return await ask(gate.port, "POST", "/-/fence/epochs", f"Fencing-Token: {token}", body=body)


@pytest.mark.parametrize("algorithm", ["EdDSA", "ES256", "RS256", "HS256"])
async def test_a_claim_of_each_algorithm_is_taken(algorithm: str, store_url: str, tmp_path: Path) -> None:
    """The epoch and the holder are those that the claim names; the claim does not reach the upstream."""
    key = KEYS.get(algorithm, SECRET)
    issuer = Issuer(key, algorithm)
    secret = isinstance(key, str)
    policy = signed(f"secret: {key}", algorithm) if secret else by_file(tmp_path, pem(KEYS[algorithm]), algorithm)
    async with stack(store_url, tmp_path, policy) as gate:
        answer = await write(gate, issuer.claim(42))
        stale = await write(gate, issuer.claim(41))
        other = await write(gate, issuer.claim(42, holder="agent-b"))

        assert (answer.status, answer.decision, answer.value("Fencing-Epoch")) == (200, "forwarded", "42")
        assert (stale.status, stale.decision) == (412, "stale-epoch")
        assert (other.status, other.decision) == (412, "holder-mismatch")
        (seen,) = gate.upstream.seen
        assert b"Fencing" not in seen.head


async def test_an_epoch_is_exact_as_text_and_as_a_number(store_url: str, tmp_path: Path) -> None:
    """Beyond 2^53, where doubles merge neighbours, and up to 2^64-1."""
    async with stack(store_url, tmp_path, by_file(tmp_path, pem(P256))) as gate:
        answers = [
            await write(gate, ISSUER.claim(epoch))
            for epoch in (9007199254740993, "9007199254740992", "18446744073709551615", 18446744073709551616)
        ]

        assert [answer.decision for answer in answers] == ["forwarded", "stale-epoch", "forwarded", "token-malformed"]
        assert answers[2].value("Fencing-Epoch") == "18446744073709551615"


BAD = {
    "another resource": ({"resource": "report/8"}, "token-invalid"),
    "expired": ({"exp": now_s() - 3600}, "token-invalid"),
    "not valid yet": ({"nbf": now_s() + 3600}, "token-invalid"),
    "an audience that no rule names": ({"aud": "somebody"}, "token-invalid"),
    "no end": ({"exp": None}, "token-malformed"),
    "no holder": ({"holder": None}, "token-malformed"),
    "an extension": ({"header": {"crit": ["exp"]}}, "token-malformed"),
    "another algorithm": ({"header": {"alg": "RS256"}}, "token-invalid"),
    "none": ({"header": {"alg": "none"}}, "token-invalid"),
}


@pytest.mark.parametrize(("claims", "decision"), BAD.values(), ids=BAD)
async def test_a_claim_that_does_not_hold_moves_no_epoch(
    claims: dict[str, object], decision: str, store_url: str, tmp_path: Path
) -> None:
    """Neither a write nor the registering call records an epoch that nobody vouches for."""
    async with stack(store_url, tmp_path, by_file(tmp_path, pem(P256))) as gate:
        bad = ISSUER.claim(99, **claims)  # the table mixes the header with the claims
        refused, unregistered = await write(gate, bad), await register(gate, bad)
        after = await write(gate, ISSUER.claim(1))

        assert (refused.decision, unregistered.decision) == (decision, decision)
        assert refused.status == {"token-invalid": 401, "token-malformed": 400}[decision]
        assert after.decision == "forwarded"


@pytest.mark.parametrize(
    ("exp", "decision"),
    [("1e308", "forwarded"), (str(2**64 - 1), "forwarded"), (str(2**64), "token-malformed"),
     ("1e999", "token-malformed"), ("NaN", "token-malformed"), ("Infinity", "token-malformed")],
)  # fmt: skip
async def test_the_end_of_a_claim_is_any_number_that_a_double_holds(
    exp: str, decision: str, store_url: str, tmp_path: Path
) -> None:
    """However far away; what is none, or larger than any epoch where it is written out, is malformed."""
    payload = f'{{"epoch":42,"holder":"a","resource":"report/7","exp":{exp}}}'.encode()
    async with stack(store_url, tmp_path, signed(f"secret: {SECRET}", "HS256")) as gate:
        answer = await write(gate, Issuer(SECRET, "HS256").signed({"alg": "HS256"}, payload))

        assert answer.decision == decision


@pytest.mark.parametrize(
    ("header", "decision"),
    [
        pytest.param(b'{"alg":"HS256","b64":false}', "token-invalid", id="a payload that is not encoded"),
        pytest.param(b'{"alg":"HS256","kid":"../../../dev/null"}', "forwarded", id="a key id that is a path"),
        pytest.param(b'{"alg":"HS256","kid":"k"}', "forwarded", id="a key id that nobody has"),
        pytest.param(b'{"alg":"HS256","kid":"\\ud800"}', "forwarded", id="a key id that is no text"),
    ],
)
async def test_a_header_decides_nothing_under_a_secret(
    header: bytes, decision: str, store_url: str, tmp_path: Path
) -> None:
    """The key is the rule's, whatever id a claim names; RFC 7797's other way to sign is not taken."""
    async with stack(store_url, tmp_path, signed(f"secret: {SECRET}", "HS256")) as gate:
        assert (await write(gate, Issuer(SECRET, "HS256").claim(42, header=header))).decision == decision


async def test_a_public_key_is_never_taken_for_a_secret(store_url: str, tmp_path: Path) -> None:
    """Whoever has read the public key cannot sign with it, whatever algorithm the token names."""
    body = ISSUER.claim(99).split(".")[1]
    forged = Issuer(SECRET, "HS256")
    header = base64.urlsafe_b64encode(b'{"alg":"HS256"}').rstrip(b"=").decode()
    async with stack(store_url, tmp_path, by_file(tmp_path, pem(P256))) as gate:
        answers = [await write(gate, forged.claim(99)), await write(gate, f"{header}.{body}.AAAA")]

        assert [answer.decision for answer in answers] == ["token-invalid"] * 2
        assert not gate.upstream.seen


async def test_an_audience_is_wanted_where_the_rule_names_one(store_url: str, tmp_path: Path) -> None:
    """Alone or among others."""
    policy = by_file(tmp_path, pem(P256), more=", audience: fence")
    async with stack(store_url, tmp_path, policy) as gate:
        answers = [await write(gate, ISSUER.claim(aud=aud)) for aud in ("fence", ["x", "fence"], "x", None)]

        assert [answer.status for answer in answers] == [200, 200, 401, 401]


async def test_a_registered_claim_shuts_older_ones_out(store_url: str, tmp_path: Path) -> None:
    """`POST /-/fence/epochs` takes the claim; a header that contradicts its holder is refused."""
    async with stack(store_url, tmp_path, by_file(tmp_path, pem(P256))) as gate:
        registered = await register(gate, ISSUER.claim("43"))
        older = await write(gate, ISSUER.claim(42))
        contradicted = await write(gate, ISSUER.claim(43), "Fencing-Holder: agent-b")
        lease = await gate.lease("report/7")

        assert json.loads(registered.body) == {"resource": "report/7", "epoch": "43", "drained": True, "in_flight": 0}
        assert (older.decision, contradicted.decision) == ("stale-epoch", "token-invalid")
        assert lease.decision == "no-such-resource"


async def test_a_claim_comes_as_bearer_or_password_and_goes_no_further(store_url: str, tmp_path: Path) -> None:
    """Where the rule takes it from there; on reads, where no rule is asked, it is dropped too."""
    policy = by_file(tmp_path, pem(P256)) + "    token_from: [fencing-token, bearer, basic]\n"
    claim = ISSUER.claim()
    password = base64.b64encode(f"agent:{claim}".encode()).decode()
    async with stack(store_url, tmp_path, policy) as gate:
        for value in (f"Bearer {claim}", f"Basic {password}"):
            answer = await ask(gate.port, "PUT", "/reports/7", f"Authorization: {value}", body=b"{}")
            assert answer.decision == "forwarded"
            await ask(gate.port, "GET", "/reports/7", f"Authorization: {value}")

        assert [seen.values("Authorization") for seen in gate.upstream.seen] == [[]] * 4


async def test_another_jwt_is_the_apis(store_url: str, tmp_path: Path) -> None:
    """A JWT that names no epoch is the agent's own key to the API."""
    own = ISSUER.claim(None, scope="read")
    async with stack(store_url, tmp_path, by_file(tmp_path, pem(P256))) as gate:
        await ask(gate.port, "GET", "/reports/7", f"Authorization: Bearer {own}")

        assert gate.upstream.seen[0].values("Authorization") == [f"Bearer {own}"]


async def test_keys_come_from_a_url(store_url: str, tmp_path: Path) -> None:
    """A JWKS is fetched once, and its keys told apart by `kid`."""
    served = jwks(jwk(P256, kid="one"), jwk(ED25519, kid="two"), jwk(RSA, kid="three", use="enc"))
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(served)}\r\n\r\n".encode()
    async with RecordingUpstream(answering(head + served)) as keys:
        policy = signed(f"jwks: 'http://127.0.0.1:{keys.port}/keys?v=1'", "ES256, EdDSA, RS256")
        async with stack(store_url, tmp_path, policy) as gate:
            answers = [
                await write(gate, issuer.claim(header={"kid": kid}))
                for issuer, kid in (
                    (ISSUER, "one"),
                    (Issuer(ED25519, "EdDSA"), "two"),
                    (Issuer(ED25519, "EdDSA"), "one"),
                    (Issuer(RSA, "RS256"), "three"),
                )
            ]

            assert [answer.status for answer in answers] == [200, 200, 401, 401]
            assert [seen.line for seen in keys.seen] == ["GET /keys?v=1 HTTP/1.1"]


@pytest.mark.parametrize("trusted", [True, False])
async def test_a_url_may_be_trusted_by_an_authority_of_its_own(store_url: str, tmp_path: Path, trusted: bool) -> None:
    """`ca` beside it; keys from a host that it has not signed for are nobody's."""
    authority = Authority(tmp_path / "tls")
    ca = authority.ca if trusted else Authority(tmp_path / "others").ca
    served = jwks(jwk(P256))
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(served)}\r\n\r\n".encode()
    async with RecordingUpstream(answering(head + served), tls=authority.server("keys")) as keys:
        policy = signed(f"jwks: 'https://localhost:{keys.port}/keys', ca: {ca}")
        async with stack(store_url, tmp_path, policy) as gate:
            answer = await write(gate, ISSUER.claim())

            assert answer.decision == ("forwarded" if trusted else "keys-unavailable")
            assert (len(keys.seen), len(gate.upstream.seen)) == (trusted, trusted)


async def test_without_keys_nothing_is_admitted_and_the_caller_may_retry(store_url: str, tmp_path: Path) -> None:
    """A URL that is away is no fault of the claim."""
    policy = signed("jwks: 'http://127.0.0.1:1/keys'")
    async with stack(store_url, tmp_path, policy) as gate:
        answer = await write(gate, ISSUER.claim())

        assert (answer.status, answer.decision, answer.problem["action"]) == (503, "keys-unavailable", "retry")
        assert answer.value("Retry-After") == "2"
        assert not gate.upstream.seen
