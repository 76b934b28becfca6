"""A listener's TLS files: usable ones make a context, others say what is wrong with them."""

import ssl
from pathlib import Path

import pytest

from gateway.serve import tls
from gateway.serve.tls import TlsFault, TlsFiles
from tests.certificates import Authority


def test_usable_files_make_a_context(tmp_path: Path) -> None:
    """TLS 1.2 at least; clients show a certificate only where their authorities are named."""
    authority = Authority(tmp_path)
    cert, key = map(str, authority.issue("gateway"))

    plain, mutual = TlsFiles(cert, key).context(), TlsFiles(cert, key, str(authority.ca)).context()

    assert plain.minimum_version == ssl.TLSVersion.TLSv1_2
    assert (plain.verify_mode, mutual.verify_mode) == (ssl.CERT_NONE, ssl.CERT_REQUIRED)


@pytest.mark.parametrize("gone", [0, 2], ids=["a certificate", "authorities"])
def test_a_file_that_is_replaced_just_now_is_a_fault(
    gone: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that was there a moment ago ends nothing: it is looked at again."""
    authority = Authority(tmp_path)
    files = [*map(str, authority.issue("gateway")), str(authority.ca)]
    monkeypatch.setattr(tls, "_readable", lambda _: Path(files[gone]).unlink(missing_ok=True))

    with pytest.raises(TlsFault, match="no such file"):
        TlsFiles(*files).context()


@pytest.mark.parametrize(
    ("cert", "key", "client_ca", "says"),
    [
        ("absent", "a.key", None, "absent cannot be read"),
        ("a.crt", "absent", None, "absent cannot be read"),
        ("a.crt", "b.key", None, "the key that belongs to it"),
        ("a.key", "a.key", None, "are not a certificate and its private key"),
        ("empty", "a.key", None, "are not a certificate and its private key"),
        ("a.crt", "a.key", "absent", "absent cannot be read"),
        ("a.crt", "a.key", "empty", "holds no certificate authority"),
    ],
    ids=["no certificate", "no key", "another key", "a key as certificate", "empty", "no authorities", "empty ones"],
)
def test_what_is_wrong_is_said(cert: str, key: str, client_ca: str | None, says: str, tmp_path: Path) -> None:
    """Each message names the file and what to give instead."""
    authority = Authority(tmp_path)
    authority.issue("a")
    authority.issue("b")
    (tmp_path / "empty").touch()
    ca = None if client_ca is None else str(tmp_path / client_ca)

    with pytest.raises(TlsFault, match=says):
        TlsFiles(str(tmp_path / cert), str(tmp_path / key), ca).context()
