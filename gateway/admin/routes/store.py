"""Calls about the store and what it has lost."""

from gateway.admin import store
from gateway.admin.call import Answer, Call
from gateway.admin.routes.recurring import ON_DOCUMENT, ON_LIST
from gateway.admin.shapes import requests
from gateway.admin.shapes.schema import ref
from gateway.core.decision import STORE_UNAVAILABLE, WRONG_STORE_STATE

CALLS = (
    Call(
        "GET",
        "/api/v1/store",
        store.show_store,
        "whether the store has lost what it acknowledged, and since when",
        (Answer("Each of its servers.", ref("Store")),),
        ON_LIST,
    ),
    Call(
        "POST",
        "/api/v1/store/accept",
        store.accept_loss,
        "go on after a loss: leases from before it have ended, and what waited is unknown",
        (Answer("The store as it is then.", ref("LossAccepted")),),
        (*ON_DOCUMENT, STORE_UNAVAILABLE, WRONG_STORE_STATE),
        body=requests.ACCEPTED,
    ),
)
