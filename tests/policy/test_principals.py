"""The principals in force."""

import pytest

from gateway.core.caller import Caller
from gateway.core.decision import HEADER_MALFORMED, UNAUTHENTICATED, Decision, Refused
from gateway.core.request import Headers
from gateway.policy.principals import Principals, digest_key

KEY = b"ada-has-a-key-of-some-length"
ADA = Caller("ada", "north")
SOME = Principals({digest_key(KEY): ADA, digest_key(b"ada-had-a-key-of-some-length"): ADA})


def headers(*keys: bytes) -> Headers:
    return Headers((b"Fencegate-Key", key) for key in keys)


def test_with_none_everybody_is_the_same() -> None:
    """Whatever key is sent."""
    assert Principals().identify(headers(KEY)) == Principals().identify(headers()) == Caller()
    assert not Principals()


def test_a_key_tells_its_principal() -> None:
    """A second key, while one is replaced by the other, makes no second principal."""
    assert SOME.identify(headers(KEY)) is ADA
    assert SOME.named("ada") is ADA
    assert SOME.named("bob") is None
    assert len(SOME) == 1


def test_tenants_are_those_of_all_who_may_call() -> None:
    """Where nobody is configured, the one of everybody."""
    assert SOME.tenants() == {"north"}
    assert Principals().tenants() == {"default"}


@pytest.mark.parametrize(
    ("keys", "decision"),
    [
        ((), UNAUTHENTICATED),
        ((b"",), UNAUTHENTICATED),
        ((KEY + b" ",), UNAUTHENTICATED),
        ((KEY.upper(),), UNAUTHENTICATED),
        ((digest_key(KEY),), UNAUTHENTICATED),
        ((b"sha256:" + digest_key(KEY).hex().encode(),), UNAUTHENTICATED),
        ((KEY, KEY), HEADER_MALFORMED),
    ],
    ids=["none", "empty", "with a blank", "in capitals", "its digest", "its digest in hex", "twice"],
)
def test_another_key_tells_nobody(keys: tuple[bytes, ...], decision: Decision) -> None:
    """Not even its digest, which whoever reads the file knows."""
    refused = SOME.identify(headers(*keys))

    assert isinstance(refused, Refused)
    assert refused.decision is decision
    assert KEY.decode() not in refused.detail


def test_no_key_is_shown() -> None:
    """Neither a digest: a log line or a traceback may hold the set."""
    assert digest_key(KEY).hex() not in repr(SOME)
    assert repr(digest_key(KEY)) not in repr(SOME)
