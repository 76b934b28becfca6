"""Calls about writes that came too late and were kept."""

from gateway.admin import quarantine
from gateway.admin.call import Answer, Call, Parameter
from gateway.admin.routes.recurring import CURSOR, ID, ON_CHANGE, ON_LIST, ON_ONE
from gateway.admin.shapes import requests
from gateway.admin.shapes.schema import BYTES, page_of, ref
from gateway.core.decision import NOT_IN_QUARANTINE

CALLS = (
    Call(
        "GET",
        "/api/v1/quarantine",
        quarantine.list_late,
        "writes that came too late and were kept",
        (Answer("A page, the newest first.", page_of(ref("Quarantined"))),),
        ON_LIST,
        (Parameter("resource", "The resource's name."), Parameter("rule", "The rule's name."), CURSOR),
    ),
    Call(
        "GET",
        "/api/v1/quarantine/{id}",
        quarantine.show_late,
        "one of them, with its request",
        (Answer("The late result.", ref("QuarantinedShown")),),
        (*ON_ONE, NOT_IN_QUARANTINE),
        (ID,),
    ),
    Call(
        "GET",
        "/api/v1/quarantine/{id}/body",
        quarantine.export_body,
        "its body, byte for byte",
        (Answer("As it came.", BYTES, media="application/octet-stream"),),
        (*ON_ONE, NOT_IN_QUARANTINE),
        (ID,),
    ),
    Call(
        "DELETE",
        "/api/v1/quarantine/{id}",
        quarantine.drop_late,
        "drop it",
        (Answer("What it was.", ref("Quarantined")),),
        (*ON_CHANGE, NOT_IN_QUARANTINE),
        (ID,),
        requests.NOTED,
    ),
)
