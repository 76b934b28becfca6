"""`principals.yaml` compiled. What is wrong with one is shown by `tests/cases/principals*.case`."""

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from gateway.core.quota import Quota
from gateway.core.request import Headers
from gateway.policy.load import load_policies
from gateway.policy.principals import Principals
from gateway.policy.ruleset import RuleSet

POLICY = "upstream: api\nurl: http://127.0.0.1:9000\n"
KEY = "ada-has-a-key-of-some-length"
HASHED = "sha256:" + hashlib.sha256(KEY.encode()).hexdigest()


def load(directory: Path, text: str, environ: Mapping[str, str] | None = None) -> Principals | list[str]:
    (directory / "api.yaml").write_text(POLICY)
    (directory / "principals.yaml").write_text(text)
    loaded = load_policies(directory, environ or {})
    if isinstance(loaded, RuleSet):
        return loaded.principals
    return [str(finding).replace(f"{directory}/", "") for finding in loaded]


def one(key: str, more: str = "resources: report/*") -> str:
    return f"principals: [{{name: ada, key: '{key}', {more}}}]"


@pytest.mark.parametrize("key", [HASHED, HASHED.upper().replace("SHA", "sha"), "${env:KEY}", "${env:HASHED}"])
def test_a_key_comes_hashed_or_from_elsewhere(tmp_path: Path, key: str) -> None:
    """In the file it is its digest only."""
    principals = load(tmp_path, one(key), {"KEY": KEY, "HASHED": HASHED})

    assert isinstance(principals, Principals)
    caller = principals.identify(Headers(((b"Fencegate-Key", KEY.encode()),)))
    assert caller == principals.named("ada")


@pytest.mark.parametrize(
    "key", ["fifteen-letters", "a key with blanks in it", "schlüssel-schlüssel", "x" * 513, os.fsdecode(b"\xff" * 20)]
)
def test_a_key_that_could_be_guessed_or_not_be_sent_is_refused(tmp_path: Path, key: str) -> None:
    """And is not shown."""
    wrong = load(tmp_path, one("${env:KEY}"), {"KEY": key})

    assert isinstance(wrong, list)
    assert [line.partition(": ")[0] for line in wrong] == ["principals.yaml:1:31"]
    assert key not in wrong[0]


def test_without_a_word_there_is_no_right(tmp_path: Path) -> None:
    """No takeover, the tenant `default`, no quota."""
    principals = load(tmp_path, one(HASHED))

    assert isinstance(principals, Principals)
    ada = principals.named("ada")
    assert ada is not None
    assert (ada.tenant, ada.rights.takeover, ada.rights.quota) == ("default", False, None)
    assert ada.rights.cover("report/7") and not ada.rights.cover("mail/7")


def test_who_only_approves_writes_nothing(tmp_path: Path) -> None:
    """Four eyes: it has no resource, and names those of others that it approves."""
    principals = load(tmp_path, one(HASHED, "resources: [], approve: [report/*]"))

    assert isinstance(principals, Principals)
    ada = principals.named("ada")
    assert ada is not None
    assert ada.rights.may_approve("report/7") and not ada.rights.may_approve("mail/7")
    assert not ada.rights.cover("report/7")


def test_who_approves_what_it_writes_says_so_by_a_word(tmp_path: Path) -> None:
    """`true` is of its resources, and so of none where it has none."""
    principals = load(tmp_path, one(HASHED, "resources: report/*, approve: true"))

    assert isinstance(principals, Principals)
    ada = principals.named("ada")
    assert ada is not None
    assert ada.rights.may_approve("report/7") and not ada.rights.may_approve("mail/7")
    [fault] = load(tmp_path, one(HASHED, "resources: [], approve: true"))
    assert "write such as `approve: [account/*]`" in str(fault)


def test_a_quota_knows_whose_it_is(tmp_path: Path) -> None:
    """What it does not limit is not counted."""
    principals = load(tmp_path, one(HASHED, "resources: '**', quota: {leases: 2}"))

    assert isinstance(principals, Principals)
    ada = principals.named("ada")
    assert ada is not None
    assert ada.rights.quota == Quota("ada", leases=2)


def test_principals_alone_are_no_policies(tmp_path: Path) -> None:
    """A directory without a policy is an error, whoever may call."""
    (tmp_path / "principals.yaml").write_text(one(HASHED))

    loaded = load_policies(tmp_path, {})

    assert isinstance(loaded, tuple)
    assert "no policy file" in loaded[0].message
