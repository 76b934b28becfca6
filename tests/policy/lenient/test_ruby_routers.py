"""Closed actions beside rules that take any: drawn paths, as the routers of Sinatra, Grape and Rails read them."""

import random
import re
from collections.abc import Iterator
from urllib.parse import quote, unquote_to_bytes

import pytest

from gateway.core.caller import NOBODY
from gateway.core.target import Target, read_target
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import HEAD, name_of, request, rules

POLICY = """\
mount: {{path: /, format_endings: {endings}}}
closed:
  - {{match: ["GET,POST /docs/publish", "GET,POST /docs/publish_all", "GET,POST /days/3/run"]}}
writes:
  - {{name: doc, match: "POST /docs/{{id}}", resource: "doc/{{path.id}}", values: any}}
  - {{name: run, match: "POST /days/{{day}}/run", resource: "day/{{path.day}}", values: any}}
"""
CLOSED = ("/docs/publish", "/docs/publish_all", "/days/3/run")
ADDED = (
    *(".json", ".", ".xml", "%2e", "%2Ejson", ".a.b", "/", "//", "%2F", ";a", "%3B", "%20", "+", "%2B", "%09", "%0A"),
    *(
        "%0D",
        "%00",
        "\u00e9",
        "%E2%80%8B",
        "%C2%A0",
        "%ad",
        "_",
        "-",
        "%5F",
        "%2D",
        "*",
        "(",
        "~",
        "!",
        "@",
        ":",
        "%3A",
    ),
    *(",", "=", "&", "%26", "%3F", "?", "%23", "$", "'", "%27", "%25", "%2570", "[", "%5B", "|", "%7C", "^", "%5C"),
    *("index", "/index", ".html", "%80", "%FF", "0", "00", ".0", "e0", "%31", "03", "+3", "0b11", "3_0", "/x"),
)
_INTEGER = re.compile(r"[\s\0]*[-+]?[0-9]+(?:_[0-9]+)*\s*")


def drawn(draw: random.Random) -> str:
    """One of the closed paths, with one to three changes."""
    letters = list(draw.choice(CLOSED))
    for _ in range(draw.choice((1, 1, 1, 2, 2, 3))):
        at = draw.randrange(1, len(letters) + 1)
        kind = draw.randrange(5)
        if kind >= 3 or at == len(letters) or len(letters[at]) > 1:
            letters.insert(len(letters) if kind == 3 else at, draw.choice(ADDED))
        elif kind == 0:
            letters[at] = letters[at].swapcase()
        elif kind == 1 and letters[at] != "/":
            letters[at] = f"%{ord(letters[at]):02x}"
        elif letters[at] in "_-/3":
            letters[at] = draw.choice(("", *ADDED))
    return "".join(quote(letter, safe="".join(map(chr, range(0x21, 0x7F)))) for letter in letters)


def read_so(path: str) -> Iterator[str]:
    """As the three read it: decoded once, with an ending of a format and a slash behind it or without."""
    plain = unquote_to_bytes(path.partition("?")[0]).decode("utf-8", "replace")
    for one in (plain, plain.partition(";")[0]):
        for bare in (one, one.rstrip("/"), re.sub(r"\.[^/.]*/?\Z", "", one), re.sub(r"\.[^/]*/?\Z", "", one)):
            yield bare
            yield re.sub(r"/+", "/", bare)


def runs_a_closed_one(path: str) -> bool:
    """Days are numbers in base ten, with what Ruby lets stand around them."""
    for read in read_so(path):
        day = re.fullmatch(r"/days/([^/]+)/run", read)
        if read in CLOSED or (day and _INTEGER.fullmatch(day[1]) and int(day[1].strip(" \t\r\n\v\f\0")) == 3):
            return True
    return False


@pytest.mark.parametrize("endings", ["refuse", "opaque"])
@pytest.mark.parametrize("seed", range(4))
def test_none_that_passes_is_a_closed_one(tmp_path_factory: pytest.TempPathFactory, endings: str, seed: int) -> None:
    """Neither read nor written."""
    ruleset: RuleSet = rules(tmp_path_factory.mktemp("drawn"), HEAD + POLICY.format(endings=endings))
    draw, passed, past = random.Random(seed), 0, []
    for _ in range(1500):
        path = drawn(draw)
        if not isinstance(read_target(path), Target):
            continue
        told = {name_of(ruleset.match(request(method, path), NOBODY)) for method in ("GET", "POST")}
        if told & {"read", "doc", "run"}:
            passed += 1
            past += [path] * runs_a_closed_one(path)

    assert past == []
    assert passed > 50


@pytest.mark.parametrize("path", [*CLOSED, "/days/0_3/run", "/docs/publish.json", "/docs/%70ublish/", "/days/+3/run"])
def test_the_readers_find_what_is_closed(path: str) -> None:
    """Else the other would show nothing."""
    assert runs_a_closed_one(path)
