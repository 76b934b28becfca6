"""The grammar of tokens, and where they may stand."""

import base64

import pytest

from gateway.core.epoch import Epoch
from gateway.core.token import (
    BareProof,
    LeaseProof,
    Proof,
    SignedClaim,
    TokenSource,
    authorization_is_a_token,
    digest_secret,
    parse_token,
    shows_secret,
    token_in_authorization,
)

SECRET = "abcdefghijklmnopqrst-_"
LEASE = f"42.{SECRET}"
JWS = "eyJhbGciOiJFUzI1NiJ9.e30.AAAA-_"
# {"epoch":1,"resource":"r"}
CLAIM = "e30.eyJlcG9jaCI6MSwicmVzb3VyY2UiOiJyIn0.AAAA"


def basic(userinfo: str | bytes) -> str:
    plain = userinfo if isinstance(userinfo, bytes) else userinfo.encode()
    return "Basic " + base64.b64encode(plain).decode()


@pytest.mark.parametrize(
    ("text", "proof"),
    [
        ("42", BareProof(Epoch(42))),
        ("0", BareProof(Epoch(0))),
        ("18446744073709551615", BareProof(Epoch((1 << 64) - 1))),
        (LEASE, LeaseProof(Epoch(42), digest_secret(SECRET))),
        ("1." + "A" * 128, LeaseProof(Epoch(1), digest_secret("A" * 128))),
        (JWS, SignedClaim(JWS)),
        ("a.b." + "c" * 8188, SignedClaim("a.b." + "c" * 8188)),
    ],
    ids=["bare", "zero", "the largest", "lease", "longest secret", "a compact JWS", "longest JWS"],
)
def test_a_token_is_a_bare_epoch_an_epoch_with_its_secret_or_a_jws(text: str, proof: Proof) -> None:
    """`42`, `42.SECRET` or `HEADER.PAYLOAD.SIGNATURE`; of the secret only its digest is kept."""
    assert parse_token(text) == proof


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        ".",
        "42.",
        f".{SECRET}",
        f"042.{SECRET}",
        f"+42.{SECRET}",
        f"18446744073709551616.{SECRET}",
        "18446744073709551616",
        "42.7",
        f"42.{SECRET[:-1]}",
        "42." + "A" * 129,
        f"42.{SECRET}=",
        f"42.{SECRET}.x",
        f"42.{SECRET[:-1]}é",
        f"42 .{SECRET}",
        f"{LEASE}\n",
        "42,43",
        "5;",
        "1e3",
        "\u0664\u0662",
        "e30.e30.",
        "e30..AAAA",
        ".e30.AAAA",
        "e30.e30",
        "e30.e30.AAAA.AAAA",
        "e30.e30.AA=",
        "e30.e30.A+/A",
        "e30.e30.AAAA\n",
        "e30.e 30.AAAA",
        "a.b." + "c" * 8189,
    ],
)
def test_nothing_else_is_a_token(text: str) -> None:
    """No short, long or foreign secret, no other number, no blank, no list; no JWS without a signature."""
    assert parse_token(text) is None


def test_a_digest_is_16_bytes_and_tells_secrets_apart() -> None:
    """128 bits of SHA-256, the same for the same secret."""
    assert len(digest_secret(SECRET)) == 16
    assert digest_secret(SECRET) == digest_secret(SECRET) != digest_secret(SECRET.upper())


@pytest.mark.parametrize(
    ("value", "sources", "found"),
    [
        (f"Bearer {LEASE}", ("bearer",), LEASE),
        (f" bEaReR \t{LEASE} ", ("fencing-token", "bearer"), LEASE),
        (f"Bearer {LEASE}", ("fencing-token", "basic"), None),
        ("Bearer ", ("bearer",), None),
        ("Bearer", ("bearer",), None),
        (f"token {LEASE}", ("bearer",), LEASE),
        (f"Token {LEASE}", ("basic",), None),
        (f" {LEASE} ", ("bearer",), LEASE),
        (LEASE, ("basic",), None),
        ("lin_api_x", ("bearer",), None),
        (basic(f"agent:{LEASE}"), ("basic",), LEASE),
        (basic(f":{LEASE}"), ("basic",), LEASE),
        (basic("agent:a:b"), ("basic",), "a:b"),
        (basic(f"agent:{LEASE}"), ("bearer",), None),
        (basic("agent:"), ("basic",), None),
        (basic("agent"), ("basic",), None),
        (basic(b"agent:\xff"), ("basic",), None),
        ("Basic !!!", ("basic",), None),
        ("Basic \xe9\xe9\xe9\xe9", ("basic",), None),
        ("Digest username=x", ("bearer", "basic"), None),
        ("", ("bearer", "basic"), None),
    ],
    ids=[
        "bearer",
        "bearer in any case, with blanks",
        "bearer where the rule does not take it",
        "empty bearer",
        "the scheme alone",
        "bearer as GitHub and Django REST call it",
        "so called where the rule does not take it",
        "without a scheme",
        "without a scheme where the rule does not take it",
        "another key without a scheme",
        "basic: the password",
        "basic without a name",
        "a password may hold a colon",
        "basic where the rule does not take it",
        "empty password",
        "no password",
        "not UTF-8",
        "not base64",
        "not ASCII",
        "another scheme",
        "nothing",
    ],
)
def test_authorization_carries_a_token_where_a_rule_takes_it(
    value: str, sources: tuple[TokenSource, ...], found: str | None
) -> None:
    """`token_from` names the schemes; the token comes back unparsed."""
    assert token_in_authorization(value, sources) == found


@pytest.mark.parametrize(
    ("value", "sources", "is_token"),
    [
        (f"Bearer {LEASE}", ("fencing-token",), True),
        (basic(f"agent:{LEASE}"), ("fencing-token",), True),
        (f"Bearer {LEASE}", ("bearer",), True),
        ("Bearer 42", ("bearer",), True),
        ("token 42", ("bearer",), True),
        ("42", ("bearer",), True),
        ("42", ("fencing-token",), False),
        ("token 42", ("fencing-token",), False),
        ("token ghp_abcdef", ("bearer",), False),
        (basic("agent:42"), ("basic",), True),
        ("Bearer 42", ("fencing-token",), False),
        (basic("agent:42"), ("fencing-token", "bearer"), False),
        ("Bearer ghp_abcdef", ("bearer",), False),
        (basic("agent:hunter2"), ("basic",), False),
        ("Digest username=x", ("bearer", "basic"), False),
        (f"Bearer {CLAIM}", ("fencing-token",), True),
        (f"Digest a, {CLAIM}", ("fencing-token",), True),
        (basic(f"agent:{CLAIM}"), ("fencing-token",), True),
        (f"Bearer {JWS}", ("fencing-token", "bearer"), False),
        (basic(f"{LEASE}:"), ("fencing-token",), True),
        (basic(LEASE).rstrip("="), ("fencing-token",), True),
        (basic(f"{LEASE}:{LEASE}"), ("fencing-token",), True),
        (basic(f"{CLAIM}:"), ("fencing-token",), True),
        (f'Bearer "{LEASE}"', ("fencing-token",), True),
        (f"Key key={LEASE}", ("fencing-token",), True),
        (f"Bearer {LEASE};x", ("fencing-token",), True),
        (f"basic {base64.urlsafe_b64encode(b'>>?:' + LEASE.encode()).decode()}", ("fencing-token",), True),
        (f"Zoho-oauthtoken 1000.{SECRET}.{SECRET}", ("fencing-token",), False),
        (f"Bearer a.b.c.{LEASE}", ("fencing-token",), False),
        (f"Bearer x{LEASE}", ("fencing-token",), False),
        (f'OAuth oauth_version="1.0", oauth_signature="{SECRET}"', ("fencing-token",), False),
        (basic(f"{'agent' * 10}:{'secret' * 10}"), ("fencing-token", "basic"), False),
        (f"Bearer {LEASE.replace('.', '%2E')}", ("fencing-token",), True),
        (f"Bearer %34{LEASE[1:]}", ("fencing-token",), True),
        (basic(f"x:{LEASE.replace('.', '%2e')}"), ("fencing-token",), True),
        ("Bearer 100%25.%zz", ("fencing-token",), False),
    ],
    ids=[
        "a lease token as bearer, whatever the rule takes",
        "a lease token as password, whatever the rule takes",
        "a lease token where the rule takes it",
        "a bare epoch where the rule takes it",
        "a bare epoch called a token",
        "a bare epoch without a scheme",
        "a bare epoch without a scheme where no rule takes it",
        "a bare epoch called a token where no rule takes it",
        "GitHub's key",
        "a bare epoch as password where the rule takes it",
        "a bare epoch elsewhere is another system's key",
        "a numeric password elsewhere is another system's",
        "an API key",
        "a password",
        "another scheme",
        "a signed claim as bearer, whatever the rule takes",
        "a signed claim in any scheme",
        "a signed claim as password",
        "another JWT is a key to the API",
        "basic: the name, as curl -u TOKEN: sends it",
        "basic: the token alone, without padding",
        "basic: name and password",
        "a signed claim as the name",
        "in quotes",
        "as a parameter",
        "before a semicolon",
        "in the other alphabet of base64",
        "part of a longer key",
        "the end of a longer key",
        "behind a letter",
        "a version and a signature",
        "a long name and password",
        "its dot percent-encoded",
        "a digit percent-encoded",
        "percent-encoded in a password",
        "percent signs of a key",
    ],
)
def test_a_token_never_goes_upstream(value: str, sources: tuple[TokenSource, ...], is_token: bool) -> None:
    """A lease token and a signed claim are told by their form; a bare epoch only where a rule takes it from there."""
    assert authorization_is_a_token(value, sources) is is_token


@pytest.mark.parametrize(
    ("value", "presented", "shows"),
    [
        (f"Bearer x.{LEASE}", LEASE, True),
        (f"Bearer {LEASE}.x", LEASE, True),
        (f"tok_{LEASE}", LEASE, True),
        (SECRET, LEASE, True),
        (f"{SECRET[:5]}%{ord(SECRET[5]):02X}{SECRET[6:]}", LEASE, True),
        ("".join(f"%25{ord(letter):02X}" for letter in SECRET), LEASE, True),
        (f"%25%61{SECRET[1:]}", LEASE, True),
        (f"Token {base64.b64encode(f'a.{LEASE}.b'.encode()).decode()}", LEASE, True),
        (f"%2559{base64.b64encode(f'ab.{LEASE}'.encode()).decode()[1:]}", LEASE, True),
        (f"x.{CLAIM}", CLAIM, True),
        (f"Bearer x.{LEASE}", f"42.{SECRET.upper()}", False),
        (f"Bearer {SECRET[:-1]}", LEASE, False),
        ("Bearer 42", "42", False),
        ("Bearer 42.7", "42.7", False),
        (f"Bearer x.{LEASE}", None, False),
        ("", LEASE, False),
    ],
    ids=[
        *("behind a part of its own", "before one", "behind letters", "the secret alone", "percent-encoded"),
        *("percent-encoded twice", "behind a percent sign", "in base64 of any scheme"),
        *(
            "a letter of the base64 percent-encoded",
            "a signed claim",
            "another secret",
            "all but its end",
            "a bare epoch",
        ),
        *("no token", "none presented", "nothing"),
    ],
)
def test_a_presented_tokens_secret_is_found_in_any_disguise(value: str, presented: str | None, shows: bool) -> None:
    """It is compared, not guessed at: whatever stands around it, and no key of another system is taken for it."""
    assert shows_secret(value, presented) is shows
