"""Calls about intents, and those by which a person decides about one."""

from gateway.admin import approvals, compensations, intents
from gateway.admin.call import Answer, Call, Parameter
from gateway.admin.routes.recurring import (
    CURSOR,
    INTENT,
    INTENT_SHOWN,
    ON_CHANGE,
    ON_JUDGED,
    ON_LIST,
    ON_ONE,
    ON_SENDING,
)
from gateway.admin.shapes import requests
from gateway.admin.shapes.schema import BYTES, one_of, page_of, ref
from gateway.core.decision import (
    BAD_REQUEST,
    HEADER_MALFORMED,
    NO_SUCH_INTENT,
    QUOTA_EXCEEDED,
    RESOURCE_BUSY,
    STILL_UNKNOWN,
    UNAUTHENTICATED,
    WRONG_STATE,
)
from gateway.store.views.intent_views import LISTED

CALLS = (
    Call(
        "GET",
        "/api/v1/intents",
        intents.list_intents,
        "intents that are unknown (where nothing is said), or in any other state",
        (Answer("A page, the newest first.", page_of(ref("Intent"))),),
        (*ON_LIST, HEADER_MALFORMED),
        (
            Parameter("state", "The state; `unknown` where none is named.", schema=one_of((*LISTED, "in_flight"))),
            CURSOR,
        ),
        for_approvers=True,
    ),
    Call(
        "GET",
        "/api/v1/intents/{id}",
        intents.show_intent,
        "one intent: what became of it, its answer as far as it is kept, and its events",
        (Answer("The intent.", ref("IntentShown")),),
        (*ON_ONE, NO_SUCH_INTENT),
        (INTENT,),
        for_approvers=True,
    ),
    Call(
        "GET",
        "/api/v1/intents/{id}/body",
        intents.export_request_body,
        "the body of the request that is kept to be sent, byte for byte",
        (Answer("As it came.", BYTES, media="application/octet-stream"),),
        (*ON_ONE, BAD_REQUEST, HEADER_MALFORMED, NO_SUCH_INTENT, WRONG_STATE),
        (INTENT, Parameter("digest", "Of the request that is meant: another one is refused.")),
        for_approvers=True,
    ),
    Call(
        "POST",
        "/api/v1/intents/{id}/resolve",
        intents.resolve_intent,
        "say what became of an unknown one: not_applied lets a retry send again",
        INTENT_SHOWN,
        (*ON_CHANGE, NO_SUCH_INTENT, WRONG_STATE),
        (INTENT,),
        requests.RESOLVED,
    ),
    Call(
        "POST",
        "/api/v1/intents/{id}/approve",
        approvals.approve_intent,
        "let one that waits for an approval be sent, as it was looked at",
        INTENT_SHOWN,
        (*ON_JUDGED, HEADER_MALFORMED, UNAUTHENTICATED, NO_SUCH_INTENT, WRONG_STATE),
        (INTENT,),
        requests.APPROVED,
        for_approvers=True,
    ),
    Call(
        "POST",
        "/api/v1/intents/{id}/deny",
        approvals.deny_intent,
        "never send it",
        INTENT_SHOWN,
        (*ON_JUDGED, HEADER_MALFORMED, UNAUTHENTICATED, NO_SUCH_INTENT, WRONG_STATE),
        (INTENT,),
        requests.DENIED,
        for_approvers=True,
    ),
    Call(
        "POST",
        "/api/v1/intents/{id}/retry",
        approvals.retry_intent,
        "send a failed one again; it takes of its rule's budgets as a new one does",
        INTENT_SHOWN,
        (*ON_JUDGED, NO_SUCH_INTENT, WRONG_STATE, QUOTA_EXCEEDED),
        (INTENT,),
        requests.RETRIED,
    ),
    Call(
        "POST",
        "/api/v1/intents/{id}/compensate",
        compensations.compensate_intent,
        "take an applied one back: its compensation is sent, once",
        INTENT_SHOWN,
        (*ON_SENDING, NO_SUCH_INTENT, WRONG_STATE, STILL_UNKNOWN, RESOURCE_BUSY),
        (INTENT,),
        requests.NOTED,
    ),
)
