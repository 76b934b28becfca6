"""What a rule and a request say to the scripts."""

from dataclasses import replace

import pytest

from gateway.core.epoch import Epoch
from gateway.core.intent import Intent, IntentId
from gateway.core.rule import Fence, IntentTerms, NativeKey, Origin, Rule, Upstream
from gateway.core.write import Admitted, ResourceKey, TicketId, Write
from gateway.store.words import Words
from tests.telling import endpoint

PLAIN = Upstream("u", Origin("http", "127.0.0.1", 9000))
AT = PLAIN.origin.digest
NATIVE = replace(PLAIN, native_key=NativeKey(b"Idempotency-Key", 60.0))
INTENT = Intent("k", "default", "POST /x", "digest")


def a_write(rule: Rule, **fields: object) -> Write:
    return replace(Write(rule, ResourceKey("x"), Epoch(7), "a", None), **fields)


@pytest.mark.parametrize(
    ("write", "admit", "settle"),
    [
        pytest.param(a_write(Rule("r", PLAIN)), "ttl:1500 serial", "by:g attempt:1 leased", id="a plain rule"),
        pytest.param(
            a_write(Rule("r", PLAIN, fence=Fence(order="strict", concurrency="parallel")), principal="ada"),
            "ttl:1500 strict principal:ada",
            "by:g attempt:1 leased principal:ada",
            id="a principal's write under strict order",
        ),
        pytest.param(
            a_write(
                Rule("r", PLAIN, fence=Fence(sequence="contiguous"), revision="gateway"), sequence=3, if_revision=2
            ),
            "ttl:1500 serial counts contiguous:3 if-revision:2",
            "by:g attempt:1 leased counts sequence:3",
            id="counters",
        ),
        pytest.param(
            a_write(Rule("r", NATIVE, intent=IntentTerms(mode="required", on_unknown="retry")), intent=INTENT),
            f"ttl:1500 serial retain:86400000 native:idempotency-key@{AT} retry:60000",
            f"by:g attempt:1 leased retain:86400000 native:idempotency-key@{AT}",
            id="an intent that may be retried",
        ),
        pytest.param(
            a_write(Rule("r", NATIVE, intent=IntentTerms(mode="optional", on_unknown="retry"))),
            "ttl:1500 serial",
            "by:g attempt:1 leased",
            id="a write that is no intent",
        ),
        pytest.param(
            a_write(Rule("r", PLAIN, mode="observe")),
            "ttl:1500 serial observes",
            "by:g attempt:1 leased",
            id="observed",
        ),
        pytest.param(
            a_write(Rule("r", replace(PLAIN, notify=endpoint(9, "unknown", "incident")))),
            "ttl:1500 serial notify:unknown,incident",
            "by:g attempt:1 leased notify:unknown,incident",
            id="events that people are told of",
        ),
    ],
)
def test_a_write_is_told_in_words(write: Write, admit: str, settle: str) -> None:
    """Those of its rule, of its intent, and its own; nothing that does not apply."""
    words = Words("g")

    for _ in range(2):
        assert words.admit(write, 1.5, queued=False, behind=0) == admit
        assert words.settle(Admitted(write, TicketId("000t"), None, IntentId("000t"))) == settle


def test_an_epoch_from_elsewhere_is_none_of_a_lease() -> None:
    """Its record is never collected: where it is missing, it was lost."""
    one = Admitted(a_write(Rule("r", PLAIN, "header")), TicketId("000t"), None, IntentId("000t"))

    assert Words("g").settle(one) == "by:g attempt:1"


def test_an_intents_attempt_tells_since_when_it_is_in_doubt() -> None:
    """Where the store has lost it, nobody else knows."""
    intended = a_write(Rule("r", PLAIN, intent=IntentTerms(mode="required")), intent=INTENT)
    one = Admitted(intended, TicketId("000t"), None, IntentId("000t"), sent_ms=1500)

    assert Words("g").settle(one) == f"by:g attempt:1 leased retain:86400000 native:@{AT} sent:1500"
    assert " sent:" not in Words("g").settle(replace(one, write=a_write(intended.rule)))


def test_after_a_reset_an_attempt_tells_of_which_era_its_epoch_is() -> None:
    """A larger one of another era does not rule it."""
    one = Admitted(a_write(Rule("r", PLAIN)), TicketId("000t"), None, IntentId("000t"), era=7)

    assert Words("g").settle(one) == "by:g attempt:1 leased era:7"


def test_a_rule_of_a_newer_policy_has_words_of_its_own() -> None:
    """Also where it has the name of the one before."""
    words = Words("g")
    before, after = Rule("r", PLAIN), Rule("r", PLAIN, fence=Fence(concurrency="parallel"))

    assert words.admit(a_write(before), 1.0, queued=False, behind=0) == "ttl:1000 serial"
    assert words.admit(a_write(after), 1.0, queued=True, behind=2) == "ttl:1000 queued behind"
