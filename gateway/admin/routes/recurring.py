"""What many calls have: parameters, an answer, and the problems of a kind of call."""

from gateway.admin.call import Answer, Parameter
from gateway.admin.shapes.schema import NAME, ref
from gateway.core.decision import (
    BAD_REQUEST,
    BODY_TOO_LARGE,
    NOT_FOUND,
    POLICIES_UNAVAILABLE,
    STORE_REGRESSED,
    STORE_UNAVAILABLE,
)

CURSOR = Parameter("cursor", "Where the page begins: `next` of the one before.")
RESOURCE = Parameter("resource", "Its name, percent-encoded; slashes may stay as they are.", where="path", schema=NAME)
INTENT = Parameter("id", "The intent's id, or a ticket's.", where="path", schema=NAME)
ID = Parameter("id", "Its id, as the list has it.", where="path", schema=NAME)

INTENT_SHOWN = (Answer("The intent as it is then.", ref("IntentShown")),)

ON_LIST = (BAD_REQUEST, STORE_UNAVAILABLE)
ON_ONE = (NOT_FOUND, STORE_UNAVAILABLE)
ON_DOCUMENT = (BAD_REQUEST, BODY_TOO_LARGE)
ON_CHANGE = (*ON_ONE, *ON_DOCUMENT)
ON_SENDING = (*ON_CHANGE, STORE_REGRESSED)
ON_JUDGED = (*ON_SENDING, POLICIES_UNAVAILABLE)
