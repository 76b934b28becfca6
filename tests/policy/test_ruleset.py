"""What lease calls ask: from a resource to its rule, and from a target to its resource."""

from pathlib import Path

import pytest

from gateway.core.caller import Caller
from gateway.core.decision import (
    AMBIGUOUS_TARGET,
    IDEMPOTENCY_KEY_REQUIRED,
    NO_SUCH_RESOURCE,
    RESOURCE_UNRESOLVED,
    Decision,
    Refused,
)
from gateway.core.intent import Intent
from gateway.core.write import ResourceKey
from gateway.policy.match import Matched
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import HEAD, request, rules

CALLER = Caller()

POLICY = """\
read_only:
  - match: POST /x/search
writes:
  - {name: one, match: "PUT /x/{id}", resource: "x/{path.id}"}
  - {name: below, match: "PUT /x/{id}/y", resource: "x/{path.id}"}
  - {name: outside, match: "PUT /o/{id}", resource: "o/{path.id}/x", authority: header}
  - {name: body, match: PUT /b, resource: "b/{json:/id}"}
  - {name: header, match: PUT /h, resource: "h/{header.part}"}
  - {name: mine, match: "PUT /t/{id}", resource: "t/{tenant}/{path.id}"}
  - {name: open, match: "PUT /e/{id}", resource: "{path.id}.end"}
  - {name: keyed, match: "PUT /k/{id}", resource: "k/{path.id}", intent: {mode: required, key: "{json:/key}"}}
"""


@pytest.fixture
def ruleset(tmp_path: Path) -> RuleSet:
    return rules(tmp_path, HEAD + POLICY)


@pytest.mark.parametrize(
    ("resource", "rule"),
    [
        ("x/7", "one"),
        ("o/7/x", "outside"),
        ("b/7", "body"),
        ("t/default/7", "mine"),
        ("7.end", "open"),
        ("t/other/7", None),
        ("x", None),
        ("x/7/8", None),
        ("", None),
        ("/", None),
    ],
)
def test_a_resource_leads_to_a_rule_that_can_make_it(ruleset: RuleSet, resource: str, rule: str | None) -> None:
    """The rule tells the authority. What no rule makes for this caller, another tenant's included, has none."""
    found = ruleset.rule_for_resource(resource)

    assert (found and found.name) == rule


@pytest.mark.parametrize(
    ("method", "target", "resource"),
    [("PUT", "/x/7", "x/7"), ("PUT", "/x/%37", "x/7"), ("PUT", "/o/7", "o/7/x"), ("PUT", "/k/7", "k/7")],
)
def test_a_target_stands_for_its_resource(ruleset: RuleSet, method: str, target: str, resource: str) -> None:
    """The same rules resolve it as a write's; the key of an intent is not asked for."""
    found = ruleset.resolve_target("PUT", target, CALLER)

    assert not isinstance(found, Refused)
    assert found[0] == resource


@pytest.mark.parametrize(
    ("method", "target", "decision"),
    [
        ("PUT", "/none", NO_SUCH_RESOURCE),
        ("GET", "/x/7", NO_SUCH_RESOURCE),
        ("POST", "/x/search", NO_SUCH_RESOURCE),
        ("PUT", "/b", NO_SUCH_RESOURCE),
        ("PUT", "/h", RESOURCE_UNRESOLVED),
        ("PUT", "/x/../o/7", AMBIGUOUS_TARGET),
        ("PUT", "/x/a%2Fb", AMBIGUOUS_TARGET),
        ("PUT", "x/7", AMBIGUOUS_TARGET),
    ],
)
def test_a_target_without_a_resource_is_refused(ruleset: RuleSet, method: str, target: str, decision: Decision) -> None:
    """Reads, unmatched targets, and those whose rule needs the body name no resource."""
    found = ruleset.resolve_target(method, target, CALLER)

    assert isinstance(found, Refused)
    assert found.decision is decision


def test_a_target_is_looked_up_at_its_host(tmp_path: Path) -> None:
    """Where upstreams are mounted by host, the call's host chooses as a write's does."""
    ruleset = rules(
        tmp_path, HEAD + "mount: {host: a.example}\nwrites:\n  - {name: a, match: PUT /x, resource: only}\n"
    )

    found = ruleset.resolve_target("PUT", "/x", CALLER, host="A.example:80")

    assert not isinstance(found, Refused)
    assert isinstance(ruleset.resolve_target("PUT", "/x", CALLER), Refused)


INTENTS = """\
mount: {path: /m, host: mail.example}
writes:
  - {name: send, match: "POST /m/{box}", resource: "m/{path.box}", intent: {mode: required}}
  - {name: off, match: "PUT /m/{box}", resource: "m/{path.box}"}
  - {name: optional, match: "PATCH /m/{box}", resource: "m/{path.box}", intent: {mode: optional}}
"""


def intent(
    ruleset: RuleSet, write: str, key: str | None = "k-1", tenant: str = "default", resource: str = "m/out"
) -> Intent | Refused | None:
    method, _, target = write.partition(" ")
    headers = [("Host", "mail.example"), *([("Idempotency-Key", key)] if key else [])]
    asked, caller = request(method, target, *headers), Caller("ada", tenant)
    matched = ruleset.match(asked, caller)
    assert isinstance(matched, Matched)
    return ruleset.intent_of(matched, asked, caller, ResourceKey(resource))


@pytest.mark.parametrize(
    ("preserve", "hosts", "intents"),
    [
        ("host: preserve\n", ["a.example", "b.example", "a.example:8080", "A.example:443", "a.example:80"], 3),
        ("host: preserve\n", ["a.example", "a.example.", "A.Example:", "a.example.:443", "a.example:0080"], 1),
        ("host: preserve\n", ["[::1]", "[::1]:80", "[::80]", "[::80]:8080", "[::80]:8080"], 3),
        ("", ["a.example", "b.example", "a.example:8080"], 1),
    ],
    ids=["the agent's host is forwarded", "spellings of one", "addresses", "the url's is"],
)
def test_the_host_that_is_forwarded_is_a_part_of_an_intent(
    tmp_path: Path, preserve: str, hosts: list[str], intents: int
) -> None:
    """Two hosts are two sites of the upstream; its spelling, and the usual port, are none."""
    ruleset = rules(tmp_path, HEAD + preserve + INTENTS.replace(", host: mail.example", ""))
    found = set()
    for host in hosts:
        asked = request("POST", "/m/out", ("Host", host), ("Idempotency-Key", "k"))
        matched = ruleset.match(asked, CALLER)
        assert isinstance(matched, Matched)
        named = ruleset.intent_of(matched, asked, CALLER, ResourceKey("m/out"))
        assert isinstance(named, Intent)
        found.add(named.digest)

    assert len(found) == intents


def test_a_write_names_its_intent(tmp_path: Path) -> None:
    """Key, tenant and target; what it says is not known before its body has been read."""
    found = intent(rules(tmp_path, HEAD + INTENTS), "POST /m/out?x=1")

    assert isinstance(found, Intent)
    assert (found.key, found.tenant, found.target, found.fingerprint) == ("k-1", "default", "POST /m/out", b"")


def test_an_intent_is_of_one_tenant_resource_target_and_key(tmp_path: Path) -> None:
    """The same key elsewhere is another intent; a target that is only spelled otherwise is the same one."""
    ruleset = rules(tmp_path, HEAD + INTENTS)
    named = [
        intent(ruleset, "POST /m/out"),
        intent(ruleset, "POST /m/out?x=1"),
        intent(ruleset, "PATCH /m/out"),
        intent(ruleset, "POST /m/out", key="K-1"),
        intent(ruleset, "POST /m/out", tenant="north"),
        intent(ruleset, "POST /m/out", resource="m/other"),
    ]
    again = intent(ruleset, "POST /m/%6Fut", key='"k-1"')

    digests = [one.digest for one in named if isinstance(one, Intent)]
    assert len(set(digests)) == len(named)
    assert isinstance(again, Intent)
    assert again.digest == digests[0]


def test_a_write_without_an_intent_names_none(tmp_path: Path) -> None:
    """Where intents are off the key is not looked at; where it is optional it may be missing; where required, not."""
    ruleset = rules(tmp_path, HEAD + INTENTS)

    refused = intent(ruleset, "POST /m/out", key=None)

    assert isinstance(refused, Refused)
    assert refused.decision is IDEMPOTENCY_KEY_REQUIRED
    assert intent(ruleset, "PUT /m/out", key="a b") is None
    assert intent(ruleset, "PATCH /m/out", key=None) is None


def test_an_upstream_is_told_for_a_request_that_no_rule_takes(ruleset: RuleSet) -> None:
    """What is counted for an upstream counts for refused requests too."""
    upstream = ruleset.upstream_of(request("PUT", "/none"))

    assert not isinstance(upstream, Refused)
    assert upstream.name == "api"


def test_a_rule_is_found_again_by_its_name(ruleset: RuleSet) -> None:
    """Within its upstream, by which alone a name is one rule's."""
    found = ruleset.rule_named("api", "below")

    assert found is not None
    assert found.name == "below"
    assert ruleset.rule_named("api", "gone") is None
    assert ruleset.rule_named("other", "below") is None


@pytest.mark.parametrize(
    ("total", "more", "seconds"),
    [("45s", "", 45.0), ("1s", "", 1.0), ("1s", ", upgrade: websocket", 5.0), ("45s", ", upgrade: websocket", 45.0)],
)
def test_a_write_lasts_as_long_as_its_ticket(tmp_path: Path, total: str, more: str, seconds: float) -> None:
    """A session's is extended again and again, each time by its life."""
    method = "GET" if more else "PUT"
    head = f"{HEAD}timeouts: {{total: {total}, connect: 1s}}\nwrites:\n"
    ruleset = rules(tmp_path, f"{head}  - {{name: one, match: {method} /x, resource: x{more}}}\n")

    assert ruleset.write_lasts_s == seconds
