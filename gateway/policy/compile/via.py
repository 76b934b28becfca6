"""`via`, and the fields that it, `forwarded` and `capabilities` leave no room for."""

import re
from collections.abc import Iterator

from gateway.core.field_name import plain_name
from gateway.core.forwarded import REPLACED
from gateway.policy import schema
from gateway.policy.finding import Wrong
from gateway.policy.report import Report
from gateway.policy.source import Path

# RFC 9110, section 7.6.3: a pseudonym (a token), or a host with its port.
_RECEIVED_BY = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+(?::[0-9]{1,5})?")


def compile_via(report: Report, shape: schema.Policy) -> bytes | None:
    """The name by which the gateway is known in `Via`; None where the policy gives none, or with the fault noted."""
    _check_once(report, shape)
    return None if shape.via is None else report.take(("via",), _received_by(shape.via))


def _received_by(name: str) -> bytes | Wrong:
    if not _RECEIVED_BY.fullmatch(name):
        return Wrong(f"`{name}` cannot stand in Via; write a name without blanks, such as `fencegate`")
    return name.encode("ascii")


def _check_once(report: Report, shape: schema.Policy) -> None:
    """An upstream that gets one of these twice may take either."""
    told = {} if shape.forwarded == "trusted" else dict.fromkeys(REPLACED, f"forwarded: {shape.forwarded}")
    if shape.via is not None:
        told[b"via"] = "via"
    for path, header in _fields(shape):
        name = plain_name(header.encode("utf-8"))
        if name in told:
            report.add(path, f"`{told[name]}` sets `{header}`; remove one of the two")
        elif path[0] == "capabilities":
            told[name] = ".".join(map(str, path))


def _fields(shape: schema.Policy) -> Iterator[tuple[Path, str]]:
    """What else the gateway sets, by name. Two credentials of one name are found where they are compiled."""
    epoch, key = shape.capabilities.fencing_token, shape.capabilities.idempotency_key
    if epoch is not None:
        yield ("capabilities", "fencing_token"), epoch
    if key is not None:
        yield ("capabilities", "idempotency_key"), key.header
    yield from ((("credentials", at, "header"), one.header) for at, one in enumerate(shape.credentials))
