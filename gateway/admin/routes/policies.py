"""Calls about the policies in force."""

from gateway.admin import explain, policies
from gateway.admin.call import Answer, Call
from gateway.admin.routes.recurring import ON_DOCUMENT
from gateway.admin.shapes import requests
from gateway.admin.shapes.schema import page_of, ref
from gateway.core.decision import AMBIGUOUS_TARGET, POLICIES_INVALID

CALLS = (
    Call(
        "GET",
        "/api/v1/policies",
        policies.list_policies,
        "the policies in force",
        (Answer("All of them: `next` is null.", page_of(ref("Policy"))),),
    ),
    Call(
        "POST",
        "/api/v1/policies/reload",
        policies.reload_policies,
        "read the policy files again",
        (Answer("They are in force.", ref("Loaded")),),
        (*ON_DOCUMENT, POLICIES_INVALID),
        body=requests.NOTHING,
    ),
    Call(
        "POST",
        "/api/v1/explain",
        explain.explain_request,
        "which rule would take a request, and why each other one would not",
        (Answer("What would be decided; its token is not asked for.", ref("Explanation")),),
        (*ON_DOCUMENT, AMBIGUOUS_TARGET),
        body=requests.EXPLAINED,
    ),
)
