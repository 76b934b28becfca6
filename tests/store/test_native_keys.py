"""A further attempt of an unknown intent, where the upstream itself refuses the second by the key that it was given."""

from dataclasses import replace

import pytest

from gateway.core.rule import Fence, IntentTerms, NativeKey, OnUnknown, Rule
from gateway.store.fence import FenceStore
from gateway.store.resets import reset
from tests.intending import RULE, ended, intended
from tests.store.fences import ask, name_of

KEY = NativeKey(b"Idempotency-Key")


def rule(native: NativeKey | None, on_unknown: OnUnknown = "retry") -> Rule:
    upstream = replace(RULE.upstream, native_key=native)
    return replace(RULE, upstream=upstream, intent=IntentTerms("required", on_unknown=on_unknown))


@pytest.mark.parametrize(
    ("first", "second", "reply"),
    [
        (rule(KEY), rule(KEY), "Admitted"),
        (rule(KEY), rule(NativeKey(b"idempotency-key")), "Admitted"),
        (rule(KEY, "hold"), rule(KEY), "Admitted"),
        (rule(KEY), rule(KEY, "hold"), "outcome-unknown"),
        (rule(None, "hold"), rule(KEY), "outcome-unknown"),
        (rule(KEY), rule(NativeKey(b"X-Idem")), "outcome-unknown"),
        (rule(KEY), rule(NativeKey(b"Idempotency-Key", retain_s=0.0)), "outcome-unknown"),
    ],
    ids=[
        *("the same key", "in another case", "retried by a newer policy", "held by a newer policy"),
        *("sent without a key", "sent under another header", "no longer remembered"),
    ],
)
async def test_an_unknown_intent_is_sent_again_only_under_the_key_that_it_was_sent_with(
    store: FenceStore, first: Rule, second: Rule, reply: str
) -> None:
    """Policies change while an intent is unknown: the upstream compares what it was given, not what would be given
    today."""
    await ended(store, intended("k", of=first), "unknown")

    assert name_of(await ask(store, intended("k", of=second))) == reply


async def test_a_further_attempt_has_the_place_of_the_first_in_its_own_era_alone(store: FenceStore) -> None:
    """Numbers may begin anew with a reset: under `strict` the epoch has made its one write already."""
    strict = replace(rule(KEY), fence=Fence(order="strict"))
    first = intended("k", of=strict)
    await ended(store, first, "unknown")
    await reset(store, first.resource, note="a test ran away", by="operator")
    await ended(store, intended("l", of=strict), "applied")

    assert name_of(await ask(store, first)) == "stale-epoch"
