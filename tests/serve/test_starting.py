"""What services begin with, and why one does not start."""

from pathlib import Path

import pytest

from gateway.core.address import Address
from gateway.log import Log
from gateway.policy.load import load_policies
from gateway.policy.ruleset import RuleSet
from gateway.serve.starting import (
    GRACE_BEYOND_TOTAL_S,
    StartRefused,
    cannot_listen,
    find_tls,
    find_traces,
    grace_s,
    open_policies,
)
from tests.gateway_process import write_policy


def test_policies_with_errors_are_shown_with_what_to_do(tmp_path: Path) -> None:
    """Each finding with its place, and the command that shows them again."""
    policies = write_policy(tmp_path, 9)
    (policies / "other.yaml").write_text("upstream: other\n")

    with pytest.raises(StartRefused, match=rf"other\.yaml:1:1: .*\n.*`fencegate check {policies}`"):
        open_policies(policies)


@pytest.mark.parametrize(("port", "is_refused"), [(9, True), (10, False), (0, False)])
def test_no_policy_may_lead_to_the_listener_itself(port: int, is_refused: bool, tmp_path: Path) -> None:
    """A request would go round and round. Port 0 is one that nobody knows yet."""
    policies = write_policy(tmp_path, 9)

    if is_refused:
        with pytest.raises(StartRefused):
            open_policies(policies, Address("127.0.0.1", port))
    else:
        open_policies(policies, Address("127.0.0.1", port))


@pytest.mark.parametrize(("chosen", "expected"), [(None, 10.0 + GRACE_BEYOND_TOTAL_S), (7.0, 7.0), (0.0, 0.0)])
def test_the_grace_is_the_longest_write_where_none_is_chosen(
    chosen: float | None, expected: float, tmp_path: Path
) -> None:
    """And what a write needs behind its upstream's answer; the policy's `timeouts.total` is 10 seconds."""
    rules = load_policies(write_policy(tmp_path, 9), {})
    assert isinstance(rules, RuleSet)

    assert grace_s(chosen, rules) == expected


def test_a_listener_without_a_certificate_is_plain() -> None:
    """A client CA alone is refused by the settings."""
    assert find_tls("--tls-cert", None, None) is None


def test_a_certificate_that_cannot_be_used_names_its_option(tmp_path: Path) -> None:
    """What a worker would find wrong stops the start."""
    with pytest.raises(StartRefused, match=r"^--admin-tls-cert: .*missing\.pem cannot be read"):
        find_tls("--admin-tls-cert", tmp_path / "missing.pem", tmp_path / "key.pem")


def test_traces_that_nothing_exports_stop_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks for them is told what to install."""
    monkeypatch.setattr("gateway.serve.exporting.find_spec", lambda _name: None)

    with pytest.raises(StartRefused, match="pip install"):
        find_traces("http://collector:4318", 1.0, Log())


def test_an_address_that_cannot_be_had_names_its_option() -> None:
    """And the system's reason."""
    refused = cannot_listen("--listen", Address("127.0.0.1", 80), PermissionError(13, "Permission denied"))

    assert str(refused).startswith("--listen 127.0.0.1:80 cannot be listened on: Permission denied")
