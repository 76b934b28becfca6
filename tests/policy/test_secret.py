"""Credentials from the environment and from files."""

import os
from pathlib import Path

import pytest

from gateway.policy.finding import Wrong
from gateway.policy.secret import Secrets, readable_file, stamp_of


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


def test_a_file_that_is_read_elsewhere_is_watched_too(tmp_path: Path) -> None:
    """Certificates are; one that is missing as well, because its coming is a change."""
    file, missing = tmp_path / "ca.pem", tmp_path / "none.pem"
    file.write_text("x")
    secrets = Secrets({})

    seen = [secrets.watch(str(path)) for path in (file, missing)]

    assert seen == [stamp_of(file), None]
    assert secrets.stamps == {str(file): seen[0], str(missing): None}
    assert secrets.contents == {}


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


def test_a_certificate_must_be_readable_at_load(tmp_path: Path) -> None:
    """Or the first write would find out."""
    (tmp_path / "ca.pem").write_text("")

    assert readable_file(str(tmp_path / "ca.pem")) == str(tmp_path / "ca.pem")
    assert isinstance(readable_file(str(tmp_path / "none.pem")), Wrong)
