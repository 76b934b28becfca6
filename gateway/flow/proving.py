"""What a signed claim proves: the one proof for which keys have to be had, and so the one that is waited for."""

from gateway.core.caller import Control
from gateway.core.claim import ClaimProof
from gateway.core.decision import Refused
from gateway.core.identify import read_proof, same_holder
from gateway.core.rule import Rule
from gateway.core.token import SignedClaim
from gateway.core.write import ResourceKey
from gateway.flow.ports import Claims


async def prove(claims: Claims, rule: Rule, resource: ResourceKey, control: Control) -> ClaimProof | Refused | None:
    """The claim that was presented, verified; None where the rule takes another proof."""
    if rule.signed is None:
        return None
    presented = read_proof(control, rule.token_from, rule.authority, resource)
    if isinstance(presented, Refused):
        return presented
    assert isinstance(presented, SignedClaim), "no other form is taken where the authority is signed"
    proof = await claims.verify(presented, rule.signed, resource)
    return proof if isinstance(proof, Refused) else same_holder(proof, control, resource)
