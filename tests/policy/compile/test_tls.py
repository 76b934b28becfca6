"""The files by which an upstream is trusted, and those it is shown: usable, or the set in force stays."""

from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)

from gateway.policy.reload import PolicyHolder, Reloaded
from tests.certificates import Authority
from tests.policy.asking import one_rule


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path / "tls")


@pytest.fixture
def holder(tmp_path: Path, authority: Authority) -> PolicyHolder:
    cert, key = authority.issue("gateway")
    tls = f"tls: {{ca: {authority.ca}, cert: {cert}, key: {key}}}\n"
    (tmp_path / "policy.yaml").write_text(one_rule().replace("http://", "https://") + tls)
    opened = PolicyHolder.open(tmp_path, {})
    assert isinstance(opened, PolicyHolder)
    return opened


def looks(holder: PolicyHolder) -> list[bool]:
    return [holder.changed(), holder.changed()]


def test_a_renewed_certificate_is_a_change(holder: PolicyHolder, authority: Authority) -> None:
    """The upstream is another value then, by which the sender knows to connect anew; an unchanged one is not."""
    before = holder.current.upstreams[0].tls
    assert looks(holder) == [False, False]
    assert isinstance(holder.reload(), Reloaded)
    assert holder.current.upstreams[0].tls == before

    authority.issue("gateway")

    assert looks(holder) == [False, True]
    assert isinstance(holder.reload(), Reloaded)
    assert holder.current.upstreams[0].tls != before


def test_a_certificate_whose_key_is_yet_to_come_is_not_taken(holder: PolicyHolder, authority: Authority) -> None:
    """What is in force stays until both are there."""
    cert, key = authority.directory / "gateway.crt", authority.directory / "gateway.key"
    before, old_key = holder.current, key.read_bytes()
    authority.issue("gateway")
    new_key = key.read_bytes()
    key.write_bytes(old_key)

    findings = holder.reload()

    assert isinstance(findings, tuple)
    assert f"{cert} and {key} are not a certificate and its private key" in findings[0].message
    assert holder.current is before
    key.write_bytes(new_key)
    assert looks(holder) == [False, True]
    assert isinstance(holder.reload(), Reloaded)


def test_a_key_with_a_pass_phrase_is_refused(holder: PolicyHolder, authority: Authority) -> None:
    """Nobody is asked for it on the terminal."""
    key = authority.directory / "gateway.key"
    plain = load_pem_private_key(key.read_bytes(), None)
    key.write_bytes(plain.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"secret")))

    findings = holder.reload()

    assert isinstance(findings, tuple)
    assert "without a pass phrase" in findings[0].message


@pytest.mark.parametrize("content", [b"", b"nonsense", None], ids=["empty", "no PEM", "gone"])
def test_authorities_that_are_none_are_not_taken(
    holder: PolicyHolder, authority: Authority, content: bytes | None
) -> None:
    """To trust nobody would stop all writes, to trust everybody none."""
    authority.ca.unlink() if content is None else authority.ca.write_bytes(content)

    findings = holder.reload()

    assert isinstance(findings, tuple)
    assert str(authority.ca) in findings[0].message


def test_a_worker_that_is_started_while_files_are_broken_has_what_they_held(
    holder: PolicyHolder, authority: Authority, tmp_path: Path
) -> None:
    """All of a pair is as old as its other half; without anything that is kept the files are at fault."""
    cert, key = authority.directory / "gateway.crt", authority.directory / "gateway.key"
    before = holder.current.upstreams[0].tls
    authority.ca.write_bytes(authority.ca.read_bytes()[:100])
    key.unlink()
    authority.issue("another")[0].replace(cert)

    started = PolicyHolder.open(tmp_path, {}, holder.credentials)

    assert isinstance(started, PolicyHolder)
    assert started.current.upstreams[0].tls == before
    assert isinstance(PolicyHolder.open(tmp_path, {}), tuple)
