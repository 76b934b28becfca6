"""Calls about the audit trail."""

from gateway.admin import audit, audit_chain
from gateway.admin.call import Answer, Call, Parameter
from gateway.admin.routes.recurring import CURSOR, ON_DOCUMENT, ON_LIST
from gateway.admin.shapes import audit_chain as audit_chain_shapes
from gateway.admin.shapes.schema import TEXT, page_of, ref
from gateway.core.decision import STORE_UNAVAILABLE

CALLS = (
    Call(
        "GET",
        "/api/v1/audit",
        audit.list_events,
        "each step of each write, who had which epoch, and whom the fence refused; the newest first",
        (Answer("A page.", page_of(ref("Event"))),),
        ON_LIST,
        (
            Parameter("resource", "The resource's name."),
            Parameter("intent", "The intent's id."),
            Parameter("since", "A duration before now (`90s`, `1h`, `7d`), or an instant (RFC 3339)."),
            Parameter("until", "The same, of the newest event that is wanted."),
            Parameter("limit", "How many a page has at most, up to 1000; 100 where nothing is said.", schema=TEXT),
            CURSOR,
        ),
    ),
    Call(
        "GET",
        "/api/v1/audit/checkpoint",
        audit_chain.show_checkpoint,
        "the newest digests of the trail: to be kept elsewhere, and verified against later",
        (Answer("After what is new has been sealed.", ref("Checkpoint")),),
        ON_LIST,
    ),
    Call(
        "POST",
        "/api/v1/audit/verify",
        audit_chain.verify_events,
        "whether the trail is as it was sealed, and as a checkpoint has it; some of it a call, until `next` is null",
        (Answer("What is wrong, and where.", ref("Verified")),),
        (*ON_DOCUMENT, STORE_UNAVAILABLE),
        body=audit_chain_shapes.VERIFIED,
    ),
)
