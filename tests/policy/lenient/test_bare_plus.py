"""A `+` in a path, which is a blank to some servers: of a write it is told from one, or refused."""

from pathlib import Path

import pytest

from gateway.core.caller import Caller
from gateway.core.decision import AMBIGUOUS_TARGET, Refused
from gateway.policy.match import Read
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import HEAD, name_of, one_rule, request, rules

CALLER = Caller()
POLICY = """\
defaults: {{values: any}}
read_only: [{{match: "POST /m/search/{{term}}"}}]
closed: [{{match: "GET,POST /m/docs/+purge"}}]
writes:
  - {{name: doc, match: "PUT,POST /m/docs/{{id}}", resource: "doc/{{path.id}}", revision: gateway}}
  - {{name: archive, match: "PUT /m/docs/{{id}}/{plus}archive", resource: "doc/{{path.id}}", revision: gateway}}
  - {{name: file, match: "PUT /m/files/{{at...}}", resource: "file/{{path.at}}"}}
  - {{name: blank, match: "PUT /m/names/the%20plan", resource: plan}}
  - {{name: name, match: "PUT /m/names/{{id}}", resource: "name/{{path.id}}"}}
  - {{name: room, match: "GET /m/rooms/{{id}}", resource: "room/{{path.id}}", upgrade: websocket}}
"""


def policy(directory: Path, plus: str) -> RuleSet:
    """What a write's path may have of it, the text of its rules has so too."""
    mount = f"mount: {{path: /m, plus: {plus}}}\n"
    return rules(directory, HEAD + mount + POLICY.format(plus="+" if plus == "opaque" else "%2B"))


@pytest.mark.parametrize(
    ("method", "target", "refuse", "opaque"),
    [
        ("PUT", "/m/docs/the+plan", "ambiguous-target", "doc"),
        ("PUT", "/m/docs/the%2Bplan", "doc", "doc"),
        ("PUT", "/m/docs/the%2bplan", "doc", "doc"),
        ("PUT", "/m/docs/the%20plan", "doc", "doc"),
        ("PUT", "/m/docs/+", "ambiguous-target", "doc"),
        ("PUT", "/m/docs/7?a=b+c", "doc", "doc"),
        ("PUT", "/m/files/a/b+c/d", "ambiguous-target", "file"),
        ("PUT", "/m/files/a/b%2Bc/d", "file", "file"),
        ("PUT", "/m/docs/7/+archive", "ambiguous-target", "archive"),
        ("PUT", "/m/docs/7/%2Barchive", "archive", "ambiguous-target"),
        ("PUT", "/m/docs/a+b/%2Barchive", "ambiguous-target", "ambiguous-target"),
        ("PUT", "/m/names/the+plan", "ambiguous-target", "ambiguous-target"),
        ("PUT", "/m/names/the%2Bplan", "ambiguous-target", "ambiguous-target"),
        ("PUT", "/m/names/the%20plan", "blank", "blank"),
        ("POST", "/m/search/a+b", "ambiguous-target", "read"),
        ("POST", "/m/search/a%2Bb", "read", "read"),
        ("POST", "/m/docs/+purge", "ambiguous-target", "no-policy"),
        ("POST", "/m/docs/%2Bpurge", "no-policy", "no-policy"),
        ("POST", "/m/docs/%20purge", "ambiguous-target", "ambiguous-target"),
        ("GET", "/m/docs/the+plan", "read", "read"),
        ("GET", "/m/docs/+purge", "reads-denied", "reads-denied"),
        ("GET", "/m/docs/%2Bpurge", "reads-denied", "reads-denied"),
        ("GET", "/m/docs/%20purge", "ambiguous-target", "ambiguous-target"),
    ],
)
def test_a_write_has_no_bare_plus_unless_the_mount_says_what_it_is(
    tmp_path: Path, method: str, target: str, refuse: str, opaque: str
) -> None:
    """To Amazon S3, Yii, CakePHP and Cloudant `/docs/the+plan` is `/docs/the plan`, whose lease another may hold. A
    read writes nothing, and what is closed is closed in both spellings."""
    for plus, taken in (("refuse", refuse), ("opaque", opaque)):
        (tmp_path / plus).mkdir()
        assert name_of(policy(tmp_path / plus, plus).match(request(method, target), CALLER)) == taken


def test_a_handshake_is_a_write_here(tmp_path: Path) -> None:
    """Its method makes no read of it."""
    ruleset = policy(tmp_path, "refuse")
    asked = {
        target: name_of(ruleset.match(request("GET", target, ("Upgrade", "websocket")), CALLER))
        for target in ("/m/rooms/a+b", "/m/rooms/a%2Bb")
    }

    assert asked == {"/m/rooms/a+b": "ambiguous-target", "/m/rooms/a%2Bb": "room"}


def test_a_count_is_not_shown_for_a_path_that_may_have_a_blank(tmp_path: Path) -> None:
    """What a server shows there may be another document."""
    ruleset = policy(tmp_path, "refuse")

    for target, counted in (("/m/docs/a+b", None), ("/m/docs/a%2Bb", "doc/a+b"), ("/m/docs/a%20b", "doc/a b")):
        read = ruleset.match(request("GET", target), CALLER)
        assert isinstance(read, Read)
        assert read.counted == counted


def test_nobody_gets_a_lease_by_such_a_path_and_the_refusal_says_what_to_write(tmp_path: Path) -> None:
    """What would be refused as a write names no resource."""
    ruleset = rules(tmp_path, one_rule("PUT /docs/{id}", "doc/{path.id}", "    values: any\n"))
    refused = ruleset.resolve_target("PUT", "/docs/the+plan", CALLER)

    assert isinstance(refused, Refused)
    assert refused.decision is AMBIGUOUS_TARGET
    assert "Write `%2B` for a plus, `%20` for a blank" in refused.detail
    assert not isinstance(ruleset.resolve_target("PUT", "/docs/the%2Bplan", CALLER), Refused)
