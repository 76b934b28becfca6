"""Which upstream and which rule take a request."""

from pathlib import Path

import pytest

from gateway.core.caller import Caller
from gateway.core.decision import AMBIGUOUS_TARGET, NO_POLICY, NO_UPSTREAM, READS_DENIED, Decision, Refused
from gateway.policy.match import Matched, NeedsBody, Read
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import HEAD, name_of, one_rule, request, rules

CALLER = Caller()

TREE = """\
writes:
  - {name: literal, match: PUT /a/b/c, resource: r}
  - {name: late, match: "PUT /a/b/{x}", resource: r}
  - {name: early, match: "PUT /a/{x}/c", resource: r}
  - {name: names, match: "PUT /a/{x}/{y}", resource: r}
  - {name: rest, match: "PUT /a/{x...}", resource: r}
  - {name: slash, match: "PUT /e/{x}/", resource: r}
  - {name: rest-slash, match: "PUT /d/{x...}/", resource: r}
  - {name: root, match: PUT /, resource: r}
  - {name: encoded, match: PUT /%7Ea/b%20c, resource: r}
  - {name: odd, match: "purge /a/b/c", resource: r}
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    return rules(tmp_path_factory.mktemp("tree"), HEAD + TREE)


@pytest.mark.parametrize(
    ("method", "target", "rule"),
    [
        ("PUT", "/a/b/c", "literal"),
        ("PUT", "/a/%64/c", "early"),
        ("PUT", "/a/b/d", "late"),
        ("PUT", "/a/d/c", "early"),
        ("PUT", "/a/d/d", "names"),
        ("PUT", "/a/d", "rest"),
        ("PUT", "/a/b", "rest"),
        ("PUT", "/a/b/c/d", "rest"),
        ("PUT", "/e/b/", "slash"),
        ("PUT", "/d/b/c/", "rest-slash"),
        ("PUT", "/", "root"),
        ("PUT", "/~a/b%20c", "encoded"),
        ("PUT", "/a/b/c?x=1", "literal"),
        ("purge", "/a/b/c", "odd"),
        ("PUT", "/a", None),
        ("PUT", "/a/", None),
        ("PUT", "/a/b/", None),
        ("PUT", "/e/b", None),
        ("PUT", "/a/b/c/", None),
        ("PUT", "/d/b", None),
        ("PUT", "/A/b/c", None),
        ("put", "/a/b/c", None),
        ("PURGE", "/a/b/c", None),
        ("POST", "/a/b/c", None),
        ("TRACE", "/a/b/c", None),
    ],
)
def test_the_more_specific_rule_wins(tree: RuleSet, method: str, target: str, rule: str | None) -> None:
    """From the left, text before `{name}` before `{rest...}`; methods and the slash at the end are exact."""
    found = tree.match(request(method, target), CALLER)

    if rule is None:
        assert isinstance(found, Refused)
        assert found.decision is NO_POLICY
    else:
        assert isinstance(found, Matched)
        assert found.entry.rule.name == rule


@pytest.mark.parametrize("hidden", ["%20", "%C2%85", "%E2%80%8B", "%EF%BB%BF"])
def test_a_path_with_what_nobody_sees_is_no_writes(tree: RuleSet, hidden: str) -> None:
    """Whatever segment it is in, the rest of a path too: a trimmed one would be another rule's. Reads pass."""
    for target in (f"/a/b{hidden}/c", f"/a/b/c{hidden}", f"/a/b/c/{hidden}d"):
        refused = tree.match(request("PUT", target), CALLER)
        assert isinstance(refused, Refused)
        assert refused.decision is AMBIGUOUS_TARGET
        assert isinstance(tree.match(request("GET", target), CALLER), Read)


def test_an_encoded_slash_is_refused_unless_the_mount_says_what_it_is(tmp_path: Path) -> None:
    """Opaque, it is a character of its segment, and `a%2Fb` is another resource than `a/b`. Reads go on."""
    refusing = rules(tmp_path, one_rule("PUT /x/{id...}"))
    opaque = rules(tmp_path, one_rule("PUT /x/{id...}") + "mount: {encoded_slash: opaque}\n")
    write = request("PUT", "/x/a%2Fb/c")

    refused = refusing.match(write, CALLER)
    matched = opaque.match(write, CALLER)

    assert isinstance(refused, Refused)
    assert refused.decision is AMBIGUOUS_TARGET
    assert isinstance(matched, Matched)
    assert opaque.resolve(matched, write, CALLER) == "x/a%2Fb/c"
    assert isinstance(refusing.match(request("GET", "/x/a%2Fb"), CALLER), Read)


@pytest.mark.parametrize(
    ("path", "taken"),
    [
        ("a%2Fb", "one"),
        ("a%2Fb/c%2Fd", "one"),
        ("a%2F%2Fb", "ambiguous-target"),
        ("a%2fb%2F", "ambiguous-target"),
        ("%2Fa%2Fb", "ambiguous-target"),
        ("a%2Fb/%2F", "ambiguous-target"),
    ],
)
def test_an_encoded_slash_has_something_on_both_sides(tmp_path: Path, path: str, taken: str) -> None:
    """Servers that decode it drop empty segments, as they drop dots: one object would be two resources."""
    ruleset = rules(tmp_path, one_rule("PUT /x/{id...}") + "mount: {encoded_slash: opaque}\n")

    assert name_of(ruleset.match(request("PUT", f"/x/{path}"), CALLER)) == taken
    assert name_of(ruleset.match(request("GET", f"/x/{path}"), CALLER)) == "read"


MOUNTS = (
    "upstream: root\nurl: http://127.0.0.1:1\n",
    "upstream: admin\nurl: http://127.0.0.1:2\nmount: {path: /admin}\n",
    "upstream: deep\nurl: http://127.0.0.1:3\nmount: {path: /admin/deep}\n",
    "upstream: hosted\nurl: http://127.0.0.1:4\nmount: {path: /, host: API.example.com}\n",
    "upstream: six\nurl: http://127.0.0.1:5\nmount: {path: /six, host: '::1'}\n",
)


@pytest.mark.parametrize(
    ("target", "host", "upstream"),
    [
        ("/x", None, "root"),
        ("/admin", None, "admin"),
        ("/admin/", None, "admin"),
        ("/administrator", None, "root"),
        ("/admin/deep/x", None, "deep"),
        ("/admin/deeper", None, "admin"),
        ("/x", "api.example.com", "hosted"),
        ("/admin", "api.EXAMPLE.com:8080", "hosted"),
        ("/x", "api.example.com.", "hosted"),
        ("/x", "API.example.com.:80", "hosted"),
        ("/x", "api.example.com:", "hosted"),
        ("/x", "api.example.com.org", "root"),
        ("/x", "example.com", "root"),
        ("/six", "[::1]:8080", "six"),
        ("/x", "[::1]", "root"),
    ],
)
def test_an_upstream_is_chosen_by_host_and_whole_segments(
    tmp_path: Path, target: str, host: str | None, upstream: str
) -> None:
    """A mount for the request's host beats one for any; then the longest path of whole segments."""
    ruleset = rules(tmp_path, *MOUNTS)

    found = ruleset.match(request("GET", target, *((("Host", host),) if host else ())), CALLER)

    assert isinstance(found, Read)
    assert found.upstream.name == upstream


@pytest.mark.parametrize(
    ("method", "target", "decision"),
    [("GET", "/y", NO_UPSTREAM), ("PUT", "/y", NO_UPSTREAM), ("GET", "/x", READS_DENIED), ("HEAD", "/x", READS_DENIED)],
)
def test_what_belongs_nowhere_and_denied_reads_are_refused(
    tmp_path: Path, method: str, target: str, decision: Decision
) -> None:
    """Outside every mount there is no upstream; `reads: deny` denies GET, HEAD and OPTIONS."""
    ruleset = rules(tmp_path, HEAD + "mount: {path: /x}\nreads: deny\n")

    found = ruleset.match(request(method, target), CALLER)

    assert isinstance(found, Refused)
    assert found.decision is decision


WHEN = """\
read_only:
  - match: POST /x
    when: {json: {/dry: true}}
writes:
  - {name: plain, match: POST /x, resource: plain}
  - name: typed
    match: POST /x
    resource: "{json:/id}"
    when: {header: {content-type: application/json}, json: {/dry: 0}}
  - {name: flagged, match: POST /x, resource: r, when: {query: {f: [1, 2]}, json: {/dry: null}}}
  - {name: named, match: POST /y, resource: "y/{json:/id}"}
"""


@pytest.mark.parametrize(
    ("target", "body", "taken"),
    [
        ("/x", '{"dry": true}', "read"),
        ("/x", '{"dry": 2}', "plain"),
        ("/x", "", "plain"),
        ("/x", '{"dry": 0, "id": "a"}', "typed"),
        ("/x", '{"dry": -0.0, "id": "a"}', "typed"),
        ("/x", '{"dry": false}', "plain"),
        ("/x?f=2", '{"dry": null}', "flagged"),
        ("/x?f=3", '{"dry": null}', "plain"),
        ("/x?f=2", "{}", "plain"),
        ("/y", '{"id": 1}', "named"),
    ],
)
def test_conditions_choose_among_rules_of_one_path(tmp_path: Path, target: str, body: str, taken: str) -> None:
    """A list means any of its values; true and a number are two; a missing member meets nothing, not even null."""
    ruleset = rules(tmp_path, HEAD + WHEN)

    found = ruleset.match(request("POST", target, ("Content-Type", "application/json"), body=body), CALLER)

    assert ("read" if isinstance(found, Read) else isinstance(found, Matched) and found.entry.rule.name) == taken


def test_the_body_is_asked_for_only_where_it_decides(tmp_path: Path) -> None:
    """Conditions on headers and query are looked at first; a resource from the body needs it too."""
    ruleset = rules(
        tmp_path,
        HEAD
        + "writes:\n"
        + "  - {name: a, match: POST /x, resource: r, when: {header: {kind: a}, json: {/k: 1}}}\n"
        + '  - {name: b, match: POST /y, resource: "{json:/id}"}\n',
    )

    assert isinstance(ruleset.match(request("POST", "/x", ("Kind", "a")), CALLER), NeedsBody)
    assert isinstance(ruleset.match(request("POST", "/x", ("Kind", "b")), CALLER), Refused)
    assert isinstance(ruleset.match(request("POST", "/y"), CALLER), NeedsBody)


@pytest.mark.parametrize(
    ("intent", "headers", "wanted"),
    [
        ("{mode: required}", [], False),
        ("{mode: required, key: '{json:/k}'}", [], True),
        ("{mode: 'off', key: '{json:/k}', fingerprint: [/to]}", [], False),
        ("{mode: required, key: ['{header.idempotency-key}', '{json:/k}']}", [("Idempotency-Key", "a")], False),
        ("{mode: required, key: ['{header.idempotency-key}', '{json:/k}']}", [], True),
        ("{mode: required, key: ['{header.idempotency-key}', '{json:/k}']}", [("Idempotency-Key", "a b")], False),
        ("{mode: required, fingerprint: [/to]}", [("Idempotency-Key", "a")], True),
        ("{mode: required, fingerprint: [/to]}", [], False),
        ("{mode: optional, fingerprint: [/to]}", [], False),
    ],
)
def test_an_intent_wants_the_body_where_its_key_or_pointers_read_it(
    tmp_path: Path, intent: str, headers: list[tuple[str, str]], wanted: bool
) -> None:
    """The rule is told already; a key in the header spares the reading, and a refused or missing one needs none."""
    ruleset = rules(tmp_path, one_rule(more=f"    intent: {intent}\n"))

    found = ruleset.match(request("PUT", "/x/1", *headers), CALLER)
    with_body = ruleset.match(request("PUT", "/x/1", *headers, body="{}"), CALLER)

    assert isinstance(found, NeedsBody if wanted else Matched)
    assert not isinstance(found, NeedsBody) or found.matched is not None
    assert isinstance(with_body, Matched)


@pytest.mark.parametrize("headers", [[("Kind", "a"), ("Kind", "a")], [("kind", "a"), ("ki_nd", "a"), ("Kind", "b")]])
def test_a_condition_on_a_doubled_header_is_ambiguous(tmp_path: Path, headers: list[tuple[str, str]]) -> None:
    """Which of two values counts is not the gateway's to guess."""
    ruleset = rules(tmp_path, one_rule(more="    when: {header: {kind: a}}\n"))

    found = ruleset.match(request("PUT", "/x/1", *headers), CALLER)

    assert isinstance(found, Refused)
    assert found.decision is AMBIGUOUS_TARGET


COUNTED = """\
read_only:
  - match: POST /x/search
writes:
  - {name: a, match: "PUT /x/{id}", resource: "x/{path.id}", revision: gateway}
  - {name: b, match: "DELETE /x/{id}", resource: "x/{path.id}", revision: gateway}
  - {name: c, match: "PUT /y/{id}", resource: "y/{header.part}", revision: gateway}
  - {name: d, match: "PUT /z/{id}", resource: "z/{path.id}/a", revision: gateway, when: {json: {/k: a}}}
  - {name: e, match: "PUT /z/{id}", resource: "z/{path.id}/b", revision: gateway, when: {json: {/k: b}}}
  - {name: f, match: PUT /q, resource: "q/{query.v}", revision: gateway}
"""


@pytest.mark.parametrize(
    ("target", "counted"),
    [
        ("/x/7", "x/7"),
        ("/x/search", None),
        ("/x/7/", None),
        ("/x/a%2Fb", None),
        ("/y/7", None),
        ("/z/7", None),
        ("/q?v=1", "q/1"),
        ("/q", None),
        ("/q?v=1&v=2", None),
    ],
)
def test_a_read_shows_the_count_of_the_one_resource_that_it_names(
    tmp_path: Path, target: str, counted: str | None
) -> None:
    """A read belongs to the counting rule of its path whose resource needs path and query only; in doubt to none."""
    found = rules(tmp_path, HEAD + COUNTED).match(request("GET", target), CALLER)

    assert isinstance(found, Read)
    assert found.counted == counted
