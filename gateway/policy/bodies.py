"""`mount.bodies`: the types of bodies that an API is sent. Whatever rule takes the request, any other one is refused.

Servers differ most in how they take a multipart body apart, or a form, and in what they take for one. An API whose
honest clients send JSON alone then gets nothing of that.
"""

from collections.abc import Iterable

from gateway.core.decision import NO_POLICY, OF_MOUNTS, Refused
from gateway.core.request import Headers, Request
from gateway.core.rule import Mount
from gateway.policy.reading.beside import brings_body
from gateway.policy.reading.body_type import (
    MULTIPART,
    OF_THE_BODY,
    coding_fault,
    is_of_form,
    parameter_fault,
    read_type,
)

_READS = "the policy lists which bodies this API is sent"
_ALLOW = "or have the policy (`mount.bodies`) allow it first"
_MOST_SHOWN = 64


class Bodies:
    """Media types in lower case. `undoes_codings`: whether the API undoes the coding of a body, of any but a form or
    a multipart one."""

    __slots__ = ("_advice", "_types", "_undoes", "_usual")

    def __init__(self, types: Iterable[bytes], *, undoes_codings: bool = False) -> None:
        self._types = frozenset(types)
        self._undoes = undoes_codings
        # As nearly all clients spell them.
        self._usual = self._types.union(one + b"; charset=utf-8" for one in self._types)
        named = "` or `".join(_shown(one) for one in sorted(self._types))
        self._advice = f"Send it as `Content-Type: {named}`" if named else "Send none"

    @classmethod
    def of(cls, mount: Mount) -> "Bodies | None":
        """None where the API is sent any."""
        return None if mount.bodies is None else cls(mount.bodies, undoes_codings=mount.coded_bodies == "undone")

    def refusal(self, request: Request) -> Refused | None:
        """Of a body that has another type, none, one that can be read in two ways, or a coding that is not undone. What
        brings no body passes, whatever it says of one."""
        if not brings_body(request):
            return None
        headers = request.headers
        if headers.first(b"content-type") in self._usual and _is_plain(headers):
            return None
        if not headers.all(b"content-type") and b"content-type" not in headers.respelled():
            return self._unlisted("no Content-Type says what this one is")
        found = read_type(headers, _READS, f"{self._advice}.")
        if isinstance(found, Refused):
            return found
        if found.name not in self._types:
            return self._unlisted(f"this one is {found.name[:_MOST_SHOWN].decode()}")
        fault = parameter_fault(found, _READS)
        is_form = is_of_form(found.name)
        return fault or coding_fault(headers, _READS, is_form=is_form, undoes_codings=self._undoes)

    def _unlisted(self, why: str) -> Refused:
        return Refused(NO_POLICY, f"Nothing was forwarded: {_READS}, and {why}. {self._advice}, {_ALLOW}.", OF_MOUNTS)


def _shown(kind: bytes) -> str:
    return f"{kind.decode()}; boundary=..." if kind == MULTIPART else kind.decode()


def _is_plain(headers: Headers) -> bool:
    """Whether the type is there once, and nothing else is said of the body."""
    if b"content-encoding" in headers.names() or b"content-type" in headers.repeated():
        return False
    return OF_THE_BODY.isdisjoint(headers.respelled())
