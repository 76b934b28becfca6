"""Whether a right still stands is told by the principals and the keys in force."""

import asyncio
from dataclasses import replace

import pytest

from gateway.core.caller import Caller
from gateway.core.claim import ClaimProof
from gateway.core.clock import Deadline
from gateway.core.decision import TOKEN_INVALID, Refused
from gateway.core.epoch import Epoch
from gateway.core.request import Headers
from gateway.core.rights import Rights
from gateway.core.rule import Rule, SharedSecret, Signed, Upstream
from gateway.core.token import SignedClaim
from gateway.core.write import ResourceKey, Write
from gateway.flow.standing import Standing
from gateway.policy.principals import Principals, digest_key
from gateway.policy.ruleset import RuleSet, build_ruleset
from tests.playbook.given import RESOURCE, UPSTREAM, write

CLAIM = "e30.e30.AAAA"
SIGNED = Rule("r", UPSTREAM, "signed", signed=Signed(SharedSecret(b"s"), ("HS256",)))
PROOF = ClaimProof(Epoch(42), "a", Deadline(0.0, 0.0))
HEADERS = Headers(((b"Fencegate-Key", b"k"), (b"Fencing-Token", CLAIM.encode())))


class Issuers:
    """Implements `ports.Claims`: one answer, or none at all."""

    def __init__(self, answer: ClaimProof | Refused | None = PROOF) -> None:
        self._answer = answer
        self.asked: list[Signed] = []

    async def verify(self, claim: SignedClaim, terms: Signed, resource: ResourceKey) -> ClaimProof | Refused:
        assert (claim.text, resource) == (CLAIM, RESOURCE)
        self.asked.append(terms)
        if self._answer is None:
            await asyncio.Event().wait()
        assert self._answer is not None
        return self._answer


def known(**by_key: Caller) -> RuleSet:
    return build_ruleset((), Principals({digest_key(key.encode()): who for key, who in by_key.items()}))


async def lost(rules: RuleSet, asked: Write, issuers: Issuers | None = None) -> str | None:
    refused = await Standing(lambda: rules, issuers or Issuers()).lost(asked, HEADERS)
    return None if refused is None else refused.decision.name


ADA = replace(write(), principal="ada", tenant="north")
KNOWN = {
    "as it was": (known(k=Caller("ada", "north")), None),
    "its key is nobody's": (known(other=Caller("ada", "north")), "unauthenticated"),
    "its key is another's": (known(k=Caller("bob", "north")), "unauthenticated"),
    "it is of another tenant": (known(k=Caller("ada", "south")), "unauthenticated"),
    "nobody has a name any more": (known(), "unauthenticated"),
    "the resource is not its own": (known(k=Caller("ada", "north", Rights(()))), "forbidden"),
}


@pytest.mark.parametrize(("rules", "told"), KNOWN.values(), ids=KNOWN.keys())
async def test_a_right_is_its_principals(rules: RuleSet, told: str | None) -> None:
    """Of the same name, tenant and key, with the resource among its own."""
    assert await lost(rules, ADA) == told


@pytest.mark.parametrize(("rules", "told"), KNOWN.values(), ids=KNOWN.keys())
async def test_principals_alone_may_be_asked(rules: RuleSet, told: str | None) -> None:
    """Then nobody is asked about a claim; and for a read its key alone counts."""
    issuers = Issuers()
    standing = Standing(lambda: rules, issuers)
    barred = standing.barred(replace(ADA, rule=SIGNED), HEADERS)

    assert (None if barred is None else barred.decision.name, issuers.asked) == (told, [])
    assert standing.is_known(HEADERS) == (standing.unknown(HEADERS) is None)


async def test_a_claim_is_verified_anew() -> None:
    """With the terms of its rule; another proof is the store's to compare."""
    issuers = Issuers()

    assert await lost(known(), write(SIGNED), issuers) is None
    assert issuers.asked == [SIGNED.signed]
    assert await lost(known(), write(SIGNED), Issuers(Refused(TOKEN_INVALID, ""))) == "token-invalid"
    assert await lost(known(), write(), Issuers(Refused(TOKEN_INVALID, ""))) is None


async def test_keys_that_are_slow_in_coming_leave_the_right_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """A source that is away withdraws nothing."""
    monkeypatch.setattr("gateway.flow.standing._KEYS_WITHIN_S", 0.01)

    assert await lost(known(), write(SIGNED), Issuers(None)) is None


async def test_a_rule_that_is_gone_leaves_its_keys_behind() -> None:
    """There are no others by which its claim could be judged."""
    over = Upstream("u", UPSTREAM.origin)
    over.term.end()
    issuers = Issuers()

    assert await lost(known(), write(replace(SIGNED, upstream=over)), issuers) is None
    assert issuers.asked == [SIGNED.signed]
