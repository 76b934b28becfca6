"""What a signed claim proves, and what is asked for it."""

from gateway.core.caller import Control
from gateway.core.claim import ClaimProof
from gateway.core.clock import Deadline
from gateway.core.decision import TOKEN_INVALID, TOKEN_MALFORMED, TOKEN_REQUIRED, Refused
from gateway.core.epoch import Epoch
from gateway.core.rule import Rule, SharedSecret, Signed
from gateway.flow.proving import prove
from tests.playbook.given import RESOURCE, RULE, UPSTREAM
from tests.playbook.script import Transcript
from tests.playbook.store import ScriptedClaims

SIGNED = Rule("r", UPSTREAM, "signed", signed=Signed(SharedSecret(b"s"), ("HS256",)))
PROOF = ClaimProof(Epoch(42), "agent-a", Deadline(0.0, 0.0))


async def proved(rule: Rule, token: str | None, holder: str | None = None) -> tuple[object, list[str]]:
    said = Transcript()
    found = await prove(ScriptedClaims(said, PROOF), rule, RESOURCE, Control(token, holder, None, None, None))
    return found.decision if isinstance(found, Refused) else found, said


async def test_only_a_signed_rule_asks_for_verification() -> None:
    """Other proofs are the store's to compare."""
    assert await proved(RULE, "e30.e30.AAAA") == (None, [])


async def test_only_the_right_form_is_verified() -> None:
    """Anything else is refused without a key being looked up."""
    assert await proved(SIGNED, None) == (TOKEN_REQUIRED, [])
    for other in ("42", "42.abcdefghijklmnopqrst-_", "e30.e30.", "e30.e30"):
        assert await proved(SIGNED, other) == (TOKEN_MALFORMED, [])


async def test_a_holder_beside_the_claim_must_be_the_claims() -> None:
    """`Fencing-Holder` may repeat it, and not contradict it."""
    verified = ["verify e30.e30.AAAA for report/7"]

    assert await proved(SIGNED, "e30.e30.AAAA") == (PROOF, verified)
    assert await proved(SIGNED, "e30.e30.AAAA", "agent-a") == (PROOF, verified)
    assert await proved(SIGNED, "e30.e30.AAAA", "agent-b") == (TOKEN_INVALID, verified)
