"""The grammar of tokens, and where they may stand."""

import base64

import pytest

from gateway.core.epoch import Epoch
from gateway.core.token import (
    BareProof,
    LeaseProof,
    Proof,
    TokenSource,
    authorization_is_a_token,
    digest_secret,
    parse_token,
    token_in_authorization,
)

SECRET = "abcdefghijklmnopqrst-_"
LEASE = f"42.{SECRET}"


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
    ],
    ids=["bare", "zero", "the largest", "lease", "longest secret"],
)
def test_a_token_is_a_bare_epoch_or_an_epoch_with_its_secret(text: str, proof: Proof) -> None:
    """`42` or `42.SECRET`; of the secret only its digest is kept."""
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
    ],
)
def test_nothing_else_is_a_token(text: str) -> None:
    """No short, long or foreign secret, no other number, no blank, no list."""
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
        (basic(f"agent:{LEASE}"), ("basic",), LEASE),
        (basic(f":{LEASE}"), ("basic",), LEASE),
        (basic("agent:a:b"), ("basic",), "a:b"),
        (basic(f"agent:{LEASE}"), ("bearer",), None),
        (basic("agent:"), ("basic",), None),
        (basic("agent"), ("basic",), None),
        (basic(b"agent:\xff"), ("basic",), None),
        ("Basic !!!", ("basic",), None),
        ("Digest username=x", ("bearer", "basic"), None),
        ("", ("bearer", "basic"), None),
    ],
    ids=[
        "bearer",
        "bearer in any case, with blanks",
        "bearer where the rule does not take it",
        "empty bearer",
        "the scheme alone",
        "basic: the password",
        "basic without a name",
        "a password may hold a colon",
        "basic where the rule does not take it",
        "empty password",
        "no password",
        "not UTF-8",
        "not base64",
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
        (basic("agent:42"), ("basic",), True),
        ("Bearer 42", ("fencing-token",), False),
        (basic("agent:42"), ("fencing-token", "bearer"), False),
        ("Bearer ghp_abcdef", ("bearer",), False),
        (basic("agent:hunter2"), ("basic",), False),
        ("Digest username=x", ("bearer", "basic"), False),
    ],
    ids=[
        "a lease token as bearer, whatever the rule takes",
        "a lease token as password, whatever the rule takes",
        "a lease token where the rule takes it",
        "a bare epoch where the rule takes it",
        "a bare epoch as password where the rule takes it",
        "a bare epoch elsewhere is another system's key",
        "a numeric password elsewhere is another system's",
        "an API key",
        "a password",
        "another scheme",
    ],
)
def test_a_token_never_goes_upstream(value: str, sources: tuple[TokenSource, ...], is_token: bool) -> None:
    """A lease token is told by its form; a bare epoch only where a rule takes it from there."""
    assert authorization_is_a_token(value, sources) is is_token
