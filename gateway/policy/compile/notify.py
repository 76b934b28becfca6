"""`notify`: where people are told of an upstream's events, of which, and with which secrets that is signed."""

import base64
import binascii

from gateway.core.rule import Endpoint
from gateway.policy import schema
from gateway.policy.compile.tls import compile_tls
from gateway.policy.finding import Wrong
from gateway.policy.report import Report
from gateway.policy.secret import Secrets
from gateway.policy.source import Path
from gateway.policy.url import Place, parse_endpoint_url

# Standard Webhooks 1.0.0, "Signature scheme": the form, and 192 to 512 bits.
_PREFIX = "whsec_"
_BYTES = range(24, 65)


def compile_notify(report: Report, shape: schema.Notify | None, secrets: Secrets) -> Endpoint | None:
    """None where the policy has no `notify`, or with the faults noted."""
    if shape is None:
        return None
    path: Path = ("notify",)
    report.take_each((*path, "events"), shape.events, str)
    place = report.take((*path, "url"), _place(secrets.expand(shape.url)))
    secret = (*path, "secret")
    signing = report.take_each(secret, shape.secret, lambda text: _secret(secrets.expand(text)), "this secret")
    tls = compile_tls(report, path, schema.Tls(ca=shape.ca), secrets)
    if place is None:
        return None
    if shape.ca is not None and place.origin.scheme == "http":
        report.add((*path, "ca"), "`ca` says nothing for an http URL; write https in `url`, or remove it")
    return Endpoint(place.origin, place.target, signing, tuple(shape.events), tls)


def _place(url: str | Wrong) -> Place | Wrong:
    return url if isinstance(url, Wrong) else parse_endpoint_url(url)


def _secret(text: str | Wrong) -> bytes | Wrong:
    if isinstance(text, Wrong):
        return text
    wanted = f"write `{_PREFIX}` and {_BYTES[0]} to {_BYTES[-1]} random bytes in base64, of `openssl rand -base64 32`"
    try:
        secret = base64.b64decode(text.removeprefix(_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        return Wrong(f"this is no secret of a webhook; {wanted}")
    if not text.startswith(_PREFIX) or len(secret) not in _BYTES:
        return Wrong(f"this is no secret of a webhook; {wanted}")
    return secret
