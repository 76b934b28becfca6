"""Which resource a value of a path names: one for all spellings of a value, another for every other value."""

import json
from pathlib import Path

import pytest

from gateway.core.caller import NOBODY
from gateway.core.target import Target, read_target
from gateway.policy.match import Matched, Read
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import name_of, one_rule, request, rules

OPAQUE = "mount: {path: /, delimiters: opaque, plus: opaque}\n"


@pytest.fixture(scope="module")
def ruleset(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    """Frozen, and the same for all."""
    directory: Path = tmp_path_factory.mktemp("values")
    return rules(directory, one_rule("PUT /docs/{id}", "doc/{path.id}", "    values: any\n") + OPAQUE)


def resource(ruleset: RuleSet, spelled: str) -> str | None:
    """None: nothing of it is sent."""
    if not isinstance(read_target(f"/docs/{spelled}"), Target):
        return None
    asked = request("PUT", f"/docs/{spelled}")
    matched = ruleset.match(asked, NOBODY)
    if not isinstance(matched, Matched):
        return None
    named = ruleset.resolve(matched, asked, NOBODY)
    return named if isinstance(named, str) else None


@pytest.mark.parametrize(
    "spellings",
    [
        ("a", "%61"),
        ("A", "%41"),
        ("7.0", "7%2E0", "%37.0"),
        ("a~b", "a%7Eb", "a%7eb"),
        ("a+b", "a%2Bb", "a%2bb"),
        ("a:b", "a%3Ab"),
        ("a@b", "a%40b"),
        ("a!$&'()*,=", "a%21%24%26%27%28%29%2A%2C%3D"),
        ("caf%C3%A9", "caf%c3%a9", "c%61f%C3%A9"),
        ("a..b", "a%2E.b"),
        ("...", "%2E%2E%2E"),
    ],
)
def test_one_value_is_one_resource_however_it_is_spelled(ruleset: RuleSet, spellings: tuple[str, ...]) -> None:
    """Servers decode a segment once (RFC 3986, section 2.4), so that an escape is no way around the fence."""
    named = {resource(ruleset, spelled) for spelled in spellings}

    assert len(named) == 1 and None not in named


# Each of these is another value to every server that was tried, whatever a person takes it for.
DIFFERENT = [
    *(
        "a",
        "A",
        "a.",
        "a..",
        ".a",
        "a.json",
        "a_",
        "a-",
        "a+b",
        "a%20b",
        "a_b",
        "a-b",
        "ab",
        "a%25",
        "a%2525",
        "a%252Fb",
    ),
    *(
        "7",
        "07",
        "7.0",
        "+7",
        "-7",
        "7e0",
        "%EF%BC%97",
        "1",
        "%C2%B9",
        "a%22",
        "a%27",
        "a%5E",
        "a%60",
        "a%7C",
        "a%7Bb%7D",
    ),
    *(
        "caf%C3%A9",
        "cafe%CC%81",
        "cafe",
        "k",
        "K",
        "%E2%84%AA",
        "s",
        "%C5%BF",
        "ss",
        "%C3%9F",
        "i",
        "%C4%B0",
        "i%CC%87",
    ),
    *(
        "a%EF%BC%8Fb",
        "a%E2%81%84b",
        "%5Ba%5D",
        "a%3Fb",
        "a%23b",
        "a%26b",
        "null",
        "None",
        "undefined",
        "true",
        "__proto__",
    ),
]


def test_two_values_are_two_resources(ruleset: RuleSet) -> None:
    """Case, width, composition, and what only looks alike: none is folded, so that none is fenced as another."""
    named = [resource(ruleset, spelled) for spelled in DIFFERENT]

    assert None not in named
    assert len(set(named)) == len(DIFFERENT)


def test_two_values_beside_each_other_stay_two(tmp_path: Path) -> None:
    """Where one may have a slash in it, none is taken for the border between them."""
    policy = one_rule("PUT /docs", "doc/{json:/team}/{json:/name}", "    values: any\n") + OPAQUE
    ruleset, named = rules(tmp_path, policy), set()
    for team, name in (("north", "a/b"), ("north/a", "b"), ("north%2Fa", "b"), ("north", "a%2Fb")):
        asked = request("PUT", "/docs", body=json.dumps({"team": team, "name": name}))
        matched = ruleset.match(asked, NOBODY)
        assert isinstance(matched, Matched)
        named.add(ruleset.resolve(matched, asked, NOBODY))

    assert len(named) == 4 and all(isinstance(one, str) for one in named)


@pytest.mark.parametrize(
    "spelled",
    [
        *(
            "a%2Fb",
            "a%5Cb",
            "a%3Bb",
            "a;b",
            "..",
            ".",
            "%2E",
            "%2e%2E",
            "a%2F..",
            "a%00",
            "%00a",
            "a%09",
            "a%0D%0A",
            "a%7F",
        ),
        *("a%", "a%2", "a%zz", "%u0061", "%FF", "%C3%28", "%ED%A0%80", "%F4%90%80%80", "a%20", "%20a", "a%C2%A0"),
        *("a%E2%80%8B", "a%EF%BB%BF", "a%C2%AD", "a%E2%80%AE", "a%CD%8F", ""),
    ],
)
def test_a_value_that_two_servers_read_differently_is_none(ruleset: RuleSet, spelled: str) -> None:
    """Slashes, dots and parameters by escapes, controls, what is no UTF-8, and what nobody sees."""
    assert resource(ruleset, spelled) is None


@pytest.mark.parametrize(
    ("path", "refuse"),
    [
        ("8%3Fx", True),
        ("8%3f", True),
        ("8%23x", True),
        ("8%26x", True),
        ("8&x", True),
        ("8%253Fx", True),
        ("8%25253Fx", True),
        ("%2537", True),
        ("8%253", False),
        ("100%25", False),
        ("8%3Ax", False),
        ("8=x", False),
    ],
)
def test_a_value_at_whose_delimiter_a_path_may_end_is_none(tmp_path: Path, path: str, refuse: bool) -> None:
    """Behind nginx with `proxy_pass http://api$uri`, or Apache's `RewriteRule ^(.*)$ index.php?q=$1`, `8%3Fx` and
    `8%26x` are document 8, and `%2537` is 7, which others hold. Reads write nothing; a mount may say otherwise."""
    plain = one_rule("PUT /docs/{id}", "doc/{path.id}", "    values: any\n")

    for at, (mount, taken) in enumerate((("", "ambiguous-target" if refuse else "one"), (OPAQUE, "one"))):
        (tmp_path / str(at)).mkdir()
        ruleset = rules(tmp_path / str(at), plain + mount)
        assert name_of(ruleset.match(request("PUT", f"/docs/{path}"), NOBODY)) == taken
        assert name_of(ruleset.match(request("GET", f"/docs/{path}"), NOBODY)) == "read"


def test_a_count_is_not_shown_for_a_path_that_may_end_earlier(tmp_path: Path) -> None:
    """What a server shows there may be another document."""
    ruleset = rules(tmp_path, one_rule(more="    revision: gateway\n"))

    for path, counted in (("7", "x/7"), ("7%3Fx", None)):
        read = ruleset.match(request("GET", f"/x/{path}"), NOBODY)
        assert isinstance(read, Read)
        assert read.counted == counted
