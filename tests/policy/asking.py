"""Policies from text, and requests from text: what most tests of this package begin with."""

from pathlib import Path

from gateway.core.decision import Refused
from gateway.core.request import Headers, Request
from gateway.core.target import Target, read_target
from gateway.policy.load import load_policies
from gateway.policy.match import Matched, Read
from gateway.policy.review.answer import typed_as_json
from gateway.policy.ruleset import RuleSet

HEAD = "upstream: api\nurl: http://127.0.0.1:9000\n"


def rules(directory: Path, *files: str) -> RuleSet:
    """The rule set of policies that are right."""
    for at, text in enumerate(files):
        (directory / f"policy{at}.yaml").write_text(text)
    loaded = load_policies(directory, {"TOKEN": "s3cret-value"})
    assert isinstance(loaded, RuleSet), "\n".join(map(str, loaded))
    return loaded


def one_rule(match: str = "PUT /x/{id}", resource: str = "x/{path.id}", more: str = "") -> str:
    """A policy with a single rule; `more` are further lines of it."""
    return f"{HEAD}writes:\n  - name: one\n    match: {match}\n    resource: '{resource}'\n{more}"


def request(method: str, target: str, *headers: tuple[str, str], body: str | bytes | None = None) -> Request:
    """A request whose target reads in one way; with a body that is JSON, if no header calls it something else."""
    read = read_target(target)
    assert isinstance(read, Target)
    pairs = [(name.encode(), value.encode("latin-1")) for name, value in headers]
    sent = body.encode() if isinstance(body, str) else body
    return Request(method, read, typed_as_json(Headers(pairs)) if sent else Headers(pairs), sent)


def name_of(found: object) -> str:
    """`read`, the rule's name, or the refusal's."""
    match found:
        case Read():
            return "read"
        case Matched(entry):
            return entry.rule.name
        case Refused(decision):
            return decision.name
    return "needs body"
