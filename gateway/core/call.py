"""A JSON-RPC call: the id by which its answer is known, and where that stands in its body."""

from gateway.core.frozen import frozen


@frozen
class Call:
    """`id`: as ids are compared. `spelled`: as its caller wrote it, `at` so many bytes behind the body's beginning."""

    id: str
    spelled: bytes
    at: int
