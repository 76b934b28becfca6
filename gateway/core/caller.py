"""Who calls, and what it presented: the control headers, read once."""

import re
from dataclasses import dataclass

from gateway.core.decision import (
    AMBIGUOUS_TARGET,
    FORBIDDEN,
    HEADER_MALFORMED,
    OF_NAMES,
    TOKEN_MALFORMED,
    Facts,
    Refused,
)
from gateway.core.epoch import parse_u64
from gateway.core.field_name import plain_name
from gateway.core.frozen import frozen
from gateway.core.request import Headers
from gateway.core.rights import EVERYTHING, Rights

# What an agent may present. Any other header that begins with `Fencing-` is dropped unread.
CONTROL_HEADERS = (
    b"fencing-token",
    b"fencing-holder",
    b"fencing-sequence",
    b"fencing-if-revision",
    b"idempotency-key",
    b"fencegate-key",
)
# A holder is shown in problems, logs and the console: visible, and short enough to be read.
_HOLDER_LENGTH = 255
_KEY_LENGTH = 255
_KEY = re.compile(rb'"((?:[!#-\[\]-~]|\\["\\])*)"|([!#-~][!-~]*)')
_ESCAPED = re.compile(rb'\\(["\\])')


# What some servers and frameworks take for the method or the target instead of the request's own. What proxies add to
# every request is not among them: it is dropped (`core/forwarded.py`).
_OVERRIDES = frozenset(
    (
        b"x-http-method-override",
        b"x-http-method",
        b"x-method-override",
        b"x-http-override",
        b"x-tunneled-method",
        b"x-restli-method",
        b"x-rest-method",
        b"x-http-verb",
        # Feathers: any other method of a service, at a POST.
        b"x-service-method",
        # An action of any page, at any path: Next.js, React Router, Qwik City.
        b"next-action",
        b"rsc-action-id",
        b"x-qrl",
        b"x-original-method",
        b"x-original-url",
        b"x-original-path",
        b"x-rewrite-url",
        b"x-rewrite-uri",
        b"x-rewrite-path",
        b"x-override-url",
        b"x-override-uri",
        b"x-path-override",
        b"x-http-path-override",
        b"x-http-destinationurl",
        b"x-proxy-url",
        b"x-request-uri",
        b"request-uri",
        b"unencoded-url",
        b"x-unencoded-url",
        # WSGI's own (PEP 3333) where a server takes them from a field, as gunicorn does of proxies on its machine.
        b"script-name",
        b"x-script-name",
        b"path-info",
        b"x-path-info",
        b"path-translated",
    )
)

# October and Winter CMS run the handler that `X-October-Request-Handler` names, of any page; their like, what is called
# alike. Frameworks have their own `X-Something-Method-Override`.
_OVERRIDING_ENDS = (b"-request-handler", b"-ajax-handler", b"-method-override", b"-method-overrides")

ANONYMOUS = "anonymous"
DEFAULT_TENANT = "default"


@dataclass(frozen=True, slots=True)
class Caller:
    """The principal behind a request. Without configured principals every caller is `anonymous`."""

    principal: str = ANONYMOUS
    tenant: str = DEFAULT_TENANT
    rights: Rights = EVERYTHING

    def forbidden(self, resource: str) -> Refused | None:
        """The refusal of whatever touches a resource that is not this principal's."""
        if self.rights.cover(resource):
            return None
        detail = f"Nothing was done: principal {self.principal} has no right to this resource."
        return Refused(FORBIDDEN, f"{detail} Stop; an operator has to grant it first.", Facts(resource=resource))


NOBODY = Caller()


@frozen
class Control:
    """The control headers of one request, each at most once and each well-formed, but the token not yet parsed."""

    token: str | None
    holder: str | None
    sequence: int | None
    if_revision: int | None
    authorization: str | None


def is_control_header(name: bytes) -> bool:
    """Whether the field (lower case) belongs to the gateway: never forwarded, whatever is in it.

    Some servers read `Fencing_Token` and `Fencing.Token` as `Fencing-Token`.
    """
    plain = plain_name(name)
    return plain.startswith(b"fencing-") or plain == b"fencegate-key"


def overrides_request(headers: Headers) -> Refused | None:
    """The refusal of a field by which some servers take another method or target than the request's.

    Such a request is two: a read that deletes, or a write under another rule's name.
    """
    for name in (*headers.names(), *headers.respelled()):
        if name in _OVERRIDES or name.endswith(_OVERRIDING_ENDS):
            break
    else:
        return None
    shown = next(filter(_overrides, headers.names())).decode("latin-1").title()
    detail = f"Not forwarded: {shown} would make another request of this one. Send the one that is meant, without it."
    return Refused(AMBIGUOUS_TARGET, detail, OF_NAMES)


def _overrides(name: bytes) -> bool:
    plain = plain_name(name)
    return plain in _OVERRIDES or plain.endswith(_OVERRIDING_ENDS)


def read_control(headers: Headers) -> Control | Refused:
    """Read the control headers, or refuse those that are doubled or malformed. Nothing else is looked at."""
    for name in CONTROL_HEADERS if headers.repeated() else ():
        if len(headers.all(name)) > 1:
            shown = name.decode("ascii").title()
            decision = TOKEN_MALFORMED if name == b"fencing-token" else HEADER_MALFORMED
            return Refused(decision, f"{shown} was sent {len(headers.all(name))} times; send it once.")
    token = headers.first(b"fencing-token")
    holder = _visible(headers.first(b"fencing-holder"))
    if isinstance(holder, Refused):
        return holder
    sequence = _counter(headers, b"fencing-sequence")
    if isinstance(sequence, Refused):
        return sequence
    if_revision = _counter(headers, b"fencing-if-revision")
    if isinstance(if_revision, Refused):
        return if_revision
    authorization = headers.all(b"authorization")
    return Control(
        None if token is None else token.decode("latin-1"),
        holder,
        sequence,
        if_revision,
        authorization[0].decode("latin-1") if len(authorization) == 1 else None,
    )


def parse_holder(text: str) -> str | None:
    """A holder's name: 1 to 255 characters, none of them a control character; None if it is not one."""
    return text if 0 < len(text) <= _HOLDER_LENGTH and text.isprintable() else None


def parse_idempotency_key(value: bytes) -> str | None:
    """An idempotency key: 1 to 255 visible ASCII characters; None if it is not one.

    Bare, or a quoted string of RFC 8941 as the IETF draft has it: `"abc"` and `abc` are one key.
    """
    spelled = _KEY.fullmatch(value)
    if spelled is None:
        return None
    quoted, bare = spelled.groups()
    key = bare if quoted is None else _ESCAPED.sub(rb"\1", quoted)
    return key.decode("ascii") if 0 < len(key) <= _KEY_LENGTH else None


def _visible(value: bytes | None) -> str | Refused | None:
    if value is None:
        return None
    try:
        holder = parse_holder(value.decode("utf-8"))
    except UnicodeDecodeError:
        holder = None
    if holder is None:
        # A bare epoch and its holder are one token in two headers: an empty holder makes the token malformed.
        return Refused(TOKEN_MALFORMED, f"Fencing-Holder must be 1 to {_HOLDER_LENGTH} printable characters.")
    return holder


def _counter(headers: Headers, name: bytes) -> int | Refused | None:
    value = headers.first(name)
    if value is None:
        return None
    number = parse_u64(value.decode("latin-1"))
    if number is None:
        shown = name.decode("ascii").title()
        return Refused(HEADER_MALFORMED, f"{shown} must be digits only, at most 2^64-1, without a leading zero.")
    return number
