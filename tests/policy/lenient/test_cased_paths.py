"""Paths that a server which tells neither case nor marks nor a slash at the end apart, or drops a part of them, takes
for another rule's or mount's.
"""

from pathlib import Path

import pytest

from gateway.core.caller import Caller
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import HEAD, name_of, request, rules

CALLER = Caller()
WRITES = 'writes:\n  - {{name: {name}, match: "PUT /{path}/{{id}}", resource: "{name}/{{path.id}}"}}\n'

CASED = """\
read_only:
  - match: POST /docs/search
writes:
  - {name: admin, match: "PUT /admin/{id}", resource: "admin/{path.id}"}
  - {name: any, match: "PUT,POST,DELETE /{kind}/{id}", resource: "any/{path.id}"}
  - {name: below, match: "PUT /{kind}/{id}/parts/{rest...}", resource: "any/{path.id}"}
  - {name: log, match: "PUT /admin/{id}/parts/log", resource: "log/{path.id}"}
  - {name: lower, match: "PUT /lists/{id}/all", resource: "list/{path.id}"}
  - {name: upper, match: "PUT /Lists/{id}/all", resource: "list/{path.id}"}
  - {name: flagged, match: "PUT /a/b/c/d/x", resource: x, when: {header: {flag: a}}}
  - {name: unflagged, match: "PUT /a/b/c/d/{id}", resource: "x/{path.id}"}
  - {name: ended, match: "PUT /ended/all/", resource: all}
  - {name: unended, match: "PUT /ended/{id}", resource: "ended/{path.id}"}
  - {name: publish, match: "POST /docs/publish_all", resource: docs}
  - {name: dash, match: "PUT /both/a-b", resource: both}
  - {name: underscore, match: "PUT /both/a_b", resource: both}
  - {name: all, match: "PATCH /{rest...}", resource: "all/{path.rest}"}
  - {name: one, match: "PATCH /admin/{id}", resource: "admin/{path.id}"}
"""


@pytest.fixture(scope="module")
def cased(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    return rules(tmp_path_factory.mktemp("cased"), HEAD + CASED)


@pytest.mark.parametrize(
    ("method", "target", "taken"),
    [
        ("PUT", "/admin/7", "admin"),
        ("PUT", "/x/7", "any"),
        ("PUT", "/ADMIN/7", "ambiguous-target"),
        ("PUT", "/Admin/7", "ambiguous-target"),
        ("PUT", "/%41dmin/7", "ambiguous-target"),
        ("PUT", "/%61dmin/7", "ambiguous-target"),
        ("DELETE", "/ADMIN/7", "any"),
        ("PUT", "/ADMIN/7/", "no-policy"),
        ("PUT", "/ADMIN", "no-policy"),
        ("POST", "/docs/search", "read"),
        ("POST", "/docs/Search", "ambiguous-target"),
        ("POST", "/DOCS/SEARCH", "ambiguous-target"),
        ("POST", "/docs/%C5%BFearch", "ambiguous-target"),
        ("POST", "/docs/searched", "any"),
        ("PUT", "/x/7/parts/LOG", "below"),
        ("PUT", "/admin/7/parts/log", "log"),
        ("PUT", "/Admin/7/parts/log", "ambiguous-target"),
        ("PUT", "/admin/7/parts/LOG", "ambiguous-target"),
        ("PUT", "/admin/7/PARTS/log", "no-policy"),
        ("PUT", "/lists/7/all", "lower"),
        ("PUT", "/Lists/7/all", "upper"),
        ("PUT", "/LISTS/7/all", "no-policy"),
        ("PUT", "/a/b/c/d/X", "unflagged"),
        ("PUT", "/ended/all/", "ended"),
        ("PUT", "/ended/all", "ambiguous-target"),
        ("PUT", "/ended/7", "unended"),
        ("GET", "/ADMIN/7", "read"),
        ("POST", "/docs/search%C4%B1", "any"),
        ("PUT", "/adm%C4%B1n/7", "ambiguous-target"),
        ("PUT", "/ADM%C4%B0N/7", "ambiguous-target"),
        ("POST", "/docs/publish_all", "publish"),
        ("POST", "/docs/publish-all", "ambiguous-target"),
        ("POST", "/docs/Publish.All", "ambiguous-target"),
        ("POST", "/docs/publish-alls", "any"),
        ("POST", "/docs/publish%20all", "ambiguous-target"),
        ("POST", "/docs/Publish%20%20all", "ambiguous-target"),
        ("POST", "/docs/publish%2Ball", "ambiguous-target"),
        ("POST", "/docs/publish%C2%A0all", "ambiguous-target"),
        ("POST", "/docs/publish%20alls", "any"),
        ("PUT", "/ad%20min/7", "ambiguous-target"),
        ("PUT", "/both/a%20b", "ambiguous-target"),
        ("POST", "/docs/0f1d2c3b-4a59-4687-9a0b-c1d2e3f40007", "any"),
        ("PUT", "/both/a-b", "dash"),
        ("PUT", "/both/a_b", "underscore"),
        ("PUT", "/both/a.b", "ambiguous-target"),
        ("PATCH", "/index.php/admin/7", "ambiguous-target"),
        ("PATCH", "/(S(x))/Admin/7", "ambiguous-target"),
        ("PATCH", "/admin.php/7", "ambiguous-target"),
        ("PATCH", "/index.php/other/7", "all"),
        ("PATCH", "/admin/7.php", "one"),
        ("POST", "/docs/search.php", "ambiguous-target"),
        ("GET", "/index.php/admin/7", "read"),
    ],
)
def test_a_path_that_a_lenient_server_takes_for_a_more_specific_rules_is_refused(
    cased: RuleSet, method: str, target: str, taken: str
) -> None:
    """Express, ASP.NET and IIS tell neither case nor a slash at the end, CherryPy no marks, CakePHP no blanks, and PHP
    drops its program's name. What no rule takes is refused anyway, reads are reads, and of two rules that differ in
    nothing else the policy itself says which is which."""
    assert name_of(cased.match(request(method, target), CALLER)) == taken


@pytest.mark.parametrize(("flag", "taken"), [("a", "ambiguous-target"), ("b", "unflagged")])
def test_only_where_that_rules_conditions_hold(cased: RuleSet, flag: str, taken: str) -> None:
    """Otherwise that server would not run it either."""
    assert name_of(cased.match(request("PUT", "/a/b/c/d/X", ("Flag", flag)), CALLER)) == taken


@pytest.mark.parametrize(
    ("method", "target", "taken"),
    [
        ("PUT", "/admin/7", "admin"),
        ("PUT", "/ADMIN/7", "ambiguous-target"),
        ("PUT", "/%41dmin/7", "ambiguous-target"),
        ("PUT", "/%61dmin/7", "ambiguous-target"),
        ("PUT", "/adminx/7", "root"),
        ("PUT", "/adm%C4%B1n/7", "ambiguous-target"),
        ("PUT", "/index.php/admin/7", "ambiguous-target"),
        ("PUT", "/admin.php/7", "ambiguous-target"),
        ("PUT", "/docs/index.php", "root"),
        ("PUT", "/ad%20min/7", "ambiguous-target"),
        ("PUT", "/ad%20minx/7", "root"),
        ("PUT", "/Deep/admin/7", "no-policy"),
        ("GET", "/ADMIN/7", "read"),
    ],
)
def test_nor_does_another_case_lead_to_a_more_general_mount(
    tmp_path: Path, method: str, target: str, taken: str
) -> None:
    """Two policies of one server are told apart by its paths, and it may not tell their case."""
    root = "upstream: root\nurl: http://127.0.0.1:1\n" + WRITES.format(name="root", path="{kind}")
    admin = "upstream: admin\nurl: http://127.0.0.1:1\nmount: {path: /admin}\n" + WRITES.format(
        name="admin", path="admin"
    )

    assert name_of(rules(tmp_path, root, admin).match(request(method, target), CALLER)) == taken


@pytest.mark.parametrize(
    ("method", "target", "taken"),
    [
        ("GET", "/admin%2Fpurge", "ambiguous-target"),
        ("HEAD", "/Admin%2fpurge", "ambiguous-target"),
        ("OPTIONS", "/admin%252Fpurge", "ambiguous-target"),
        ("GET", "/admin%255Cpurge", "ambiguous-target"),
        ("GET", "/docs%2Fadmin", "read"),
        ("GET", "/docs/100%25", "read"),
        ("GET", "/open%2F7", "read"),
        ("GET", "/admin/purge", "reads-denied"),
        ("GET", "/admin.json", "ambiguous-target"),
        ("HEAD", "/Admin.php/purge", "ambiguous-target"),
        ("GET", "/admin.", "ambiguous-target"),
        ("GET", "/admin%20/purge", "ambiguous-target"),
        ("GET", "/ad%20min/purge", "ambiguous-target"),
        ("GET", "/ad+min/purge", "ambiguous-target"),
        ("GET", "/op%20en/purge", "read"),
        ("GET", "/admin%253Bx/purge", "ambiguous-target"),
        ("GET", "/admin%2500/purge", "ambiguous-target"),
        ("GET", "/admin%2520.json", "ambiguous-target"),
        ("GET", "/open/x%252F..%252F..%252Fadmin", "ambiguous-target"),
        ("GET", "/index.php/admin/purge", "ambiguous-target"),
        ("GET", "/(S(x))/admin/purge", "ambiguous-target"),
        ("GET", "/adm%C4%B1n/purge", "ambiguous-target"),
        ("GET", "/index.php/docs", "read"),
        ("GET", "/docs/admin.json", "read"),
        ("GET", "/administration.json", "read"),
        ("GET", "/open.json", "read"),
    ],
)
def test_no_lenient_reading_leads_around_a_mount_that_denies_reads(
    tmp_path: Path, method: str, target: str, taken: str
) -> None:
    """What a server that decodes a slash, or drops a format, would find there acts at a GET; where a mount takes reads,
    a read is a read."""
    mounts = [("", ""), ("mount: {path: /admin}\n", "reads: deny\n"), ("mount: {path: /open}\n", "")]
    files = [f"upstream: u{at}\nurl: http://127.0.0.1:1\n{mount}{reads}" for at, (mount, reads) in enumerate(mounts)]

    assert name_of(rules(tmp_path, *files).match(request(method, target), CALLER)) == taken


ESCAPED = """\
mount: {{path: /m, encoded_slash: {slash}, delimiters: opaque}}
read_only:
  - match: POST /m/search/all
writes:
  - {{name: item, match: "PUT,POST /m/{{id}}", resource: "m/{{path.id}}"}}
  - {{name: publish, match: "PUT /m/{{id}}/publish", resource: "m/{{path.id}}"}}
"""


@pytest.mark.parametrize(
    ("target", "refuse", "opaque"),
    [
        ("PUT /m/7%2Fpublish", "ambiguous-target", "item"),
        ("PUT /m/7%252Fpublish", "ambiguous-target", "item"),
        ("PUT /m/7%25252FPublish", "ambiguous-target", "item"),
        ("POST /m/7%252Fpublish", "ambiguous-target", "item"),
        ("POST /m/search%252Fall", "ambiguous-target", "item"),
        ("PUT /m/7%255Cpublish", "ambiguous-target", "ambiguous-target"),
        ("PUT /m/7%252F..", "ambiguous-target", "ambiguous-target"),
        ("PUT /m/%252E%252E/7/publish", "ambiguous-target", "ambiguous-target"),
        ("PUT /m/deep%252F7", "ambiguous-target", "item"),
        ("PUT /m/%2564eep%253Bx", "ambiguous-target", "ambiguous-target"),
        ("PUT /m/7%252Fother", "item", "item"),
        ("PUT /m/100%25", "item", "item"),
        ("PUT /m/100%25/publish", "publish", "publish"),
        ("PUT /m/%2537", "item", "item"),
        ("GET /m/7%252Fpublish", "read", "read"),
        ("GET /m/100%25", "read", "read"),
        ("GET /m/%252e%252e/7", "ambiguous-target", "ambiguous-target"),
    ],
)
def test_an_escaped_escape_leads_to_no_other_rule_and_no_deeper_mount(
    tmp_path: Path, target: str, refuse: str, opaque: str
) -> None:
    """As a plain encoded slash does not; where the mount takes that as a character, it takes this so too."""
    deep = "upstream: deep\nurl: http://127.0.0.1:1\nmount: {path: /m/deep}\n"
    deep += WRITES.format(name="deep", path="m/deep")
    asked = request(*target.split(" "))

    for slash, taken in (("refuse", refuse), ("opaque", opaque)):
        (tmp_path / slash).mkdir()
        ruleset = rules(tmp_path / slash, HEAD + ESCAPED.format(slash=slash), deep)
        assert name_of(ruleset.match(asked, CALLER)) == taken


@pytest.mark.parametrize(
    ("method", "target", "host", "taken"),
    [
        ("PUT", "/api/admin/7", "a.example", "admin"),
        ("PUT", "/api/admin/7", "A.example.:80", "admin"),
        ("PUT", "/api/ADMIN/7", "a.example", "ambiguous-target"),
        ("PUT", "/api/ADMIN/7", "b.example", "ambiguous-target"),
        ("PUT", "/api/ADMIN/7", None, "ambiguous-target"),
        ("PUT", "/api/admin%2F7", "a.example", "ambiguous-target"),
        ("PUT", "/api/admin/7", "b.example", "top"),
        ("PUT", "/api/admins/7", "a.example", "top"),
        ("GET", "/api/admin/7", "a.example", "reads-denied"),
        ("GET", "/api/Admin/7", "a.example", "ambiguous-target"),
        ("GET", "/api/admin%2F7", "a.example", "ambiguous-target"),
        ("GET", "/api/ADMIN%252F7", "a.example", "ambiguous-target"),
        ("GET", "/api/admin%2F7", "b.example", "ambiguous-target"),
        ("GET", "/api/admin/7", "b.example", "read"),
        ("GET", "/api/admin/a%20b", "b.example", "read"),
        ("GET", "/api/other/7", "a.example", "read"),
    ],
)
def test_a_mount_of_a_host_lies_below_one_of_any(
    tmp_path: Path, method: str, target: str, host: str | None, taken: str
) -> None:
    """In another spelling its path is in doubt at every host; in its own it is another host's, as the policies say."""
    top = "upstream: top\nurl: http://127.0.0.1:1\nmount: {path: /api}\n" + WRITES.format(name="top", path="api/{kind}")
    mount = "mount: {path: /api/admin, host: a.example}\nreads: deny\n"
    admin = f"upstream: admin\nurl: http://127.0.0.1:1\n{mount}" + WRITES.format(name="admin", path="api/admin")
    headers = [] if host is None else [("Host", host)]

    assert name_of(rules(tmp_path, top, admin).match(request(method, target, *headers), CALLER)) == taken


def test_a_mount_of_any_host_takes_nothing_of_a_hosts_own(tmp_path: Path) -> None:
    """There the host's mount takes all, however deep the other is: its spelling is in no doubt."""
    own = "upstream: own\nurl: http://127.0.0.1:1\nmount: {path: /, host: a.example}\n" + WRITES.format(
        name="own", path="{kind}"
    )
    deep = "upstream: deep\nurl: http://127.0.0.1:1\nmount: {path: /admin}\nreads: deny\n"

    asked = request("PUT", "/ADMIN/7", ("Host", "a.example"))
    assert name_of(rules(tmp_path, own, deep).match(asked, CALLER)) == "own"


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "POST"])
@pytest.mark.parametrize("protocol", ["http", "mcp"])
def test_no_read_names_another_method_in_its_query(tmp_path: Path, method: str, protocol: str) -> None:
    """Of a mount that takes writes by their rules, of one with a read-only entry, and of an MCP server."""
    ruleset = rules(tmp_path, f"{HEAD}protocol: {protocol}\nmount: {{path: /m}}\nread_only:\n  - match: POST /m/look\n")
    body = '{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}' if method == "POST" else None
    for target in ("/m", "/m/look") if method != "POST" or protocol == "mcp" else ("/m/look",):
        assert name_of(ruleset.match(request(method, f"{target}?a=1", body=body), CALLER)) == "read"
        assert name_of(ruleset.match(request(method, f"{target}?_method=PUT", body=body), CALLER)) == "ambiguous-target"
