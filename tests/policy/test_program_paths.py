"""A path that is another rule's to a server that runs a program for what stands behind it, or for its directory."""

from pathlib import Path

import pytest

from gateway.core.caller import Caller
from gateway.policy.program_paths import ProgramPaths
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


def test_nothing_is_looked_at_where_no_rule_names_a_program() -> None:
    """Of other methods neither."""
    assert not ProgramPaths([pattern("/{rest...}"), pattern("/docs/index"), pattern("/cron.php/{job}")])
    assert ProgramPaths([pattern("/cron.php"), pattern("/{rest...}", "POST")])
