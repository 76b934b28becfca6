"""From what an agent presented to a write, or to what is missing."""

import base64

import pytest

from gateway.core.caller import Control
from gateway.core.decision import (
    HEADER_MALFORMED,
    SEQUENCE_REQUIRED,
    TOKEN_MALFORMED,
    TOKEN_REQUIRED,
    Decision,
    Refused,
)
from gateway.core.epoch import Epoch
from gateway.core.identify import find_token, identify, token_in_target
from gateway.core.rule import Fence, Origin, Rule, Upstream
from gateway.core.target import Target, read_target
from gateway.core.token import digest_secret
from gateway.core.write import ResourceKey, Write

SECRET = "abcdefghijklmnopqrst-_"
LEASE = f"42.{SECRET}"
ENCODED = base64.b64encode(f"agent:{LEASE}".encode()).decode()
UPSTREAM = Upstream("u", Origin("http", "localhost", 80))
RESOURCE = ResourceKey("report/7")

LEASED = Rule("r", UPSTREAM)
BEARER = Rule("r", UPSTREAM, token_from=("bearer",))
HEADED = Rule("r", UPSTREAM, authority="header")
SEQUENCED = Rule("r", UPSTREAM, fence=Fence(sequence="increasing"))
COUNTED = Rule("r", UPSTREAM, revision="gateway")


def control(
    token: str | None = None,
    holder: str | None = None,
    sequence: int | None = None,
    if_revision: int | None = None,
    authorization: str | None = None,
) -> Control:
    return Control(token, holder, sequence, if_revision, authorization)


def write(rule: Rule, *, secret: str | None = SECRET, **fields: object) -> Write:
    digest = None if secret is None else digest_secret(secret)
    return Write(rule, RESOURCE, Epoch(42), **({"holder": None, "secret_digest": digest} | fields))


@pytest.mark.parametrize(
    ("rule", "given", "expected"),
    [
        (LEASED, control(LEASE), write(LEASED)),
        (LEASED, control(LEASE, "a"), write(LEASED, holder="a")),
        (LEASED, control(LEASE, sequence=3), write(LEASED)),
        (BEARER, control(authorization=f"Bearer {LEASE}"), write(BEARER)),
        (BEARER, control(LEASE, authorization="Bearer other"), write(BEARER)),
        (BEARER, control(authorization=f"token {LEASE}"), write(BEARER)),
        (HEADED, control("42", "a"), write(HEADED, secret=None, holder="a")),
        (SEQUENCED, control(LEASE, sequence=0), write(SEQUENCED, sequence=0)),
        (COUNTED, control(LEASE, if_revision=0), write(COUNTED, if_revision=0)),
        (COUNTED, control(LEASE), write(COUNTED)),
    ],
    ids=[
        "a lease token",
        "a lease token may name its holder",
        "a sequence that no rule asks for is not passed on",
        "a token from the source that the rule names",
        "a token as GitHub's clients send it",
        "Fencing-Token comes before other sources",
        "a bare epoch with its holder",
        "a sequence of zero is one",
        "a revision of zero is one",
        "a revision is optional",
    ],
)
def test_what_is_presented_becomes_a_write(rule: Rule, given: Control, expected: Write) -> None:
    """The write holds the proof that its rule takes, and the counters that it checks."""
    assert identify(rule, RESOURCE, given) == expected


@pytest.mark.parametrize(
    ("rule", "given", "decision", "says"),
    [
        (LEASED, control(), TOKEN_REQUIRED, "Take a lease"),
        (LEASED, control(authorization=f"Bearer {LEASE}"), TOKEN_REQUIRED, "send it in Fencing-Token"),
        (HEADED, control(holder="a"), TOKEN_REQUIRED, "Fencing-Holder"),
        (LEASED, control(""), TOKEN_MALFORMED, "EPOCH.SECRET"),
        (LEASED, control("42"), TOKEN_MALFORMED, "EPOCH.SECRET"),
        (LEASED, control("+5"), TOKEN_MALFORMED, "EPOCH.SECRET"),
        (BEARER, control("x", authorization=f"Bearer {LEASE}"), TOKEN_MALFORMED, "EPOCH.SECRET"),
        (HEADED, control(LEASE, "a"), TOKEN_MALFORMED, "bare epoch"),
        (HEADED, control("042", "a"), TOKEN_MALFORMED, "bare epoch"),
        (HEADED, control("42"), TOKEN_MALFORMED, "holder"),
        (SEQUENCED, control(LEASE), SEQUENCE_REQUIRED, "Fencing-Sequence"),
        (LEASED, control(LEASE, if_revision=1), HEADER_MALFORMED, "Leave it out"),
    ],
    ids=[
        "no token",
        "a token where the rule does not look",
        "no bare epoch",
        "an empty token",
        "a bare epoch where a lease is needed",
        "not a token",
        "a malformed Fencing-Token is not passed over for another source",
        "a lease token where a bare epoch is needed",
        "not an epoch",
        "a bare epoch without a holder",
        "no sequence where the rule checks one",
        "a revision that nobody checks",
    ],
)
def test_what_is_missing_or_of_another_form_is_refused(
    rule: Rule, given: Control, decision: Decision, says: str
) -> None:
    """The refusal names the resource and what to send, and that nothing was forwarded."""
    refused = identify(rule, RESOURCE, given)

    assert isinstance(refused, Refused) and refused.decision is decision
    assert refused.facts.resource == RESOURCE
    assert refused.detail.startswith("Not forwarded: ") and says in refused.detail


def test_a_token_is_found_where_it_stands() -> None:
    """`Fencing-Token` always counts; `Authorization` only where a source names its scheme."""
    assert find_token(control("42"), ()) == "42"
    assert find_token(control(authorization="Bearer 42"), ("bearer",)) == "42"
    assert find_token(control(authorization="Bearer 42"), ("fencing-token",)) is None
    assert find_token(control(), ("bearer",)) is None


@pytest.mark.parametrize(
    ("token", "target", "is_refused"),
    [
        (LEASE, f"/reports/7?token={LEASE}", True),
        (LEASE, f"/reports/{LEASE}", True),
        (LEASE, "/reports/7?token=43.ABCDEFGHIJKLMNOPQRST-_", False),
        ("42", "/reports/42?epoch=42", False),
        ("18446744073709551615", "/reports/18446744073709551615", False),
        ("", "/reports/7", False),
        (None, f"/reports/7?token={LEASE}", False),
        (LEASE, f"/reports/7?token=42%2E{SECRET}", True),
        (LEASE, f"/reports/7?token=42.%61{SECRET[1:]}", True),
        (LEASE, f"/reports/7?secret={SECRET}", True),
        (LEASE, f"/reports/7?basic={ENCODED.rstrip('=')}", True),
        ("a-key-without-any-dot-in-it", "/reports/a-key-without-any-dot-in-it", True),
    ],
    ids=[
        *("in the query", "in the path", "another one", "a bare epoch", "the largest epoch", "empty", "none presented"),
        *("its dot percent-encoded", "a letter percent-encoded", "the secret alone", "in base64", "malformed"),
    ],
)
def test_a_url_does_not_repeat_the_token(token: str | None, target: str, is_refused: bool) -> None:
    """An API reads and logs its URLs; an epoch may be a part of any of them."""
    read = read_target(target)
    assert isinstance(read, Target)

    refused = token_in_target(Control(token, None, None, None, None), read)

    assert (refused is not None) is is_refused
    assert refused is None or refused.decision is TOKEN_MALFORMED


@pytest.mark.parametrize(
    ("authorization", "target", "is_refused"),
    [
        (f"Bearer {LEASE}", f"/reports/7?token={LEASE}", True),
        (f"Basic {ENCODED}", f"/reports/7?token=42%2E{SECRET}", True),
        (f"token {LEASE}", "/reports/7", False),
        ("Bearer api-key-of-its-own-1234567", "/reports/7?key=api-key-of-its-own-1234567", False),
        ("Bearer e30.e30.AAAA", "/reports/7?key=e30.e30.AAAA", False),
    ],
    ids=["as bearer", "as a password", "not in the URL", "the API's own key", "another JWT"],
)
def test_nor_that_from_authorization(authorization: str, target: str, is_refused: bool) -> None:
    """A key to the API that stands there may be in its URLs."""
    read = read_target(target)
    assert isinstance(read, Target)

    assert (token_in_target(Control(None, None, None, None, authorization), read) is not None) is is_refused
