"""A name by which some server takes another method or path is told in each of its spellings."""

import pytest

from gateway.policy.reading.overriding import FORM_COMMANDS, OF_JSON, OVERRIDING, may_override, overriding_among


@pytest.mark.parametrize("name", sorted(OVERRIDING))
def test_each_name_is_told_in_any_case_and_place(name: str) -> None:
    """Beside other names, and as an array or an object."""
    for spelled in (name, name.upper(), name.title(), f"{name}[]", f"[{name}]", f" {name}", f"{name}[a]"):
        assert overriding_among(("id", spelled)) == name


@pytest.mark.parametrize(
    ("spelled", "command"),
    [
        *(
            (name, "_method")
            for name in (".method", " .method", "_method\0a", "_method\0", "_me\u200bthod", "_met\1hod")
        ),
        *((name, "_method") for name in ("_method]", "_method.x", "\u200b_method", "_method[\udcff]")),
        *((name, "rest_route") for name in ("rest.route", "rest route", "rest[route")),
        *((f"{name}:method", ":method") for name in ("delete", "a.b", "ids:list", "", "DELETE")),
        *((name, ":method") for name in (":method:list", "x:Method:utf8", ":method.x", "method:delete", "x:me\1thod")),
        *((name, ":action") for name in ("x:action", ":ACTION", ":action[]", "action:save", "[:action]")),
        *((f"x:{word}", f":{word}") for word in ("default_method", "default_action")),
        *((f"_action_{name}", "_action_") for name in ("delete", "Delete.x", "save[]", "")),
    ],
    ids=ascii,
)
def test_what_php_and_others_make_of_a_name_counts(spelled: str, command: str) -> None:
    """Dots, blanks and open brackets are underscores to PHP, and nobody sees what has no width. Told is the plain name:
    it can be shown."""
    assert overriding_among((spelled,)) == command


@pytest.mark.parametrize(
    "name",
    [
        *("method", "methods", "method_", "x[_method]", "x._method", "a_method", "__method", "payment_method", "route"),
        *("restroute", "rest_routes", "_charset_", "", ".", "[]", "\u00e4"),
        *("action", "_action", "action_x", "x:list", "x:methods", "x_action_y", "my_action", "a:b", ":", "x.method:y"),
    ],
    ids=ascii,
)
def test_another_name_is_not_told(name: str) -> None:
    """`method` alone is a common name of a field."""
    assert overriding_among((name,)) is None


def test_a_form_has_one_more() -> None:
    """It names the coding of all other fields."""
    assert overriding_among(("a", "_charset_"), FORM_COMMANDS) == "_charset_"
    assert FORM_COMMANDS > OVERRIDING


@pytest.mark.parametrize("name", sorted(OVERRIDING - OF_JSON))
def test_json_has_fewer(name: str) -> None:
    """Zope, Struts and Grails look for them in a query and a form."""
    assert overriding_among((name, f"x{name}"), OF_JSON) is None


@pytest.mark.parametrize("name", sorted(FORM_COMMANDS))
def test_a_plain_text_without_any_of_them_is_told_at_once(name: str) -> None:
    """Whatever case it is in."""
    assert may_override(f"a=1&{name.upper()}=PUT")
    assert not may_override("a=1&verb=PUT")
