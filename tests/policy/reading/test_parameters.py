"""A query is read in one way or not at all."""

import pytest

from gateway.core.decision import AMBIGUOUS_TARGET, RESOURCE_UNRESOLVED, Refused
from gateway.core.target import Target, read_target
from gateway.policy.reading.parameters import has_bad_escape, overrides_method, read_query


def asked(query: str) -> str | Refused | None:
    """What `r` is in a query."""
    target = read_target(f"/q?{query}")
    assert isinstance(target, Target)
    return read_query(target, "r")


@pytest.mark.parametrize(
    ("query", "value"),
    [
        ("r=7", "7"),
        ("r", ""),
        ("r=", ""),
        ("a=1&r=x+y%2Bz", "x y+z"),
        ("%72=7", "7"),
        ("r=%C3%A4%3B", "\u00e4;"),
        ("", None),
        ("rr=7", None),
        ("x[r]=7", None),
        ("&" * 999 + "r=7", "7"),
        ("a[0]=1&a[1]=2&r=7", "7"),
        ("r=7]%3D8&a[0]==1", "7]=8"),
        ("r=7?r=8", "7?r=8"),
    ],
    ids=lambda text: repr(text)[:30],
)
def test_a_parameter_has_one_value(query: str, value: str | None) -> None:
    """Decoded once, a plus as a blank; others may repeat."""
    assert asked(query) == value


@pytest.mark.parametrize(
    "other",
    [
        *(
            "r",
            "R",
            "r[]",
            "[r]",
            "%5Br%5D",
            "]r",
            "r]",
            "r%5D",
            "r[",
            "[][r]",
            "[r][]",
            ".r",
            "r.",
            "r[x",
            "r]x",
            "[R]",
        ),
        *("+[r]", "r%00", "%E2%80%8Br", "r.x"),
    ],
)
@pytest.mark.parametrize("query", ["r=7&{}=8", "{}=8&r=7"])
def test_a_name_in_two_spellings_is_ambiguous(other: str, query: str) -> None:
    """One of them is what another reader takes."""
    refused = asked(query.format(other))

    assert isinstance(refused, Refused) and refused.decision is AMBIGUOUS_TARGET


@pytest.mark.parametrize("query", ["[r]=8", "R=8", "r[]=8", "r.x=8"])
def test_a_name_in_another_spelling_alone_is_ambiguous(query: str) -> None:
    """To a rule it is not there, to other readers it is."""
    assert isinstance(asked(query), Refused)


@pytest.mark.parametrize(
    "query",
    [
        "r=%u0037",
        "r=%zz",
        "r=7%",
        "r=%4",
        "r=7&x=%",
        "x=1;r=7",
        "r=7;",
        "&" * 1000 + "r=7",
        "r=7" + "&a" * 1000,
        "r=7]=8",
        "r=7%5D=8",
        "x=%5d=&r=7",
        "%FF=1&r=7",
    ],
    ids=lambda query: query[:20] + query[-5:],
)
def test_a_query_that_two_servers_read_differently_is_ambiguous(query: str) -> None:
    """Escapes that are none, semicolons, names that are not UTF-8, more parameters than servers take."""
    refused = asked(query)

    assert isinstance(refused, Refused) and refused.decision is AMBIGUOUS_TARGET


def test_a_value_that_is_not_utf8_names_nothing() -> None:
    """It is `resource-unresolved`."""
    refused = asked("r=%E4")

    assert isinstance(refused, Refused) and refused.decision is RESOURCE_UNRESOLVED


@pytest.mark.parametrize(
    ("text", "bad"), [("", False), ("%41", False), ("%4", True), ("%", True), ("%%41", True), ("%zz", True)]
)
def test_a_percent_sign_that_begins_no_escape_is_told(text: str, bad: bool) -> None:
    """RFC 3986, section 2.1."""
    assert has_bad_escape(text) is bad


@pytest.mark.parametrize(
    ("query", "overrides"),
    [
        *(
            (query, True)
            for query in ("_method=DELETE", "a=1&_METHOD=PUT", "%5fmethod=PUT", "_%6dethod", "a;_method=PUT")
        ),
        *((query, True) for query in ("[_method]=PUT", "X-HTTP-Method-Override=PUT", "$httpMethod=DELETE")),
        *((query, True) for query in ("_HttpMethod=PUT", "x-tunneled-method=PUT", "a=1&alf_method=PUT", ".method=PUT")),
        *((query, True) for query in ("rest_route=/a", "rest+route=/a", "rest.route=/a", "%72est_route=/a", "_method")),
        *((query, False) for query in ("", "method=DELETE", "a=_method", "a=%5f", "method_=x", "x[_method]=PUT")),
        *((query, True) for query in ("X-HTTP-Method-Overrid%u0065=PUT", "a=1;_metho%U0064=PUT", "%u0069d=8", "%=1")),
        *((query, True) for query in ("a=1&_met%hod=PUT", "x%zz")),
        *((query, False) for query in ("q=100%", "q=%u0065&r=5%;6%", "a=_metho%u0064", "a=1;%u0069d=8", "100%25=a")),
        *((query, False) for query in ("payment_method=card", "q=%FF", "a=rest_route", "restRoute=/a")),
    ],
)
def test_a_query_that_names_another_method_is_told(query: str, overrides: bool) -> None:
    """Some servers take it for the request's own."""
    target = read_target(f"/q?{query}")
    assert isinstance(target, Target)

    refused = overrides_method(target)

    assert (refused is not None) is overrides
    assert refused is None or refused.decision is AMBIGUOUS_TARGET


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("/save", ""),
        ("/save=1&x=/publish", "1"),
        ("x=1&/save", ""),
        ("/publish", None),
        ("", None),
        ("/publish&/save", AMBIGUOUS_TARGET),
        ("/save&/publish", AMBIGUOUS_TARGET),
        ("%2Fpublish=&/save=", AMBIGUOUS_TARGET),
        ("/save&/", AMBIGUOUS_TARGET),
        ("/save&/save", AMBIGUOUS_TARGET),
        ("/save&save", AMBIGUOUS_TARGET),
    ],
)
def test_of_actions_there_is_one(query: str, found: object) -> None:
    """SvelteKit runs the one that the first name with a slash names, whatever follows."""
    target = read_target(f"/q?{query}")
    assert isinstance(target, Target)
    told = read_query(target, "/save")

    assert (told.decision if isinstance(told, Refused) else told) == found
