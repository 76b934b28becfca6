"""From what an agent presented to a write that can be admitted: the form of the proof, the counters a rule asks for."""

from dataclasses import dataclass

from gateway.core.caller import NOBODY, Caller, Control
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
from gateway.core.target import Target
from gateway.core.token import (
    BareProof,
    LeaseProof,
    Proof,
    SignedClaim,
    TokenSource,
    authorization_is_a_token,
    parse_token,
    shows_secret,
    token_in_authorization,
)
from gateway.core.write import Claimed, ResourceKey, Write

# In digits: 2^64-1.
_LONGEST_EPOCH = 20


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


def token_in_target(control: Control, target: Target) -> Refused | None:
    """The refusal of a request whose target shows its token, in whatever disguise: the API would read it, and so would
    its logs.
    """
    token = control.token
    if token is None and control.authorization is not None and authorization_is_a_token(control.authorization, ()):
        # Another key that stands there may be the API's own, and in its URLs.
        token = token_in_authorization(control.authorization, ("bearer", "basic"))
    # `42` may be the epoch and a part of any path.
    is_there = token is not None and len(token) > _LONGEST_EPOCH and token in target.raw
    if not is_there and not shows_secret(target.raw, token):
        return None
    detail = "Not forwarded: the token stands in the URL too, which the API reads and logs."
    return Refused(TOKEN_MALFORMED, f"{detail} Send it in Fencing-Token only.")


@dataclass(frozen=True, slots=True)
class _Form:
    """The proof that an authority takes, and what is said where there is no token or one of another form."""

    proof: type[Proof]
    required: str
    malformed: str


_FORMS: dict[Authority, _Form] = {
    "lease": _Form(
        LeaseProof,
        "this write needs a Fencing-Token. Take a lease of the resource and send its token.",
        "the token must be EPOCH.SECRET, as the lease call gave it.",
    ),
    "header": _Form(
        BareProof,
        "this write needs the epoch in Fencing-Token and its holder in Fencing-Holder.",
        "the token must be the bare epoch, digits only, at most 2^64-1, no leading zero.",
    ),
    "signed": _Form(
        SignedClaim,
        "this write needs a signed claim in Fencing-Token. Ask its issuer for one.",
        "the token must be a signed claim, as a compact JWS: HEADER.PAYLOAD.SIGNATURE.",
    ),
}


_NOT_READ = " The one in Authorization is not read there: send it in Fencing-Token."


def read_proof(
    control: Control, sources: tuple[TokenSource, ...], authority: Authority, resource: ResourceKey
) -> Proof | Refused:
    """The proof that a rule of this authority takes."""
    form = _FORMS[authority]
    text = find_token(control, sources)
    if text is None:
        elsewhere = control.authorization is not None and authorization_is_a_token(control.authorization, ())
        told = f"{form.required}{_NOT_READ}" if elsewhere else form.required
        return Refused(TOKEN_REQUIRED, f"Not forwarded: {told}", Facts(resource=resource))
    proof = parse_token(text)
    if not isinstance(proof, form.proof):
        return Refused(TOKEN_MALFORMED, f"Not forwarded: {form.malformed}", Facts(resource=resource))
    if authority == "header" and control.holder is None:
        detail = "Not forwarded: a bare epoch needs its holder in Fencing-Holder."
        return Refused(TOKEN_MALFORMED, detail, Facts(resource=resource))
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
    caller: Caller = NOBODY,
) -> Write | Refused:
    """The write as admission has to know it, or what is missing from the request.

    `claim`: what verification found, where the rule's authority is `signed`.
    """
    proof = claim or read_proof(control, rule.token_from, rule.authority, resource)
    if isinstance(proof, Refused):
        return proof
    assert not isinstance(proof, SignedClaim), "a claim is verified before anything is read from it"
    checks_sequence = rule.fence.sequence != "off"
    if checks_sequence and control.sequence is None:
        detail = "Not forwarded: this write needs its place in Fencing-Sequence."
        return Refused(SEQUENCE_REQUIRED, detail, Facts(resource=resource, epoch=proof.epoch))
    if control.if_revision is not None and rule.revision == "off":
        # To ignore it would let a write through whose sender believes it to be conditional.
        detail = "Not forwarded: this rule counts no revisions, so Fencing-If-Revision cannot be checked. Leave it out."
        return Refused(HEADER_MALFORMED, detail, Facts(resource=resource, epoch=proof.epoch))
    return Write(
        rule,
        resource,
        proof.epoch,
        proof.holder if isinstance(proof, ClaimProof) else control.holder,
        proof.secret_digest if isinstance(proof, LeaseProof) else None,
        control.sequence if checks_sequence else None,
        control.if_revision,
        expires=proof.expires if isinstance(proof, ClaimProof) else None,
        principal=caller.principal,
        tenant=caller.tenant,
        claim=_claimed(proof, control, rule) if isinstance(proof, ClaimProof) else None,
    )


def _claimed(proof: ClaimProof, control: Control, rule: Rule) -> Claimed | None:
    text = find_token(control, rule.token_from)
    return None if text is None else Claimed(SignedClaim(text), proof.at)
