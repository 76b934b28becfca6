"""The set in force is replaced as a whole, or stays."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.core.decision import UNAUTHENTICATED, Refused
from gateway.core.request import Headers
from gateway.policy.reload import PolicyHolder, Reloaded
from tests.policy.asking import HEAD, one_rule


@pytest.fixture
def holder(tmp_path: Path) -> PolicyHolder:
    (tmp_path / "policy.yaml").write_text(one_rule())
    opened = PolicyHolder.open(tmp_path, {})
    assert isinstance(opened, PolicyHolder)
    return opened


def test_good_files_come_into_force(holder: PolicyHolder, tmp_path: Path) -> None:
    """A reload says what is in force now."""
    (tmp_path / "more.yaml").write_text(
        "upstream: more\nurl: http://x\nmount: {path: /more}\nwrites: [{name: a, match: PUT /more, resource: m}]\n"
    )

    assert holder.reload() == Reloaded(2, 2)
    assert [upstream.name for upstream in holder.current.upstreams] == ["more", "api"]


def test_a_reload_tells_whose_tenant_is_gone(holder: PolicyHolder, tmp_path: Path) -> None:
    """Principals that come in are of tenants of their own; a renamed one leaves its intents behind."""
    told = []
    for tenant in ("north", "north", "north-2"):
        line = f'  - {{name: ada, key: "sha256:{"a" * 64}", tenant: {tenant}, resources: ["**"]}}\n'
        (tmp_path / "principals.yaml").write_text(f"principals:\n{line}")
        reloaded = holder.reload()
        assert isinstance(reloaded, Reloaded)
        told.append(reloaded.tenants_gone)

    assert told == [("default",), (), ("north",)]


def half(path: Path) -> None:
    text = path.read_text()
    path.write_text(text[: len(text) * 2 // 3])


BAD: dict[str, Callable[[Path], object]] = {
    "syntax error": lambda path: path.write_text("writes: ["),
    "unknown field": lambda path: path.write_text(one_rule() + "    fense: {}\n"),
    "one bad rule of two": lambda path: path.write_text(one_rule() + "  - {name: b, match: PUT, resource: r}\n"),
    "empty": lambda path: path.write_text(""),
    "half-written": half,
    "deleted": Path.unlink,
    "a directory in its place": lambda path: (path.unlink(), path.mkdir()),
    "the whole directory deleted": lambda path: shutil.rmtree(path.parent),
}


@pytest.mark.parametrize("damage", BAD.values(), ids=BAD.keys())
def test_bad_files_leave_the_old_set_in_force(
    holder: PolicyHolder, tmp_path: Path, damage: Callable[[Path], object]
) -> None:
    """Whatever has become of the files, the running set stays, and the findings say why."""
    before = holder.current
    damage(tmp_path / "policy.yaml")

    answer = holder.reload()

    assert isinstance(answer, tuple)
    assert answer
    assert holder.current is before


def test_the_first_load_fails_with_findings(tmp_path: Path) -> None:
    """There is no old set to fall back on at the start."""
    assert isinstance(PolicyHolder.open(tmp_path, {}), tuple)


def test_a_change_shows_once_it_has_settled(holder: PolicyHolder, tmp_path: Path) -> None:
    """A look that finds the files moving waits for the next one, so that half a file is not read."""
    assert not holder.changed()

    (tmp_path / "policy.yaml").write_text(HEAD)
    assert not holder.changed()
    (tmp_path / "policy.yaml").write_text(HEAD + "writes: []\n")
    assert not holder.changed()

    assert holder.changed()
    assert holder.reload() == Reloaded(1, 0)
    assert not holder.changed()


def test_a_failed_reload_is_not_tried_again_before_the_files_change(holder: PolicyHolder, tmp_path: Path) -> None:
    """A bad file is reported once, not once a second."""
    (tmp_path / "policy.yaml").write_text("")
    looks = [holder.changed(), holder.changed()]
    holder.reload()

    assert looks == [False, True]
    assert not holder.changed()
    assert not holder.changed()


def test_test_files_are_no_policies(holder: PolicyHolder, tmp_path: Path) -> None:
    """Writing a test beside a policy changes nothing that is in force."""
    (tmp_path / "policy.test.yaml").write_text("cases: []\n")

    assert not holder.changed()
    assert not holder.changed()


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    file = tmp_path / "token.txt"
    file.write_text("the-first\n")
    return file


@pytest.fixture
def with_secret(tmp_path: Path, secret: Path) -> PolicyHolder:
    (tmp_path / "policy.yaml").write_text(
        one_rule() + f"credentials: [{{header: X-Key, value: 'Bearer ${{file:{secret}}}'}}]\n"
    )
    opened = PolicyHolder.open(tmp_path, {})
    assert isinstance(opened, PolicyHolder)
    return opened


def credentials(holder: PolicyHolder) -> list[bytes]:
    return [value for upstream in holder.current.upstreams for _, value in upstream.credentials]


def looks(holder: PolicyHolder, times: int = 2) -> list[bool]:
    return [holder.changed() for _ in range(times)]


def test_a_rotated_credential_is_a_change(with_secret: PolicyHolder, secret: Path) -> None:
    """The file that a policy names is looked at like the policy itself, also when a link is turned to another."""
    assert looks(with_secret) == [False, False]

    other = secret.with_name("other.txt")
    other.write_text("the-second\n")
    secret.unlink()
    secret.symlink_to(other)

    assert looks(with_secret) == [False, True]
    assert isinstance(with_secret.reload(), Reloaded)
    assert credentials(with_secret) == [b"Bearer the-second"]
    assert looks(with_secret) == [False, False]


def test_a_credential_that_is_gone_leaves_the_set_in_force_and_is_reported_once(
    with_secret: PolicyHolder, secret: Path
) -> None:
    """When the file is back, in whatever state, it is read again."""
    secret.unlink()
    assert looks(with_secret) == [False, True]

    found = with_secret.reload()

    assert isinstance(found, tuple)
    assert f"{secret} cannot be read" in str(found[0])
    assert credentials(with_secret) == [b"Bearer the-first"]
    assert looks(with_secret) == [False, False]

    secret.write_text("the-second\n")
    assert looks(with_secret) == [False, True]
    assert isinstance(with_secret.reload(), Reloaded)
    assert credentials(with_secret) == [b"Bearer the-second"]


@pytest.mark.parametrize("content", ["", " ", "\n", "a\0b", "one\ntwo\n"])
def test_what_can_be_no_credential_leaves_the_last_one(content: str, with_secret: PolicyHolder, secret: Path) -> None:
    """A file that is being written may be any of these."""
    secret.write_text(content)
    assert looks(with_secret) == [False, True]

    assert isinstance(with_secret.reload(), tuple)
    assert credentials(with_secret) == [b"Bearer the-first"]


def test_a_credential_that_is_missing_where_it_is_new_is_waited_for(
    with_secret: PolicyHolder, secret: Path, tmp_path: Path
) -> None:
    """A policy may be put down before its credential: that one's coming is a change, too."""
    late = tmp_path / "late.txt"
    policy = tmp_path / "policy.yaml"
    policy.write_text(policy.read_text().replace(str(secret), str(late)))
    assert isinstance(with_secret.reload(), tuple)

    late.write_text("it came")

    assert looks(with_secret) == [False, True]
    assert isinstance(with_secret.reload(), Reloaded)
    assert credentials(with_secret) == [b"Bearer it came"]


def test_principals_do_not_go_by_a_file_that_is_gone(tmp_path: Path) -> None:
    """Moved away by mistake, it would let everybody in: the set in force stays until somebody restarts."""
    (tmp_path / "policy.yaml").write_text(one_rule())
    (tmp_path / "principals.yaml").write_text(
        f"principals: [{{name: ada, key: 'sha256:{'0' * 64}', resources: 'x/*'}}]\n"
    )
    holder = PolicyHolder.open(tmp_path, {})
    assert isinstance(holder, PolicyHolder)
    (tmp_path / "principals.yaml").unlink()

    findings = holder.reload()

    assert isinstance(findings, tuple)
    assert findings[0].file.endswith("principals.yaml")
    assert "restart" in findings[0].message
    assert len(holder.current.principals) == 1


NOBODY: dict[str, Callable[[Path], object]] = {
    "truncated": lambda path: path.write_text(path.read_text()[:20]),
    "an empty list": lambda path: path.write_text("principals: []\n"),
    "null": lambda path: path.write_text("principals: null\n"),
    "an empty file": lambda path: path.write_text(""),
    "only a comment": lambda path: path.write_text("# nobody yet\n"),
    "a directory": lambda path: (path.unlink(), path.mkdir()),
    "a link that leads nowhere": lambda path: (path.unlink(), path.symlink_to(path.with_name("gone"))),
}


@pytest.mark.parametrize("damage", NOBODY.values(), ids=NOBODY.keys())
def test_no_file_of_principals_lets_everybody_in(damage: Callable[[Path], object], tmp_path: Path) -> None:
    """Whoever has no key stays nobody while the gateway runs."""
    principals = tmp_path / "principals.yaml"
    (tmp_path / "policy.yaml").write_text(one_rule())
    principals.write_text(f"principals: [{{name: ada, key: 'sha256:{'0' * 64}', resources: 'x/*'}}]\n")
    holder = PolicyHolder.open(tmp_path, {})
    assert isinstance(holder, PolicyHolder)
    damage(principals)

    assert isinstance(holder.reload(), tuple)
    refused = holder.current.principals.identify(Headers(()))
    assert isinstance(refused, Refused) and refused.decision is UNAUTHENTICATED


def test_a_worker_that_starts_while_a_credential_is_gone_has_the_one_in_force(
    with_secret: PolicyHolder, secret: Path, tmp_path: Path
) -> None:
    """It is told by whoever holds the set; a file that is there comes first."""
    kept = with_secret.credentials
    secret.unlink()
    without = PolicyHolder.open(tmp_path, {}, kept)
    secret.write_text("the-second")
    rotated = PolicyHolder.open(tmp_path, {}, kept)

    assert kept == {str(secret): "the-first"}
    assert isinstance(without, PolicyHolder)
    assert isinstance(rotated, PolicyHolder)
    assert (credentials(without), credentials(rotated)) == ([b"Bearer the-first"], [b"Bearer the-second"])
