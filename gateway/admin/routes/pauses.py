"""Calls about pauses."""

from gateway.admin import pauses
from gateway.admin.call import Answer, Call, Parameter
from gateway.admin.routes.recurring import CURSOR, ID, ON_DOCUMENT, ON_LIST, ON_ONE
from gateway.admin.shapes import requests
from gateway.admin.shapes.schema import page_of, ref
from gateway.core.decision import NO_SUCH_PAUSE, NO_SUCH_RESOURCE, STORE_UNAVAILABLE

CALLS = (
    Call(
        "GET",
        "/api/v1/pauses",
        pauses.list_pauses,
        "pauses in force, the newest first",
        (Answer("A page.", page_of(ref("Pause"))),),
        ON_LIST,
        (Parameter("resource", "That resource's own pause only."), CURSOR),
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
        (*ON_DOCUMENT, STORE_UNAVAILABLE, NO_SUCH_RESOURCE),
        body=requests.PAUSED,
    ),
    Call(
        "DELETE",
        "/api/v1/pauses/{id}",
        pauses.end_pause,
        "let them go on",
        (Answer("The pause that has ended.", ref("Pause")),),
        (*ON_ONE, NO_SUCH_PAUSE),
        (ID,),
    ),
)
