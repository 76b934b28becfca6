"""`authority: {signed: ...}`: where the keys of claims come from, and which algorithms they are for."""

from dataclasses import replace
from functools import partial

from gateway.claims.fault import KeyFault
from gateway.core.rule import KeyFile, KeyUrl, SharedSecret, Signed
from gateway.policy import schema
from gateway.policy.compile.tls import compile_tls
from gateway.policy.finding import Wrong
from gateway.policy.report import Report
from gateway.policy.secret import Secrets
from gateway.policy.source import Path
from gateway.policy.url import parse_keys_url

# RFC 7518, section 3.2: as long as the digest. A shorter one can be guessed offline from a single claim.
_SECRET_BYTES = 32


def compile_signed(report: Report, path: Path, shape: schema.Rule, secrets: Secrets) -> Signed | None:
    """How the claims of a rule are verified; None where its authority is another one, or with the faults noted. `path`
    is that of the rule."""
    if not isinstance(shape.authority, schema.SignedAuthority):
        return None
    path, signed = (*path, "authority", "signed"), shape.authority.signed
    report.take_each((*path, "algorithms"), signed.algorithms, str)
    _check_kinds(report, (*path, "algorithms"), signed)
    keys = _keys(report, (*path, "keys"), signed, secrets)
    return None if keys is None else Signed(keys, tuple(signed.algorithms), signed.audience)


def _check_kinds(report: Report, path: Path, signed: schema.Signed) -> None:
    """A public key that is taken for a secret lets everybody sign: HS256 goes with a secret, and a secret with it."""
    for number, algorithm in enumerate(signed.algorithms):
        if signed.keys.secret is not None and algorithm != "HS256":
            report.add((*path, number), f"`{algorithm}` wants a public key; write `HS256`, or keys of `file` or `jwks`")
        elif signed.keys.secret is None and algorithm == "HS256":
            report.add((*path, number), "`HS256` wants `keys: {secret: ...}`; write it, or another algorithm")


def _keys(
    report: Report, path: Path, signed: schema.Signed, secrets: Secrets
) -> KeyFile | SharedSecret | KeyUrl | None:
    keys = signed.keys
    if [keys.file, keys.secret, keys.jwks].count(None) != 2:
        report.add(path, "write one of `file: /path`, `secret: ${env:NAME}` and `jwks: https://...`")
        return None
    if keys.ca is not None and keys.jwks is None:
        report.add((*path, "ca"), "`ca` is for `jwks` alone; remove it")
    if keys.file is not None:
        return report.take((*path, "file"), _file(keys.file, signed, secrets))
    if keys.secret is not None:
        return report.take((*path, "secret"), _secret(secrets.expand(keys.secret)))
    assert keys.jwks is not None
    url = report.take((*path, "jwks"), parse_keys_url(keys.jwks))
    if url is None or keys.ca is None:
        return url
    if url.origin.scheme == "http":
        report.add((*path, "ca"), "`ca` says nothing for an http URL; write https in `jwks`, or remove it")
    return replace(url, tls=compile_tls(report, path, schema.Tls(ca=keys.ca), secrets))


def _secret(text: str | Wrong) -> SharedSecret | Wrong:
    if isinstance(text, Wrong):
        return text
    secret = text.encode("utf-8", "surrogateescape")
    if len(secret) < _SECRET_BYTES:
        return Wrong(f"this secret has {len(secret)} bytes; give {_SECRET_BYTES} random ones or more")
    return SharedSecret(secret)


def _file(path: str, signed: schema.Signed, secrets: Secrets) -> KeyFile | Wrong:
    """Watched, so that a worker that is started later knows the last good keys, and none that were withdrawn."""
    held = secrets.documents((path,), partial(_no_keys, path, signed))
    return held if isinstance(held, Wrong) else KeyFile(path, held[0])


def _no_keys(path: str, signed: schema.Signed) -> Wrong | None:
    # Not at the top: the cryptography behind it takes longer to load than all the rest of a command that needs none.
    from gateway.claims.keyfile import read_key_file

    read = read_key_file(path)
    if isinstance(read, KeyFault):
        return Wrong(f"{path} has no keys to verify claims with: {read.why}")
    if not any(read.fitting(algorithm, None) for algorithm in signed.algorithms):
        return Wrong(f"no key in {path} is for {' or '.join(signed.algorithms)}; write the algorithm of its key")
    return None
