"""slack.yaml: a message goes to one channel, and what reads does nothing else."""

import pytest

from gateway.policy.ruleset import RuleSet
from tests.policy.examples.shipped import FORM, Header, shipped, told

JSON = ("Content-Type", "application/json")
KEY = ("Idempotency-Key", "k1")
POST = "/slack/api/chat.postMessage"


@pytest.fixture(scope="module")
def ruleset(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    return shipped(tmp_path_factory.mktemp("slack"), "slack")


@pytest.mark.parametrize(
    ("type", "body", "decision"),
    [
        (FORM, "channel=C1&text=a", "forwarded"),
        (JSON, '{"channel": "C1", "text": "a"}', "forwarded"),
        (FORM, '{"channel": "C1"}', "ambiguous-target"),
        (JSON, "channel=C1", "ambiguous-target"),
        *((FORM, f"channel=C1&{more}", "ambiguous-target") for more in ("channel=C2", "channel[]=C2", "Channel=C2")),
        *((JSON, f'{{"channel": "{name}"}}', "ambiguous-target") for name in ("C1,C2", "c1", "#general", "C1 ")),
        *((JSON, f'{{"channel": {value}}}', "resource-unresolved") for value in ('["C1"]', '{"id": "C1"}', "null")),
    ],
)
def test_a_message_goes_to_one_channel(ruleset: RuleSet, type: Header, body: str, decision: str) -> None:
    """By the id that it has, in a body of the type that it says."""
    assert told(ruleset, "POST", POST, type, KEY, body=body) == decision


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
def test_no_read_sends_one(ruleset: RuleSet, method: str) -> None:
    """Slack takes each of its methods by GET, too."""
    assert told(ruleset, method, f"{POST}?channel=C1&text=x") == "reads-denied"


@pytest.mark.parametrize(
    ("method", "decision"),
    [
        ("chat.getPermalink", "passed"),
        ("chat.getPermalink/", "no-policy"),
        ("auth.test%2F..%2Fchat.delete", "ambiguous-target"),
        ("auth.test/../chat.delete", "ambiguous-target"),
        ("auth.test;chat.delete", "ambiguous-target"),
    ],
)
def test_what_reads_leads_to_nothing_else(ruleset: RuleSet, method: str, decision: str) -> None:
    """By no path that goes on behind it."""
    assert told(ruleset, "POST", f"/slack/api/{method}", FORM, body="channel=C1") == decision
