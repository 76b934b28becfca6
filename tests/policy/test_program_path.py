"""Programs that patterns end with, and the other paths for which servers run them."""

import pytest

from gateway.policy.program_path import Programs, program_named, programs_run
from tests.policy.placing import pattern


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
