"""The files by which an `https` host is trusted, and those that are shown to it: usable at load, and watched."""

import ssl

from gateway.core.rule import Tls
from gateway.policy import schema
from gateway.policy.finding import Wrong
from gateway.policy.report import Report
from gateway.policy.secret import Secrets, readable_file
from gateway.policy.source import Path


def compile_tls(report: Report, path: Path, shape: schema.Tls, secrets: Secrets) -> Tls:
    """What stands at `path`. What is wrong with a file shows at load, and not at the first write."""
    if shape.key and not shape.cert:
        report.add((*path, "key"), "a key needs its certificate; write `cert: /path` beside it")
    named = (("ca", shape.ca), ("cert", shape.cert), ("key", shape.key))
    files = {name: file for name, file in named if file is not None}
    # Before they are read: a file that changes meanwhile is another one at the next look.
    stamps = tuple(secrets.watch(file) for file in files.values())
    readable = [report.take((*path, name), readable_file(file)) for name, file in files.items()]
    if None not in readable:
        if shape.ca is not None:
            report.take((*path, "ca"), _authorities(shape.ca))
        if shape.cert is not None:
            report.take((*path, "cert"), _chain(shape.cert, shape.key))
    return Tls(shape.verify, shape.ca, shape.cert, shape.key, stamps)


def _authorities(file: str) -> str | Wrong:
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(file)
    except ssl.SSLError:
        return Wrong(f"{file} holds no certificate authority in PEM; name a file that does")
    return file


def _chain(cert: str, key: str | None) -> str | Wrong:
    try:
        # Without the callback OpenSSL would ask for the pass phrase on the terminal, and wait.
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_cert_chain(cert, key, password=lambda: "")
    except (ssl.SSLError, ValueError):
        files = f"{cert} and {key} are" if key else f"{cert} is"
        return Wrong(f"{files} not a certificate and its private key without a pass phrase in PEM; name some that are")
    return cert
