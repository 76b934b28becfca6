"""What names an intent, which steps it may take, and how its answer is kept."""

from itertools import combinations

import pytest

from gateway.core.intent import TRANSITIONS, KeptAnswer, digest_of, intent_digest, keep_answer, unpack_answer
from gateway.core.target import Target, read_target
from gateway.core.write import ResourceKey
from gateway.store.keys import intent_id


def target(raw: str) -> Target:
    read = read_target(raw)
    assert isinstance(read, Target), read
    return read


def digest(
    tenant: str = "t",
    resource: str = "r",
    method: str = "POST",
    host: str | None = None,
    raw: str = "/m",
    key: str = "k",
) -> str:
    return intent_digest(tenant, resource, method, host, target(raw), key)


def test_an_intent_is_tenant_resource_target_and_key() -> None:
    """The same key elsewhere is another intent; case matters; neighbours do not run into each other."""
    others = [
        digest(),
        digest(tenant="u"),
        digest(resource="s"),
        digest(method="PUT"),
        digest(host="h"),
        digest(raw="/n"),
        digest(raw="/m?"),
        digest(raw="/m?a=1"),
        digest(raw="/m/"),
        digest(key="K"),
        digest(key="k "),
        digest(tenant="tr", resource=""),
        digest(tenant="t1", resource=":r"),
        digest(raw="/m/k", key=""),
    ]

    same = [pair for pair in combinations(others, 2) if pair[0] == pair[1]]
    assert same == [(digest(), digest())], "only an empty query is none"
    assert digest(resource="a", key="b:c") != digest(resource="a:b", key="c")
    assert digest(raw="/m/a?b=%3F") != digest(raw="/m/a/%3F/b")
    assert digest(raw="/m/a?b=c") != digest(raw="/m/a/b/c")


def test_two_spellings_of_a_target_are_one_intent() -> None:
    """`%61` and `a` name the same thing, and a retry may come through another client; an encoded slash is no slash."""
    assert digest(raw="/mails/%61") == digest(raw="/mails/a")
    assert digest(raw="/m?b=2&a=%31&") == digest(raw="/m?&a=1&b=2")
    assert digest(raw="/m?a=1&a=2") != digest(raw="/m?a=2&a=1"), "of one name the order may mean something"
    assert digest(raw="/m?a=b") != digest(raw="/m?a&b")
    assert digest(raw="/mails/a%2Fb") != digest(raw="/mails/a/b")


def test_a_digest_is_a_word() -> None:
    """It stands in headers, URLs and keys of the store."""
    assert len(digest()) == 22
    assert digest().replace("-", "a").replace("_", "a").isalnum()


@pytest.mark.parametrize("body", [b"", bytes(range(256)), b"\r\n\r\n", b"\xff\xfe"], ids=["none", "all", "crlf", "bom"])
@pytest.mark.parametrize("headers", [(), ((b"ETag", b'"a: b"'), (b"X", b""))], ids=["bare", "headers"])
def test_an_answer_comes_back_byte_for_byte(body: bytes, headers: tuple[tuple[bytes, bytes], ...]) -> None:
    """Whatever is in its body."""
    kept = KeptAnswer(204, headers, body)

    assert unpack_answer(kept.pack()) == kept


def test_a_policy_may_allow_more_headers() -> None:
    """In any spelling; order is kept."""
    pairs = ((b"X-Mail-Id", b"7"), (b"Content-Type", b"a/b"), (b"X-Other", b"1"))

    assert keep_answer(200, pairs, b"", frozenset((b"x-mail-id",))).headers == pairs[:2]


def test_the_states_end_and_unknown_does_not() -> None:
    """Applied is final, but that it may be taken back; what was proved not applied frees its key; an unknown one can
    still become either.
    """
    assert TRANSITIONS["applied"] == {"compensating", "compensated"}
    assert TRANSITIONS["compensating"] == {"applied", "compensated"}
    assert TRANSITIONS["compensated"] == TRANSITIONS["denied"] == frozenset()
    assert "in_flight" in TRANSITIONS["not_applied"]
    assert {"applied", "not_applied"} < TRANSITIONS["unknown"]
    assert {state for states in TRANSITIONS.values() for state in states} | {None} == set(TRANSITIONS)


def test_a_records_id_ends_with_the_digest_of_its_intent() -> None:
    """By it an upstream may know the intent."""
    assert digest_of(intent_id(ResourceKey("report/7"), "a" * 22)) == "a" * 22
