"""Credentials from the environment and from files."""

import os
from pathlib import Path

import pytest

from gateway.policy.finding import Wrong
from gateway.policy.secret import Secrets, stamp_of


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("plain", "plain"),
        ("Bearer ${env:TOKEN}", "Bearer s3cret"),
        ("${env:TOKEN}:${env:TOKEN}", "s3cret:s3cret"),
        ("${file:FILE}", "in a file"),
        ("$TOKEN", "$TOKEN"),
    ],
    ids=["literal", "environment", "two", "file", "no reference"],
)
def test_references_are_replaced(tmp_path: Path, text: str, value: str) -> None:
    """A file's last line break is not part of what it holds."""
    (tmp_path / "token").write_text("in a file\r\n")

    assert Secrets({"TOKEN": "s3cret"}).expand(text.replace("FILE", str(tmp_path / "token"))) == value


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("${env:NONE}", "NONE is not set"),
        ("${env:EMPTY}", "EMPTY is not set, or empty"),
        ("${env:}", "only `${env:NAME}`"),
        ("${vault:x}", "only `${env:NAME}`"),
        ("${file:token}", "is not an absolute path"),
        ("${file:/nowhere/token}", "cannot be read"),
        ("${file:/nowhere\0token}", "NUL"),
        ("a ${env:TOKEN", "never closed"),
    ],
)
def test_what_cannot_be_replaced_says_why(text: str, says: str) -> None:
    """And shows no value of any secret."""
    wrong = Secrets({"EMPTY": "", "TOKEN": "s3cret"}).expand(text)

    assert isinstance(wrong, Wrong)
    assert says in wrong.message
    assert "s3cret" not in wrong.message


def test_each_file_is_read_once(tmp_path: Path) -> None:
    """One that is rotated meanwhile does not put two credentials into one set of policies."""
    file, secrets = tmp_path / "token", Secrets({})
    file.write_text("first")
    before = stamp_of(file)
    text = f"${{file:{file}}}"
    taken = [secrets.expand(text)]
    file.write_text("another one")
    taken.append(secrets.expand(text))

    assert taken == ["first", "first"]
    assert secrets.stamps == {str(file): before}


def unfaulty() -> None:
    """Nothing is wrong with what was read."""


def test_a_document_needs_a_name_that_a_file_can_have() -> None:
    """The operating system would not even be asked for it."""
    assert isinstance(Secrets({}).documents(("/etc/ca.pem", "/etc\0key.pem"), unfaulty), Wrong)


def test_documents_are_watched_and_kept(tmp_path: Path) -> None:
    """Byte for byte; one that is missing is watched as well, because its coming is a change."""
    file, missing = tmp_path / "ca.pem", tmp_path / "none.pem"
    file.write_bytes(b"\xe9\n")
    secrets = Secrets({})

    assert secrets.documents((str(file),), unfaulty) == (b"\xe9\n",)
    assert isinstance(secrets.documents((str(missing),), unfaulty), Wrong)

    assert secrets.stamps == {str(file): stamp_of(file), str(missing): None}
    assert len(secrets.contents) == 1


def test_documents_that_are_unusable_now_are_what_they_were(tmp_path: Path) -> None:
    """All of those that are of use only together; without any that are kept it is said what is wrong."""
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    cert.write_bytes(b"cert"), key.write_bytes(b"key")
    names = (str(cert), str(key))
    first = Secrets({})
    assert first.documents(names, unfaulty) == (b"cert", b"key")
    cert.write_bytes(b"ce")
    wrong = Wrong("half of it")

    assert Secrets({}, first.contents).documents(names, lambda: wrong) == (b"cert", b"key")
    assert Secrets({}).documents(names, lambda: wrong) is wrong


def test_documents_that_change_while_they_are_read_are_not_taken(tmp_path: Path) -> None:
    """A certificate of one moment and the key of another are no pair."""
    file = tmp_path / "cert.pem"
    file.write_bytes(b"first")

    def rotated() -> None:
        file.write_bytes(b"the second")

    assert isinstance(Secrets({}).documents((str(file),), rotated), Wrong)


def test_a_stamp_tells_a_file_from_the_one_before(tmp_path: Path) -> None:
    """Also one of the same length and time, under another name before; a file that is not there has none."""
    file, other = tmp_path / "token", tmp_path / "other"
    for path in (file, other):
        path.write_text("same")
        os.utime(path, (1, 1))
    before = stamp_of(file)

    other.replace(file)

    assert before is not None
    assert stamp_of(file) not in (None, before)
    assert stamp_of(other) is None
