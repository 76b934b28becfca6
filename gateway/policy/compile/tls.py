"""The files by which an `https` host is trusted, and those that are shown to it: usable at load, and watched."""

import ssl
from functools import partial

from gateway.core.rule import Pem, Tls
from gateway.policy import schema
from gateway.policy.finding import Wrong
from gateway.policy.report import Report
from gateway.policy.secret import Secrets
from gateway.policy.source import Path


def compile_tls(report: Report, path: Path, shape: schema.Tls, secrets: Secrets) -> Tls:
    """What stands at `path`. What is wrong with a file shows at load, and not at the first write; from then on what
    it held counts, whatever becomes of it."""
    if shape.key and not shape.cert:
        report.add((*path, "key"), "a key needs its certificate; write `cert: /path` beside it")
    trusted = shown = None
    if shape.ca is not None:
        trusted = report.take((*path, "ca"), secrets.documents((shape.ca,), partial(_no_authorities, shape.ca)))
    if shape.cert is not None:
        files = (shape.cert,) if shape.key is None else (shape.cert, shape.key)
        shown = report.take((*path, "cert"), secrets.documents(files, partial(_no_chain, shape.cert, shape.key)))
    if trusted is None and shown is None:
        return Tls(shape.verify, shape.ca, shape.cert, shape.key)
    ca = None if trusted is None else trusted[0]
    cert, key = (*(shown or ()), None, None)[:2]
    return Tls(shape.verify, shape.ca, shape.cert, shape.key, Pem(ca, cert, key))


def _no_authorities(file: str) -> Wrong | None:
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(file)
    except ssl.SSLError:
        return Wrong(f"{file} holds no certificate authority in PEM; name a file that does")
    except OSError as error:
        return _unreadable(file, error)
    return None


def _no_chain(cert: str, key: str | None) -> Wrong | None:
    try:
        # Without the callback OpenSSL would ask for the pass phrase on the terminal, and wait.
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_cert_chain(cert, key, password=lambda: "")
    except (ssl.SSLError, ValueError):
        files = f"{cert} and {key} are" if key else f"{cert} is"
        return Wrong(f"{files} not a certificate and its private key without a pass phrase in PEM; name some that are")
    except OSError as error:
        return _unreadable(f"{cert} or {key}" if key else cert, error)
    return None


def _unreadable(file: str, error: OSError) -> Wrong:
    return Wrong(f"{file} cannot be read ({error.strerror}); name a file that the gateway can read")
