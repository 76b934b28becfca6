"""All calls of the admin listener. Routes, the index and the OpenAPI document are made of this table."""

from gateway.admin import (
    approvals,
    audit,
    audit_chain,
    budgets,
    compensations,
    explain,
    health,
    index,
    intents,
    notifications,
    openapi,
    pauses,
    policies,
    quarantine,
    resources,
    store,
)
from gateway.admin.call import Answer, Call, Parameter
from gateway.admin.console import serving
from gateway.admin.shapes import audit_chain as audit_chain_shapes
from gateway.admin.shapes import requests
from gateway.admin.shapes.schema import BYTES, NAME, TEXT, one_of, page_of, ref
from gateway.core.decision import (
    AMBIGUOUS_TARGET,
    BAD_REQUEST,
    BODY_TOO_LARGE,
    EPOCHS_EXHAUSTED,
    HEADER_MALFORMED,
    NO_SUCH_INTENT,
    NO_SUCH_NOTIFICATION,
    NO_SUCH_PAUSE,
    NO_SUCH_RESOURCE,
    NOT_FOUND,
    NOT_IN_QUARANTINE,
    NOTHING_LOST,
    POLICIES_INVALID,
    QUOTA_EXCEEDED,
    RESOURCE_BUSY,
    STALE_EPOCH,
    STORE_REGRESSED,
    STORE_UNAVAILABLE,
    UNAUTHENTICATED,
    WRONG_STATE,
)
from gateway.store.intent_views import LISTED

_CURSOR = Parameter("cursor", "Where the page begins: `next` of the one before.")
_RESOURCE = Parameter("resource", "Its name, percent-encoded; slashes may stay as they are.", where="path", schema=NAME)
_INTENT = Parameter("id", "The intent's id, or a ticket's.", where="path", schema=NAME)
_ID = Parameter("id", "Its id, as the list has it.", where="path", schema=NAME)

_LIST = (BAD_REQUEST, STORE_UNAVAILABLE)
_ONE = (NOT_FOUND, STORE_UNAVAILABLE)
_DOCUMENT = (BAD_REQUEST, BODY_TOO_LARGE)
_DONE = (*_ONE, *_DOCUMENT)
_SENT = (*_DONE, STORE_REGRESSED)

_SHOWN = (Answer("The intent as it is then.", ref("IntentShown")),)

_OF_THE_LISTENER = (
    Call(
        "GET",
        "/",
        serving.show_console,
        "the operators' console",
        (Answer("For a person with a browser.", TEXT, media="text/html"),),
    ),
    Call(
        "GET",
        serving.PATH,
        serving.show_asset,
        "what the console is made of",
        (Answer("A module, a style sheet or a picture.", BYTES, media="*/*"),),
        (NOT_FOUND,),
        (Parameter("file", "Its name.", where="path", schema=NAME),),
    ),
    Call(
        "GET",
        "/api/v1",
        index.show_index,
        "this page",
        (Answer("For a person with a browser.", TEXT, media="text/html"),),
    ),
    Call("GET", "/healthz", health.healthz, "whether the process is up", (Answer("It is.", ref("Up")),)),
    Call(
        "GET",
        "/readyz",
        health.readyz,
        "whether writes can pass now, and if not, why",
        (Answer("They can.", ref("Ready")), Answer("They cannot.", ref("NotReady"), status=503)),
    ),
    Call(
        "GET",
        "/metrics",
        health.metrics,
        "metrics in Prometheus' text format",
        (Answer("Those of all processes of this gateway.", TEXT, media="text/plain"),),
    ),
    Call(
        "GET",
        openapi.PATH,
        openapi.show_document,
        "these calls as an OpenAPI document",
        (Answer("OpenAPI 3.1.", {"type": "object"}),),
    ),
)

_OF_RESOURCES = (
    Call(
        "GET",
        "/api/v1/resources",
        resources.list_resources,
        "resources that the fence knows",
        (Answer("A page.", page_of(ref("Resource"))),),
        _LIST,
        (Parameter("prefix", "How their names begin."), _CURSOR),
    ),
    Call(
        "GET",
        "/api/v1/resources/{resource}",
        resources.show_resource,
        "one resource: its epoch, holder, lease, pause, writes in flight, and newest events",
        (Answer("The resource.", ref("ResourceShown")),),
        (*_ONE, NO_SUCH_RESOURCE),
        (_RESOURCE,),
    ),
    Call(
        "POST",
        "/api/v1/resources/{resource}/advance",
        resources.advance_resource,
        "raise the epoch: whoever writes now is refused from here on",
        (Answer("The epoch that rules now.", ref("Advanced")),),
        (*_DONE, NO_SUCH_RESOURCE, STALE_EPOCH, EPOCHS_EXHAUSTED),
        (_RESOURCE,),
        requests.ADVANCED,
    ),
)

_OF_INTENTS = (
    Call(
        "GET",
        "/api/v1/intents",
        intents.list_intents,
        "intents that are unknown (where nothing is said), or in any other state",
        (Answer("A page, the newest first.", page_of(ref("Intent"))),),
        (*_LIST, HEADER_MALFORMED),
        (
            Parameter("state", "The state; `unknown` where none is named.", schema=one_of((*LISTED, "in_flight"))),
            _CURSOR,
        ),
        for_approvers=True,
    ),
    Call(
        "GET",
        "/api/v1/intents/{id}",
        intents.show_intent,
        "one intent: what became of it, its answer as far as it is kept, and its events",
        (Answer("The intent.", ref("IntentShown")),),
        (*_ONE, NO_SUCH_INTENT),
        (_INTENT,),
        for_approvers=True,
    ),
    Call(
        "GET",
        "/api/v1/intents/{id}/body",
        intents.export_request_body,
        "the body of the request that is kept to be sent, byte for byte",
        (Answer("As it came.", BYTES, media="application/octet-stream"),),
        (*_ONE, BAD_REQUEST, HEADER_MALFORMED, NO_SUCH_INTENT, WRONG_STATE),
        (_INTENT, Parameter("digest", "Of the request that is meant: another one is refused.")),
        for_approvers=True,
    ),
    Call(
        "POST",
        "/api/v1/intents/{id}/resolve",
        intents.resolve_intent,
        "say what became of an unknown one: not_applied lets a retry send again",
        _SHOWN,
        (*_DONE, NO_SUCH_INTENT, WRONG_STATE),
        (_INTENT,),
        requests.RESOLVED,
    ),
    Call(
        "POST",
        "/api/v1/intents/{id}/approve",
        approvals.approve_intent,
        "let one that waits for an approval be sent, as it was looked at",
        _SHOWN,
        (*_SENT, HEADER_MALFORMED, UNAUTHENTICATED, NO_SUCH_INTENT, WRONG_STATE),
        (_INTENT,),
        requests.APPROVED,
        for_approvers=True,
    ),
    Call(
        "POST",
        "/api/v1/intents/{id}/deny",
        approvals.deny_intent,
        "never send it",
        _SHOWN,
        (*_SENT, HEADER_MALFORMED, UNAUTHENTICATED, NO_SUCH_INTENT, WRONG_STATE),
        (_INTENT,),
        requests.DENIED,
        for_approvers=True,
    ),
    Call(
        "POST",
        "/api/v1/intents/{id}/retry",
        approvals.retry_intent,
        "send a failed one again; it takes of its rule's budgets as a new one does",
        _SHOWN,
        (*_SENT, NO_SUCH_INTENT, WRONG_STATE, QUOTA_EXCEEDED),
        (_INTENT,),
        requests.NOTED,
    ),
    Call(
        "POST",
        "/api/v1/intents/{id}/compensate",
        compensations.compensate_intent,
        "take an applied one back: its compensation is sent, once",
        _SHOWN,
        (*_SENT, NO_SUCH_INTENT, WRONG_STATE, RESOURCE_BUSY),
        (_INTENT,),
        requests.NOTED,
    ),
    Call(
        "GET",
        "/api/v1/audit",
        audit.list_events,
        "each step of each write, who had which epoch, and whom the fence refused; the newest first",
        (Answer("A page.", page_of(ref("Event"))),),
        _LIST,
        (
            Parameter("resource", "The resource's name."),
            Parameter("intent", "The intent's id."),
            Parameter("since", "A duration before now (`90s`, `1h`, `7d`), or an instant (RFC 3339)."),
            Parameter("until", "The same, of the newest event that is wanted."),
            Parameter("limit", "How many a page has at most, up to 1000; 100 where nothing is said.", schema=TEXT),
            _CURSOR,
        ),
    ),
    Call(
        "GET",
        "/api/v1/audit/checkpoint",
        audit_chain.show_checkpoint,
        "the newest digests of the trail: to be kept elsewhere, and verified against later",
        (Answer("After what is new has been sealed.", ref("Checkpoint")),),
        _LIST,
    ),
    Call(
        "POST",
        "/api/v1/audit/verify",
        audit_chain.verify_events,
        "whether the trail is as it was sealed, and as a checkpoint has it; some of it a call, until `next` is null",
        (Answer("What is wrong, and where.", ref("Verified")),),
        (*_DOCUMENT, STORE_UNAVAILABLE),
        body=audit_chain_shapes.VERIFIED,
    ),
)

_OF_PAUSES = (
    Call(
        "GET",
        "/api/v1/pauses",
        pauses.list_pauses,
        "pauses in force, the newest first",
        (Answer("A page.", page_of(ref("Pause"))),),
        _LIST,
        (Parameter("resource", "That resource's own pause only."), _CURSOR),
    ),
    Call(
        "POST",
        "/api/v1/pauses",
        pauses.begin_pause,
        "stop all writes of an upstream, rule, resource, tenant or holder, or all there are",
        (
            Answer("It has begun.", ref("Pause"), status=201),
            Answer("The pause of the same selector that was in force already.", ref("Pause")),
        ),
        (*_DOCUMENT, STORE_UNAVAILABLE, NO_SUCH_RESOURCE),
        body=requests.PAUSED,
    ),
    Call(
        "DELETE",
        "/api/v1/pauses/{id}",
        pauses.end_pause,
        "let them go on",
        (Answer("The pause that has ended.", ref("Pause")),),
        (*_ONE, NO_SUCH_PAUSE),
        (_ID,),
    ),
)

_OF_THE_QUARANTINE = (
    Call(
        "GET",
        "/api/v1/quarantine",
        quarantine.list_late,
        "writes that came too late and were kept",
        (Answer("A page, the newest first.", page_of(ref("Quarantined"))),),
        _LIST,
        (Parameter("resource", "The resource's name."), Parameter("rule", "The rule's name."), _CURSOR),
    ),
    Call(
        "GET",
        "/api/v1/quarantine/{id}",
        quarantine.show_late,
        "one of them, with its request",
        (Answer("The late result.", ref("QuarantinedShown")),),
        (*_ONE, NOT_IN_QUARANTINE),
        (_ID,),
    ),
    Call(
        "GET",
        "/api/v1/quarantine/{id}/body",
        quarantine.export_body,
        "its body, byte for byte",
        (Answer("As it came.", BYTES, media="application/octet-stream"),),
        (*_ONE, NOT_IN_QUARANTINE),
        (_ID,),
    ),
    Call(
        "DELETE",
        "/api/v1/quarantine/{id}",
        quarantine.drop_late,
        "drop it",
        (Answer("What it was.", ref("Quarantined")),),
        (*_DONE, NOT_IN_QUARANTINE),
        (_ID,),
        requests.NOTED,
    ),
)

_OF_POLICIES = (
    Call(
        "GET",
        "/api/v1/budgets",
        budgets.list_budgets,
        "what is used of the rules' budgets, and by whom",
        (Answer("A page, what was used last first.", page_of(ref("BudgetUsage"))),),
        _LIST,
        (Parameter("upstream", "The upstream's name."), Parameter("rule", "The rule's name."), _CURSOR),
    ),
    Call(
        "GET",
        "/api/v1/notifications",
        notifications.list_letters,
        "what webhooks tell people: dead letters (where nothing is said), or waiting",
        (Answer("A page, the newest first.", page_of(ref("Notification"))),),
        _LIST,
        (Parameter("state", "`dead` where none is named.", schema=one_of(("dead", "waiting"))), _CURSOR),
    ),
    Call(
        "POST",
        "/api/v1/notifications/{id}/retry",
        notifications.retry_letter,
        "send one of them now",
        (Answer("It waits to be sent.", ref("Notification")),),
        (*_DONE, NO_SUCH_NOTIFICATION),
        (_ID,),
        requests.NOTHING,
    ),
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
        (*_DOCUMENT, POLICIES_INVALID),
        body=requests.NOTHING,
    ),
    Call(
        "POST",
        "/api/v1/explain",
        explain.explain_request,
        "which rule would take a request, and why each other one would not",
        (Answer("What would be decided; its token is not asked for.", ref("Explanation")),),
        (*_DOCUMENT, AMBIGUOUS_TARGET),
        body=requests.EXPLAINED,
    ),
)

_OF_THE_STORE = (
    Call(
        "GET",
        "/api/v1/store",
        store.show_store,
        "whether the store has lost what it acknowledged, and since when",
        (Answer("Each of its servers.", ref("Store")),),
        _LIST,
    ),
    Call(
        "POST",
        "/api/v1/store/accept",
        store.accept_loss,
        "go on after a loss: leases from before it have ended, and what waited is unknown",
        (Answer("The store as it is then.", ref("LossAccepted")),),
        (*_DOCUMENT, STORE_UNAVAILABLE, NOTHING_LOST),
        body=requests.NOTED,
    ),
)

CALLS = (
    *_OF_THE_LISTENER,
    *_OF_RESOURCES,
    *_OF_INTENTS,
    *_OF_PAUSES,
    *_OF_THE_QUARANTINE,
    *_OF_POLICIES,
    *_OF_THE_STORE,
)
