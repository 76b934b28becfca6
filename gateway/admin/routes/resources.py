"""Calls about resources."""

from gateway.admin import resources
from gateway.admin.call import Answer, Call, Parameter
from gateway.admin.routes.recurring import CURSOR, ON_CHANGE, ON_DOCUMENT, ON_LIST, ON_ONE, RESOURCE
from gateway.admin.shapes import requests
from gateway.admin.shapes.schema import page_of, ref
from gateway.core.decision import (
    EPOCHS_EXHAUSTED,
    NO_SUCH_RESOURCE,
    STALE_EPOCH,
    STORE_REGRESSED,
    STORE_UNAVAILABLE,
    WRONG_STATE,
)

CALLS = (
    Call(
        "GET",
        "/api/v1/resources",
        resources.list_resources,
        "resources that the fence knows",
        (Answer("A page.", page_of(ref("Resource"))),),
        ON_LIST,
        (Parameter("prefix", "How their names begin."), CURSOR),
    ),
    Call(
        "GET",
        "/api/v1/resources/{resource}",
        resources.show_resource,
        "one resource: its epoch, holder, lease, pause, writes in flight, and newest events",
        (Answer("The resource.", ref("ResourceShown")),),
        (*ON_ONE, NO_SUCH_RESOURCE),
        (RESOURCE,),
    ),
    Call(
        "POST",
        "/api/v1/resources/{resource}/advance",
        resources.advance_resource,
        "raise the epoch: whoever writes now is refused from here on",
        (Answer("The epoch that rules now.", ref("Advanced")),),
        (*ON_CHANGE, NO_SUCH_RESOURCE, STALE_EPOCH, EPOCHS_EXHAUSTED),
        (RESOURCE,),
        requests.ADVANCED,
    ),
    Call(
        "POST",
        "/api/v1/resources/{resource}/reset",
        resources.reset_resource,
        "forget the epoch: any epoch begins anew, also one from before",
        (Answer("The epoch that was the highest.", ref("Reset")),),
        (*ON_CHANGE, NO_SUCH_RESOURCE, WRONG_STATE, STORE_REGRESSED),
        (RESOURCE,),
        requests.RESET,
    ),
    Call(
        "POST",
        "/api/v1/resources/prune",
        resources.prune_resources,
        "collect records of leases that ended and were granted more than a day ago",
        (Answer("How many were looked at, and went.", ref("Pruned")),),
        (*ON_DOCUMENT, STORE_UNAVAILABLE),
        body=requests.PRUNED,
    ),
)
