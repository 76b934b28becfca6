"""A name is looked up by all that some reader takes it for."""

import pytest

from gateway.policy.reading.lenient_name import folded, is_unclosed, readings


@pytest.mark.parametrize(
    "spelled",
    [
        *(
            "r",
            "R",
            "r[]",
            "[r]",
            "]r",
            "r]",
            "r[",
            "[r",
            "[][r]",
            "[r][]",
            ".r",
            "r.",
            "r]x",
            "[R]",
            " [r]",
            "r[0]",
            "r.x",
            "_r",
            "-r",
            "r_",
        ),
        *("[ r ]", "[[[[r]]]]", "[" * 1000 + "r", "r\0", "r\0x", "[r\0]", "\u200br", "[\u200br]", " r", "r[a][b].c"),
    ],
    ids=lambda spelled: repr(spelled)[:20],
)
def test_another_spelling_of_a_name_is_read_as_it(spelled: str) -> None:
    """qs, Rack, PHP, ASP.NET and readers in C each drop something else from `r`."""
    assert folded("r") in readings(spelled)


@pytest.mark.parametrize("other", ["rr", "x[r]", "x.r", "x:r", "x(r)", "r-x", "x+r", "x$r", "", "[]", ".", "!"])
def test_another_name_is_none_of_its_spellings(other: str) -> None:
    """What stands behind the first piece of a name belongs to that."""
    assert folded("r") not in readings(other)


@pytest.mark.parametrize(
    "spelled", ["user_id", "user.id", "user id", "User[id]", "user[id", "user.id[x]", "[user][id]"]
)
def test_what_php_spells_with_an_underscore_is_one_name(spelled: str) -> None:
    """It reads dots, blanks and open brackets as underscores; others read a way into an object there."""
    assert folded("user_id") in readings(spelled)
    assert folded("user.id") in readings(spelled)


@pytest.mark.parametrize(
    "spelled",
    [
        *("!r", "$r", "@r", "!R", "!!r", "!_r", " !r", "!r[]", "[!r]", "r:x", "r:int:list", "!r:x", "r(1i)", "r(x"),
        *("r+", "+r", "r@odata.bind", "?r", "??r", "#r", "r!x", "r$", "r[]+", "r~x", 'r"', "r*", "r/x"),
        *("__checkbox_r", "__multiselect_r", "__year_r", "__checkbox_r.x", "__minute_R"),
        *("$set[r]", "$set[r][x]", "$unset[r]", "[$set][r]", "$set.r"),
    ],
)
def test_marks_before_and_behind_a_name_part_no_names(spelled: str) -> None:
    """Spring takes `!r` for `r` where that is missing, OData `$r`; Zope reads a type behind a colon, Rails a place;
    PocketBase adds `r+` to `r`, Struts sets what its prefixes stand before, and Mongoose what `$set` has."""
    assert folded("r") in readings(spelled)


@pytest.mark.parametrize("other", ["__csrf_r", "checkbox_r", "_checkbox_r", "x[__checkbox_r]", "$set[x][r]"])
def test_what_only_looks_like_a_prefix_parts_names(other: str) -> None:
    """A word that nobody drops makes another name."""
    assert folded("r") not in readings(other)


@pytest.mark.parametrize("spelled", ["opts[sudo]", "opts['sudo']", 'opts["sudo"]', "opts.sudo", "Opts[ 'sudo' ]"])
def test_quotes_within_brackets_part_no_names(spelled: str) -> None:
    """Spring takes a map's key with them or without."""
    assert folded("opts[sudo]") in readings(spelled)
    assert folded("opts[other]") not in readings(spelled)


@pytest.mark.parametrize("name", ["*", "$", "[]", "!?"])
def test_a_name_of_marks_alone_is_itself(name: str) -> None:
    """There is nothing else to call it by."""
    assert readings(name) == (folded(name),) == (name,)


def test_a_rules_own_name_may_have_a_mark_before_it() -> None:
    """`$filter` and `filter` are one to OData 4.01."""
    assert folded("$filter") in readings("filter")
    assert folded("$filter") in readings("$Filter")
    assert folded("title:string") in readings("title:string")


@pytest.mark.parametrize("spelled", ["docId", "doc_id", "DOC-ID", "doc_Id[0]", "doc id", "docid"])
def test_capitals_underscores_and_dashes_part_no_names(spelled: str) -> None:
    """FastAPI with camel-case aliases and Spring take all of them for one."""
    assert folded("doc_id") in readings(spelled)
    assert folded("docId") in readings(spelled)


@pytest.mark.parametrize("spelled", ["\u0131d", "\u0130D", "[\u0131d]", "_\u0130d.x"], ids=ascii)
def test_turkish_letters_part_no_names(spelled: str) -> None:
    """Java's `equalsIgnoreCase` takes them for an `i`."""
    assert folded("id") in readings(spelled)
    assert folded("\u0131d") == folded("id")


def test_each_reading_is_told_once() -> None:
    """Whoever counts the names of one reading counts names."""
    assert readings("a[_]") == ("a",)
    assert readings("__day_.day") == ("day", "dayday")


def test_a_place_beside_a_deep_one_is_another() -> None:
    """`user[name]` stands for `user`, and not for `user[id]`."""
    assert folded("user.id") not in readings("user[name]")
    assert folded("user") in readings("user[name]")


def test_readings_are_bounded() -> None:
    """A name of a megabyte takes no more time than its letters do."""
    assert len(readings("a." * 500_000)) == 16


@pytest.mark.parametrize(
    ("name", "unclosed"), [("a[b", True), ("a[", True), ("[", True), ("a[b]", False), ("a]", False), ("a", False)]
)
def test_a_bracket_that_is_not_closed_is_told(name: str, unclosed: bool) -> None:
    """PHP reads it as an underscore."""
    assert is_unclosed(name) is unclosed
