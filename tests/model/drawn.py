"""What the machine draws from: rules, intents, epochs, answers."""

from dataclasses import replace

from hypothesis import strategies as st

from gateway.core.epoch import HIGHEST
from gateway.core.intent import Intent, KeptAnswer
from gateway.core.outcome import Outcome
from gateway.core.rule import (
    AfterUnknown,
    Concurrency,
    Fence,
    IntentTerms,
    NativeKey,
    OnUnknown,
    Order,
    Origin,
    Revision,
    Rule,
    Sequence,
    Timeouts,
    Upstream,
)
from gateway.core.write import ResourceKey

# A repeat, which may take an hour, has to reach its API before the key is forgotten. One that forgets has forgotten an
# hour before the first attempt: no step of the store's clock brings that back.
_UPSTREAMS = {
    name: Upstream(
        "reports",
        Origin("http", "localhost", 80),
        timeouts=Timeouts(total_s=3600),
        native_key=NativeKey(header, retain_s),
    )
    for name, header, retain_s in (
        ("remembers", b"Idempotency-Key", 7200.0),
        ("forgets", b"Idempotency-Key", -3600.0),
        ("remembers another", b"X-Key", 7200.0),
    )
}
RETAIN_S = 7200.0
_ASK_AFTER_S = 3600.0
# By a policy, and by the one that it was before a reload.
_NO_AFTER_S = (5.0, 61.0)


def _rule(
    order: Order,
    concurrency: Concurrency,
    sequence: Sequence,
    revision: Revision,
    unknown: OnUnknown,
    no_after_s: float,
    after: AfterUnknown,
    upstream: str,
) -> Rule:
    terms = IntentTerms("optional", RETAIN_S, on_unknown=unknown)
    if unknown == "query":
        terms = replace(terms, ask_after_s=_ASK_AFTER_S, no_after_s=no_after_s)
    fence = Fence(order, concurrency, sequence=sequence, after_unknown=after)
    return Rule("replace", _UPSTREAMS[upstream], "header", revision=revision, fence=fence, intent=terms)


RULE = Rule("replace", _UPSTREAMS["forgets"], "header")

rules = st.builds(
    _rule,
    st.sampled_from(("monotonic", "monotonic", "strict")),
    st.sampled_from(("serial", "parallel", "parallel")),
    st.sampled_from(("off", "off", "increasing", "contiguous")),
    st.sampled_from(("off", "gateway")),
    st.sampled_from(("hold", "query", "retry", "retry")),
    st.sampled_from(_NO_AFTER_S),
    st.sampled_from((*("continue",) * 5, "hold")),
    st.sampled_from(("remembers", "remembers", "forgets", "remembers another")),
)
# Under these most attempts get through.
plain_rules = st.builds(
    _rule,
    st.just("monotonic"),
    st.just("parallel"),
    st.just("off"),
    st.sampled_from(("off", "gateway")),
    st.sampled_from(("hold", "query", "retry", "retry")),
    st.sampled_from(_NO_AFTER_S),
    st.sampled_from((*("continue",) * 5, "hold")),
    st.sampled_from((*("remembers",) * 5, "remembers another")),
)
resources = st.sampled_from((*(ResourceKey("a"),) * 3, ResourceKey("b c/ü")))
gateways = st.sampled_from((0, 1))
holders = st.sampled_from(("A", "B é"))
secrets = st.sampled_from((b"s" * 16, b"t" * 16))
outcomes: st.SearchStrategy[Outcome] = st.sampled_from(("applied", "not_applied", "unknown"))
reasons = st.sampled_from(("seen at the upstream", "asked by mail"))
# Relative to the highest, or absolute: both sides of 2^53, where doubles lose digits, of a change of length beyond it,
# and of the end.
epochs = st.one_of(
    *[st.sampled_from((-1, 0, 0, 0, 1)).map(lambda step: ("by", step))] * 4,
    st.sampled_from((1, 9, 10, 2**53 - 1, 2**53, 2**53 + 1, 10**17 - 1, 10**17, HIGHEST - 1, HIGHEST)).map(
        lambda epoch: ("to", epoch)
    ),
)
# Few, so that most are met again.
keyed = st.builds(
    lambda key, fingerprint: Intent(key, "tenant é", f"PUT /{key}", f"{key:-<22}", fingerprint),
    st.sampled_from(("one", "one", "one", "two")),
    st.sampled_from((*(b"\x00\xff" * 8,) * 7, b"other")),
)
intents = st.one_of(st.none(), keyed)
# None: too large to be kept.
answers = st.sampled_from((None, KeptAnswer(201, ((b"location", b"/7"),), b"\x00\xff"), KeptAnswer(204, (), b"")))
