"""Paths whose end a server takes for a format, at a mount that says so."""

from pathlib import Path

import pytest

from gateway.core.caller import Caller
from gateway.core.decision import AMBIGUOUS_TARGET, Refused
from gateway.policy.match import Read
from gateway.policy.review.explain import explain
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import HEAD, name_of, request, rules

CALLER = Caller()
RULES = """\
read_only:
  - match: [POST /docs/search, "POST /looked/{what}"]
writes:
  - {name: doc, match: "PUT,POST /docs/{id}", resource: "doc/{path.id}", revision: gateway}
  - {name: part, match: "PUT /docs/{id}/parts/{rest...}", resource: "part/{path.id}"}
  - {name: text, match: "PUT /docs/{id}/text.json", resource: "text/{path.id}"}
  - {name: ended, match: "PUT /lists/{id}/", resource: "list/{path.id}"}
  - {name: room, match: "GET /rooms/{id}", upgrade: websocket, resource: "room/{path.id}"}
  - {name: root, match: PUT /, resource: root}
"""


def ruleset(directory: Path, endings: str) -> RuleSet:
    return rules(directory, f"{HEAD}mount: {{format_endings: {endings}}}\n{RULES}")


@pytest.mark.parametrize(
    ("method", "target", "refusing", "listed", "opaque"),
    [
        ("PUT", "/docs/7", "doc", "doc", "doc"),
        ("PUT", "/docs/7.json", "ambiguous-target", "ambiguous-target", "doc"),
        ("PUT", "/docs/7%2Ejson", "ambiguous-target", "ambiguous-target", "doc"),
        ("PUT", "/docs/7.%6ason", "ambiguous-target", "ambiguous-target", "doc"),
        ("PUT", "/docs/7.JSON", "ambiguous-target", "ambiguous-target", "doc"),
        ("PUT", "/docs/1.5", "ambiguous-target", "doc", "doc"),
        ("PUT", "/docs/7.", "ambiguous-target", "doc", "doc"),
        ("PUT", "/docs/7.foo", "ambiguous-target", "doc", "doc"),
        ("PUT", "/docs/7%2Efoo", "ambiguous-target", "doc", "doc"),
        ("PUT", "/docs/7.js%6Fn", "ambiguous-target", "ambiguous-target", "doc"),
        ("POST", "/docs/search.json", "ambiguous-target", "ambiguous-target", "doc"),
        ("POST", "/docs/search", "read", "read", "read"),
        ("POST", "/looked/up.json", "ambiguous-target", "ambiguous-target", "read"),
        ("PUT", "/docs/7.json/parts/a", "part", "part", "part"),
        ("PUT", "/docs/7/parts/a/b.xml", "ambiguous-target", "ambiguous-target", "part"),
        ("PUT", "/docs/7/text.json", "text", "text", "text"),
        ("PUT", "/lists/7.json/", "ambiguous-target", "ambiguous-target", "ended"),
        ("PUT", "/lists/7/", "ended", "ended", "ended"),
        ("PUT", "/", "root", "root", "root"),
        ("PUT", "/else/7.json", "no-policy", "no-policy", "no-policy"),
        ("GET", "/docs/7.json", "read", "read", "read"),
    ],
)
def test_what_ends_as_a_format_is_no_second_resource(
    tmp_path: Path, method: str, target: str, refusing: str, listed: str, opaque: str
) -> None:
    """Wherever a placeholder takes the last segment, also of what a rule lets pass as a read; what the policy itself
    spells so is meant, and a GET is no write."""
    asked = request(method, target)

    for endings, taken in (("refuse", refusing), ("[json, xml]", listed), ("opaque", opaque)):
        assert name_of(ruleset(tmp_path, endings).match(asked, CALLER)) == taken


@pytest.mark.parametrize(
    ("target", "found"),
    [
        *((f"/docs/{id}", "ambiguous-target") for id in ("7.data", "7.DATA", "7%2Edata", "7.data.data", ".data")),
        ("/docs/_root.data", "ambiguous-target"),
        *((f"/docs/{id}", "doc") for id in ("7", "7.json", "7-data", "7.data.1", "data")),
    ],
)
def test_pages_data_is_no_second_resource(tmp_path: Path, target: str, found: str) -> None:
    """React Router runs the action of `/docs/7` at `/docs/7.data`, and that of `/docs` at `/docs/_root.data`."""
    assert name_of(ruleset(tmp_path, "[data]").match(request("POST", target), CALLER)) == found


ENDED = """\
closed: [{match: "GET,POST /docs/publish"}]
writes:
  - {name: doc, match: ["PUT,POST /docs/{id}", "PUT /docs/{id}/"], resource: "doc/{path.id}"}
  - {name: part, match: "PUT,POST /docs/{id}/{part}", resource: "doc/{path.id}"}
  - {name: more, match: "POST /docs/{id}/{part}/{more}", resource: "doc/{path.id}"}
"""


@pytest.mark.parametrize(
    ("endings", "target", "found"),
    [
        *(("refuse", f"PUT /docs/{path}", "ambiguous-target") for path in ("7.json/", "7./", ".json", "7/.json")),
        ("refuse", "PUT /docs/7.json/x", "part"),
        ("refuse", "POST /docs/publish.json/", "no-policy"),
        *(("refuse", f"POST /docs/publish{end}", "ambiguous-target") for end in (".json", "/.json")),
        *(("[data]", f"POST /docs/7/{end}", "ambiguous-target") for end in (".data", "..data", "%2E.data")),
        *(("[data]", f"POST /docs/7/x/{end}", "ambiguous-target") for end in ("...data", "%2E%2E.data")),
        *(
            ("[data]", f"{method} /docs/publish/{end}", "ambiguous-target")
            for method in ("GET", "POST")
            for end in (".data", "..data", "x/...data", "%2E.data", "x/%2E%2E.data")
        ),
        ("[data]", "POST /docs/7/x", "part"),
    ],
)
def test_an_ending_that_leaves_nothing_dots_or_a_slash_is_one(
    tmp_path: Path, endings: str, target: str, found: str
) -> None:
    """React Router finds the route of what is left, and reads dots as a way up; others drop a slash at the end."""
    ruleset = rules(tmp_path, f"{HEAD}mount: {{format_endings: {endings}}}\n{ENDED}")

    assert name_of(ruleset.match(request(*target.split()), CALLER)) == found


def test_a_session_is_judged_like_a_write(tmp_path: Path) -> None:
    """Its rule names a GET, and it holds the resource as long as it lasts."""
    asked = request("GET", "/rooms/7.json", ("Upgrade", "websocket"), ("Connection", "Upgrade"))

    assert name_of(ruleset(tmp_path, "refuse").match(asked, CALLER)) == "ambiguous-target"
    assert name_of(ruleset(tmp_path, "opaque").match(asked, CALLER)) == "room"


def test_a_read_of_such_a_path_is_told_no_count(tmp_path: Path) -> None:
    """The answer is document 7's, and the count would be that of another resource."""
    found = ruleset(tmp_path, "[json]").match(request("GET", "/docs/7.json"), CALLER)
    plain = ruleset(tmp_path, "[json]").match(request("GET", "/docs/7"), CALLER)

    assert isinstance(found, Read)
    assert found.counted is None
    assert isinstance(plain, Read)
    assert plain.counted == "doc/7"


def test_no_lease_is_found_at_such_a_path(tmp_path: Path) -> None:
    """Its holder could not write with it."""
    refused = ruleset(tmp_path, "refuse").resolve_target("PUT", "/docs/7.json", CALLER)

    assert isinstance(refused, Refused)
    assert refused.decision is AMBIGUOUS_TARGET


def test_explain_says_what_to_send(tmp_path: Path) -> None:
    """The refusal's own words."""
    told = explain(ruleset(tmp_path, "refuse"), request("PUT", "/docs/7.json"), CALLER)

    assert told.answer.decision == "ambiguous-target"
    assert "without the ending" in str(told)
