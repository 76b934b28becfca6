"""Calls about what webhooks tell people."""

from gateway.admin import notifications
from gateway.admin.call import Answer, Call, Parameter
from gateway.admin.routes.recurring import CURSOR, ID, ON_CHANGE, ON_LIST
from gateway.admin.shapes import requests
from gateway.admin.shapes.schema import one_of, page_of, ref
from gateway.core.decision import NO_SUCH_NOTIFICATION

CALLS = (
    Call(
        "GET",
        "/api/v1/notifications",
        notifications.list_letters,
        "what webhooks tell people: dead letters (where nothing is said), or waiting",
        (Answer("A page, the newest first.", page_of(ref("Notification"))),),
        ON_LIST,
        (Parameter("state", "`dead` where none is named.", schema=one_of(("dead", "waiting"))), CURSOR),
    ),
    Call(
        "POST",
        "/api/v1/notifications/{id}/retry",
        notifications.retry_letter,
        "send one of them now",
        (Answer("It waits to be sent.", ref("Notification")),),
        (*ON_CHANGE, NO_SUCH_NOTIFICATION),
        (ID,),
        requests.NOTHING,
    ),
)
