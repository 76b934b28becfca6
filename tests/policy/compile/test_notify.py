"""`notify`: where people are told, of which events, signed with what; the secrets come from where credentials do."""

import base64
from pathlib import Path

import pytest

from gateway.core.rule import Endpoint, Origin
from gateway.policy.load import load_policies
from gateway.policy.reload import PolicyHolder
from gateway.policy.ruleset import RuleSet

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
NEW = "whsec_" + base64.b64encode(bytes(range(64))).decode()
KEY = base64.b64decode(SECRET.removeprefix("whsec_"))


def write(directory: Path, notify: str) -> None:
    (directory / "policy.yaml").write_text(f"upstream: api\nurl: http://127.0.0.1:9\nnotify: {notify}\n")


def endpoint(directory: Path, notify: str, **variables: str) -> Endpoint:
    write(directory, notify)
    rules = load_policies(directory, variables)
    assert isinstance(rules, RuleSet), [str(finding) for finding in rules]
    (upstream,) = rules.upstreams
    assert upstream.notify is not None
    return upstream.notify


def test_all_events_are_told_where_none_is_named(tmp_path: Path) -> None:
    """The endpoint is the URL with its query."""
    found = endpoint(tmp_path, f"{{url: 'https://hooks.internal:8443/fence?team=a', secret: {SECRET}}}")

    assert found.origin == Origin("https", "hooks.internal", 8443)
    assert (found.target, found.secrets) == ("/fence?team=a", (KEY,))
    assert found.events == ("awaiting_approval", "unknown", "incident")


def test_url_and_secrets_come_from_the_environment_and_from_files(tmp_path: Path) -> None:
    """As credentials do; two secrets while one is replaced by the other."""
    (tmp_path / "new").write_text(f"{NEW}\n")
    notify = f"{{url: '${{env:URL}}', secret: ['${{env:OLD}}', '${{file:{tmp_path}/new}}'], events: incident}}"

    found = endpoint(tmp_path, notify, URL="http://chat.internal/services/T0/secret-path", OLD=SECRET)

    assert (found.target, found.secrets) == ("/services/T0/secret-path", (KEY, bytes(range(64))))
    assert found.events == ("incident",)


def test_what_is_secret_is_not_shown(tmp_path: Path) -> None:
    """Neither the signing secret nor the path, which is one for a chat service."""
    found = endpoint(tmp_path, f"{{url: 'https://chat.internal/secret-path', secret: {SECRET}}}")

    assert "secret-path" not in repr(found)
    assert repr(KEY) not in repr(found)


def test_a_fault_does_not_show_the_secret(tmp_path: Path) -> None:
    """A finding goes to the terminal and the log."""
    write(tmp_path, "{url: 'https://chat.internal//secret-path', secret: 'whsec_secret-text'}")

    findings = load_policies(tmp_path, {})

    assert isinstance(findings, tuple) and len(findings) == 2
    assert not any("secret-path" in str(finding) or "secret-text" in str(finding) for finding in findings)


@pytest.mark.parametrize(
    ("bytes_of_secret", "is_taken"), [(23, False), (24, True), (64, True), (65, False)], ids=["23", "24", "64", "65"]
)
def test_a_secret_has_the_length_of_the_specification(tmp_path: Path, bytes_of_secret: int, *, is_taken: bool) -> None:
    """192 to 512 bits."""
    write(
        tmp_path, f"{{url: 'https://h.internal/x', secret: whsec_{base64.b64encode(bytes(bytes_of_secret)).decode()}}}"
    )

    assert isinstance(load_policies(tmp_path, {}), RuleSet) == is_taken


def test_a_changed_secret_file_counts_like_a_changed_policy(tmp_path: Path) -> None:
    """The next message is signed with the new one."""
    policies, file = tmp_path / "policies", tmp_path / "secret"
    policies.mkdir()
    file.write_text(SECRET)
    write(policies, f"{{url: 'https://h.internal/x', secret: '${{file:{file}}}'}}")
    holder = PolicyHolder.open(policies, {})
    assert isinstance(holder, PolicyHolder)
    file.write_text(NEW)

    assert not isinstance(holder.reload(), tuple)

    notify = holder.current.upstreams[0].notify
    assert notify is not None and notify.secrets == (bytes(range(64)),)
