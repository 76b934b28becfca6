"""Names of files below a path: what a rule takes as `{path...}` is one resource for each file, or refused."""

import pytest

from gateway.core.caller import NOBODY
from gateway.core.target import Target, read_target
from gateway.policy.review.answer import answer
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import HEAD, request, rules

POLICY = """\
mount: {{path: /}}
read_only: [{{match: "PROPFIND /dav/{{user}}/{{path...}}"}}]
writes:
  - name: file
    match: PUT,DELETE,PROPPATCH,LOCK,UNLOCK /dav/{{user}}/{{path...}}
    resource: dav/{{path.user}}/{{path.path}}
    values: {values}
"""
# Each is a file of its own to WebDAV servers and to catch-all routes.
PLAIN = [
    "plan",
    "Plan",
    "planA",
    "plan.",
    "plan~",
    ".plan",
    "...",
    "x/plan",
    "x/y/plan",
    "plan.txt",
    "plan-1",
    "plan_1",
]
WIDER = [
    *("a%20b", "a%2Bb", "a@b", "ab", "plan:x", "plan%7C", "plan::$DATA", "$RECYCLE", "plan%25", "%EF%BD%90lan"),
    *("caf%C3%A9", "cafe%CC%81", ":dir_browser/style.css"),
]


@pytest.fixture(scope="module")
def unreserved(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    return rules(tmp_path_factory.mktemp("tree"), HEAD + POLICY.format(values="unreserved"))


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    """Where the policy says that a name may have any character."""
    return rules(tmp_path_factory.mktemp("tree"), HEAD + POLICY.format(values="any"))


def told(ruleset: RuleSet, method: str, target: str, *fields: tuple[str, str]) -> tuple[str, str | None]:
    if not isinstance(read_target(target), Target):
        return "ambiguous-target", None
    said = answer(ruleset, request(method, target, *fields), NOBODY)
    return said.decision, said.resource


def test_two_files_are_two_resources(unreserved: RuleSet, wide: RuleSet) -> None:
    """None is folded into another one; what has more in it than plain characters wants the policy's word."""
    plain = [told(unreserved, "PUT", f"/dav/ada/{name}") for name in PLAIN]
    all_of_them = [told(wide, "PUT", f"/dav/ada/{name}") for name in (*PLAIN, *WIDER)]

    assert plain == [("forwarded", f"dav/ada/{name}") for name in PLAIN]
    assert {decision for decision, _ in all_of_them} == {"forwarded"}
    assert len({resource for _, resource in all_of_them}) == len(PLAIN) + len(WIDER)
    assert {told(unreserved, "PUT", f"/dav/ada/{name}")[0] for name in WIDER if name != "ab"} == {"ambiguous-target"}


@pytest.mark.parametrize(
    "name",
    [
        *("plan%C2%A0", "plan%E3%80%80", "plan%20", "%20plan", "x/plan%20", "plan%09", "plan%00", "plan%0A"),
        *("pl%E1%A0%8Ean", "pl%C2%ADan", "pl%EF%BB%BFan", "pl%E2%80%8Ban", "plan%EF%B8%8F", "pl%E2%80%AEan"),
        *("a%2Fb", "a%5Cb", "x/../plan", "x%2F..%2Fplan", "./plan", "x//plan", "plan;v=1", "plan%3Bv"),
        *("a+b", "plan%3Fx", "plan%23x", "a%26b", "a%2520b", "a%2540b", "plan%2541", "plan%2525"),
    ],
)
def test_a_name_that_is_another_file_to_some_is_refused(unreserved: RuleSet, wide: RuleSet, name: str) -> None:
    """Blanks at an end, what nobody sees, slashes and dots by escapes, delimiters: whatever `values` says."""
    assert told(unreserved, "PUT", f"/dav/ada/{name}")[0] == "ambiguous-target"
    assert told(wide, "PUT", f"/dav/ada/{name}")[0] == "ambiguous-target"


@pytest.mark.parametrize(
    ("line", "fields", "decision"),
    [
        ("PUT /dav/ada/dir/", (), "no-policy"),
        ("PUT /dav/ada", (), "no-policy"),
        ("MOVE /dav/ada/plan", (("Destination", "/dav/ada/other"),), "no-policy"),
        ("COPY /dav/ada/plan", (("Destination", "/dav/ada/other"),), "no-policy"),
        ("MKCOL /dav/ada/dir", (), "no-policy"),
        ("PROPFIND /dav/ada/plan", (("Depth", "0"),), "passed"),
        ("GET /dav/ada/plan?davmount", (), "passed"),
        ("GET /dav/ada/plan?action=delete", (), "passed"),
        ("GET /dav/ada/plan?_method=DELETE", (), "ambiguous-target"),
    ],
)
def test_what_no_rule_names_is_no_write_of_a_file(
    unreserved: RuleSet, line: str, fields: tuple[tuple[str, str], ...], decision: str
) -> None:
    """A folder, a file with two ends, a read that some server makes a deletion of."""
    method, target = line.split(" ")

    assert told(unreserved, method, target, *fields)[0] == decision


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PROPPATCH", "LOCK", "UNLOCK"])
def test_a_write_is_of_its_paths_file(unreserved: RuleSet, method: str) -> None:
    """Whatever it says of another: only MOVE and COPY have two ends."""
    fields = ("Destination", "/dav/ada/other"), ("Overwrite", "T")

    assert told(unreserved, method, "/dav/ada/plan", *fields) == ("forwarded", "dav/ada/plan")
