"""Programs that patterns end with, the other paths for which servers run them, and whose paths these then are."""

from pathlib import Path

import pytest

from gateway.core.caller import Caller
from gateway.core.target import Target, read_target
from gateway.policy.lenient.program_path import ProgramPaths, Programs, program_named, programs_run
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import HEAD, name_of, request, rules
from tests.policy.placing import pattern

POLICY = """\
mount: {path: /m, encoded_slash: opaque}
read_only: [{match: "POST /m/look/{what}"}]
closed:
  - {match: "GET,POST /m/cron.php"}
  - {match: "GET,POST /m/admin/index.php"}
  - {match: "GET /m/docs/{id}/index.html"}
  - {match: "GET,POST /m/look/at.cgi"}
  - {match: "GET,POST /m/run.php", when: {query: {do: purge}}}
writes:
  - {name: one, match: "POST /m/{page}", resource: "page/{path.page}"}
  - {name: two, match: "POST /m/{page}/{part}", resource: "page/{path.page}"}
  - {name: rest, match: "POST /m/wp/{rest...}", resource: "wp/{path.rest}"}
  - {name: program, match: "POST /m/wp/edit.php", resource: wp}
  - {name: job, match: "POST /m/jobs.php/{job}", resource: "job/{path.job}"}
  - {name: jobs, match: "POST /m/jobs.php", resource: jobs}
  - {name: home, match: "POST /m/home", resource: home}
  - {name: index, match: "POST /m/home/index.php", resource: home}
"""


@pytest.mark.parametrize(
    ("path", "named"),
    [
        *((f"/a/{name}", name) for name in ("cron.php", "Cron.PHP", "a.cgi", "x.asmx", "index.php", "index.html")),
        *((f"/{name}", name) for name in ("default.aspx", "Default.htm", "index.jsp", "index.shtml", "iisstart.htm")),
        *((path, None) for path in ("/", "/a", "/a.html", "/a.json", "/{name}", "/cron.php/{rest...}", "/cron.php/x")),
        ("/{dir}/cron.php/", "cron.php"),
    ],
)
def test_a_pattern_ends_with_a_program_or_an_index(path: str, named: str | None) -> None:
    """With nothing behind it: what a pattern names there is meant as it is."""
    assert program_named(pattern(path)) == named


@pytest.mark.parametrize(
    ("path", "run"),
    [
        ("cron.php/x/y", ["cron.php"]),
        ("a/CRON.PHP/x", ["a/CRON.PHP"]),
        ("a.php/b.cgi/x", ["a.php", "a.php/b.cgi"]),
        *((path, []) for path in ("cron.php", "a/b", "cron.phps/x", "index.html/x", "")),
    ],
)
def test_a_program_is_run_with_what_follows_it(path: str, run: list[str]) -> None:
    """A file that is none has nothing behind it."""
    assert ["/".join(segments) for segments in programs_run(tuple(path.split("/")))] == run


@pytest.mark.parametrize(
    ("patterns", "path", "meant"),
    [
        (["/cron.php"], "other.php/x", ["other.php"]),
        (["/cron.php"], "a", []),
        (["/cron.php"], "other.php/x.php/y.php/z", ["other.php"]),
        (["/a/index.html"], "a", ["a/index.html"]),
        (["/a/index.html"], "b.php/x", ["b.php/x/index.html"]),
        (["/a/index.php", "/b/index.php", "/default.aspx"], "a", ["a/default.aspx", "a/index.php"]),
    ],
)
def test_only_what_patterns_name_is_looked_for(patterns: list[str], path: str, meant: list[str]) -> None:
    """An index in a directory by the names that patterns have."""
    programs = Programs(map(pattern, patterns))

    assert ["/".join(segments) for segments in programs.meant_by(tuple(path.split("/")))] == meant


def test_there_are_none_without_such_a_text() -> None:
    """Most policies have none, and nothing is looked at for them."""
    assert not Programs(map(pattern, ("/a", "/{name}", "/a.json", "/cron.php/{rest...}")))


@pytest.fixture(scope="module")
def ruleset(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    return rules(tmp_path_factory.mktemp("programs"), HEAD + POLICY)


@pytest.mark.parametrize(
    ("target", "found"),
    [
        ("/m/cron.php", "no-policy"),
        ("/m/cron.php/x", "ambiguous-target"),
        ("/m/Cron.PHP/x", "ambiguous-target"),
        ("/m/cron.php%2Fx", "ambiguous-target"),
        ("/m/cron.phps/x", "two"),
        ("/m/wp/other.php/x", "rest"),
        ("/m/admin", "ambiguous-target"),
        ("/m/Admin", "ambiguous-target"),
        ("/m/administrator", "one"),
        ("/m/admin/other", "two"),
        ("/m/wp/edit.php", "program"),
        ("/m/wp/edit.php/x", "ambiguous-target"),
        ("/m/wp/edit.php/x/y", "ambiguous-target"),
        ("/m/wp/a/edit.php/x", "rest"),
        ("/m/jobs.php/7", "job"),
        ("/m/jobs.php/7.php", "job"),
        ("/m/home", "home"),
        ("/m/look/at.cgi%2Fx", "ambiguous-target"),
        ("/m/look/around", "read"),
        ("/m/run.php/x", "ambiguous-target"),
    ],
)
def test_a_write_is_of_one_program(ruleset: RuleSet, target: str, found: str) -> None:
    """What a rule itself names in text is meant as it is; a program that no rule names is a value."""
    assert name_of(ruleset.match(request("POST", target), Caller())) == found


@pytest.mark.parametrize(
    ("target", "found"),
    [
        ("/m/cron.php", "reads-denied"),
        ("/m/cron.php/x", "ambiguous-target"),
        ("/m/CRON.php/x/y.css", "ambiguous-target"),
        ("/m/cron.php%2Fx", "ambiguous-target"),
        ("/m/%2563ron.php/x", "ambiguous-target"),
        ("/m/index.php/cron.php/x", "ambiguous-target"),
        ("/m/cron.php/x%3Fy", "ambiguous-target"),
        ("/m/other.php/x", "read"),
        ("/m/cron/x", "read"),
        ("/m/admin", "ambiguous-target"),
        ("/m/admin/", "ambiguous-target"),
        ("/m/Admin/", "ambiguous-target"),
        ("/m/admin%2F", "ambiguous-target"),
        ("/m/admin/index.php/x", "ambiguous-target"),
        ("/m/admin/x", "read"),
        ("/m/docs/7/", "ambiguous-target"),
        ("/m/docs/7", "ambiguous-target"),
        ("/m/docs/7/8", "read"),
        ("/m/docs", "read"),
        ("/m/run.php/x", "read"),
        ("/m/run.php/x?do=purge", "ambiguous-target"),
    ],
)
def test_a_read_is_closed_where_its_program_is(ruleset: RuleSet, target: str, found: str) -> None:
    """It would pass without a token; conditions hold as they do for the program's own path."""
    assert name_of(ruleset.match(request("GET", target), Caller())) == found


UPPER = "mount: {path: /m}\nwrites: [{name: upper, match: 'POST /m/{rest...}', resource: m}]\n"
DEEPER = "upstream: deeper\nurl: http://127.0.0.1:9001\nmount: {path: /m/admin/index.php}\nreads: deny\n"


@pytest.mark.parametrize(
    ("method", "target", "found"),
    [
        *(("GET", target, "ambiguous-target") for target in ("/m/admin", "/m/admin/", "/m/ADMIN", "/m/admin%2F")),
        *(("POST", target, "ambiguous-target") for target in ("/m/admin", "/m/ADMIN")),
        ("GET", "/m/admin/index.php", "reads-denied"),
        ("GET", "/m/admin/x", "read"),
        ("GET", "/m", "read"),
        ("POST", "/m/admin/x", "upper"),
    ],
)
def test_a_directory_is_the_mount_that_is_its_index(tmp_path: Path, method: str, target: str, found: str) -> None:
    """A server finds the other upstream's program there."""
    ruleset = rules(tmp_path, HEAD + UPPER, DEEPER)

    assert name_of(ruleset.match(request(method, target), Caller())) == found


@pytest.mark.parametrize(
    ("named", "method", "is_refused"),
    [("/cron.php", "POST", True), ("/cron.php", "PUT", False), ("/docs", "POST", False)],
)
def test_programs_are_of_a_method(named: str, method: str, is_refused: bool) -> None:
    """Nothing is looked at where no rule of the request's own names one."""
    taker = pattern("/{rest...}", method)
    paths = ProgramPaths([pattern(named, "POST"), taker, pattern("/cron.php/{job}", "PUT")])
    target = read_target("/cron.php/x/y")
    assert isinstance(target, Target)

    assert (paths.refusal(method, taker, target) is not None) is is_refused
