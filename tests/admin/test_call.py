"""A call as the router and as OpenAPI take it."""

from gateway.admin.call import Call
from gateway.admin.resources import show_resource


def test_a_resource_may_hold_slashes() -> None:
    """The router takes them, whether or not they are percent-encoded; OpenAPI has no word for it."""
    call = Call("GET", "/api/v1/resources/{resource}", show_resource, "one resource", ())

    assert call.route == "/api/v1/resources/{resource:.+}"
    assert call.name == "show_resource"
