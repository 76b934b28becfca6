"""From what an agent presented to a write that can be admitted: the form of the proof, the counters a rule asks for."""

from gateway.core.caller import ANONYMOUS, Control
from gateway.core.claim import ClaimProof
from gateway.core.decision import (
    HEADER_MALFORMED,
    SEQUENCE_REQUIRED,
    TOKEN_INVALID,
    TOKEN_MALFORMED,
    TOKEN_REQUIRED,
    Facts,
    Refused,
)
from gateway.core.rule import Authority, Rule
from gateway.core.token import (
    BareProof,
    LeaseProof,
    Proof,
    SignedClaim,
    TokenSource,
    parse_token,
    token_in_authorization,
)
from gateway.core.write import ResourceKey, Write


def find_token(control: Control, sources: tuple[TokenSource, ...]) -> str | None:
    """The token that was presented: `Fencing-Token` whatever the sources say, else what `Authorization` carries."""
    if control.token is not None:
        return control.token
    if control.authorization is None:
        return None
    return token_in_authorization(control.authorization, sources)


def malformed_token(control: Control) -> Refused | None:
    """What can be said of a token before its rule is known: that no rule would take it."""
    if control.token is None or parse_token(control.token) is not None:
        return None
    detail = "Not forwarded: the Fencing-Token is neither EPOCH.SECRET, nor a signed claim, nor a bare epoch."
    return Refused(TOKEN_MALFORMED, detail)


def read_proof(
    control: Control, sources: tuple[TokenSource, ...], authority: Authority, resource: ResourceKey
) -> Proof | Refused:
    """The proof that a rule of this authority takes."""
    facts = Facts(resource=resource)
    text = find_token(control, sources)
    if text is None:
        detail = "Not forwarded: this write needs a Fencing-Token. Take a lease of the resource and send its token."
        if authority == "header":
            detail = "Not forwarded: this write needs the epoch in Fencing-Token and its holder in Fencing-Holder."
        if authority == "signed":
            detail = "Not forwarded: this write needs a signed claim in Fencing-Token. Ask its issuer for one."
        return Refused(TOKEN_REQUIRED, detail, facts)
    proof = parse_token(text)
    if authority == "lease" and not isinstance(proof, LeaseProof):
        return Refused(
            TOKEN_MALFORMED, "Not forwarded: the token must be EPOCH.SECRET, as the lease call gave it.", facts
        )
    if authority == "signed" and not isinstance(proof, SignedClaim):
        detail = "Not forwarded: the token must be a signed claim, as a compact JWS: HEADER.PAYLOAD.SIGNATURE."
        return Refused(TOKEN_MALFORMED, detail, facts)
    if authority == "header":
        if not isinstance(proof, BareProof):
            detail = "Not forwarded: the token must be the bare epoch, digits only, at most 2^64-1, no leading zero."
            return Refused(TOKEN_MALFORMED, detail, facts)
        if control.holder is None:
            return Refused(TOKEN_MALFORMED, "Not forwarded: a bare epoch needs its holder in Fencing-Holder.", facts)
    assert proof is not None
    return proof


def same_holder(claim: ClaimProof, control: Control, resource: ResourceKey) -> ClaimProof | Refused:
    """The claim, unless `Fencing-Holder` names somebody else beside it."""
    if control.holder in (None, claim.holder):
        return claim
    detail = "Not forwarded: Fencing-Holder is not the holder that the signed claim names. Leave it out."
    return Refused(TOKEN_INVALID, detail, Facts(resource=resource, epoch=claim.epoch))


def identify(
    rule: Rule,
    resource: ResourceKey,
    control: Control,
    claim: ClaimProof | Refused | None = None,
    principal: str = ANONYMOUS,
) -> Write | Refused:
    """The write as admission has to know it, or what is missing from the request.

    `claim`: what verification found, where the rule's authority is `signed`.
    """
    proof = claim or read_proof(control, rule.token_from, rule.authority, resource)
    if isinstance(proof, Refused):
        return proof
    assert not isinstance(proof, SignedClaim), "a claim is verified before anything is read from it"
    facts = Facts(resource=resource, epoch=proof.epoch)
    checks_sequence = rule.fence.sequence != "off"
    if checks_sequence and control.sequence is None:
        return Refused(SEQUENCE_REQUIRED, "Not forwarded: this write needs its place in Fencing-Sequence.", facts)
    if control.if_revision is not None and rule.revision == "off":
        # To ignore it would let a write through whose sender believes it to be conditional.
        detail = "Not forwarded: this rule counts no revisions, so Fencing-If-Revision cannot be checked. Leave it out."
        return Refused(HEADER_MALFORMED, detail, facts)
    return Write(
        rule,
        resource,
        proof.epoch,
        proof.holder if isinstance(proof, ClaimProof) else control.holder,
        proof.secret_digest if isinstance(proof, LeaseProof) else None,
        control.sequence if checks_sequence else None,
        control.if_revision,
        expires=proof.expires if isinstance(proof, ClaimProof) else None,
        principal=principal,
    )
