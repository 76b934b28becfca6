"""Calls about the listener itself: the console, the index, the OpenAPI document, health and metrics."""

from gateway.admin import health, index, openapi
from gateway.admin.call import Answer, Call, Parameter
from gateway.admin.console import serving
from gateway.admin.shapes.schema import BYTES, NAME, TEXT, ref
from gateway.core.decision import NOT_FOUND

CALLS = (
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
