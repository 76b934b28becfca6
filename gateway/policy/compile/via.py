"""`via`, and the credentials that it and `forwarded` leave no room for."""

import re

from gateway.core.field_name import plain_name
from gateway.core.forwarded import REPLACED
from gateway.policy import schema
from gateway.policy.finding import Wrong
from gateway.policy.report import Report

# RFC 9110, section 7.6.3: a pseudonym (a token), or a host with its port.
_RECEIVED_BY = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+(?::[0-9]{1,5})?")


def compile_via(report: Report, shape: schema.Policy) -> bytes | None:
    """The name by which the gateway is known in `Via`; None where the policy gives none, or with the fault noted."""
    _check_credentials(report, shape)
    return None if shape.via is None else report.take(("via",), _received_by(shape.via))


def _received_by(name: str) -> bytes | Wrong:
    if not _RECEIVED_BY.fullmatch(name):
        return Wrong(f"`{name}` cannot stand in Via; write a name without blanks, such as `fencegate`")
    return name.encode("ascii")


def _check_credentials(report: Report, shape: schema.Policy) -> None:
    """An upstream that gets one of these twice may take either."""
    for at, credential in enumerate(shape.credentials):
        name = plain_name(credential.header.encode("utf-8"))
        if shape.forwarded != "trusted" and name in REPLACED:
            setting = f"forwarded: {shape.forwarded}"
        elif shape.via is not None and name == b"via":
            setting = "via"
        else:
            continue
        report.add(("credentials", at, "header"), f"`{setting}` sets `{credential.header}`; remove one of the two")
