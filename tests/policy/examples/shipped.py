"""One of the shipped policies, and what it decides of a request."""

import json
import shutil
from pathlib import Path

from gateway.core.caller import NOBODY
from gateway.core.decision import Refused
from gateway.core.request import Headers
from gateway.policy.load import load_policies
from gateway.policy.review.answer import answer, build_request, typed_as_json
from gateway.policy.ruleset import RuleSet

Header = tuple[str, str]
FORM = ("Content-Type", "application/x-www-form-urlencoded")
_EXAMPLES = Path(__file__).parents[3] / "policies"


def shipped(directory: Path, name: str) -> RuleSet:
    """Alone in a directory, so that no other policy takes its requests."""
    shutil.copy(_EXAMPLES / f"{name}.yaml", directory)
    loaded = load_policies(directory, {})
    assert isinstance(loaded, RuleSet)
    return loaded


def told(ruleset: RuleSet, method: str, target: str, *headers: Header, body: object = None) -> str:
    """The decision. What is no text is sent as JSON; a body that no header calls anything is called JSON."""
    sent = body if isinstance(body, str | None) else json.dumps(body)
    pairs = Headers([(name.encode(), value.encode("latin-1")) for name, value in headers])
    asked = build_request(method, target, typed_as_json(pairs) if sent else pairs, sent.encode() if sent else None)
    return asked.decision.name if isinstance(asked, Refused) else answer(ruleset, asked, NOBODY).decision
