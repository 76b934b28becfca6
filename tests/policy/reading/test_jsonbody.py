"""A JSON body that all readers read alike, and pointers into it."""

import time

import pytest

from gateway.core.decision import AMBIGUOUS_TARGET, Refused
from gateway.policy.finding import Wrong
from gateway.policy.reading.jsonbody import (
    MISSING,
    JsonReader,
    JsonValue,
    Missing,
    Number,
    Pointer,
    parse_pointer,
    read_json,
    read_members,
)


@pytest.mark.parametrize(
    "body",
    [
        b'{"id": 1, "id": 2}',
        b'{"id": 1, "i\\u0064": 2}',
        b'{"a": {"b": [{"id": 1, "id": 1}]}}',
        b'{"id": NaN}',
        b'{"id": -Infinity}',
        b'{"id": 1e400}',
        b'{"id": -1E400}',
        b'{"id": 1e00001}',
        b'{"id": 1E-00001}',
        b'{"id": 10.5e+00001}',
        b'{"id": ' + b"9" * 309 + b".5}",
        b"[-]",
        b"[1,-00]",
        b'{"id": ' + b"9" * 400 + b"}",
        b'{"id": "\\ud800"}',
        b'{"\\udc00": 1}',
        b'["\\uDFff"]',
        b'{"id": ' + b"9" * 309 + b"}",
        b'{"id": -' + b"9" * 309 + b"}",
        b'{"id\\u0000": 1, "id": 2}',
        b'{"a": [{"id\\u0000x": 1}]}',
        b'{"id": "\xed\xa0\x80"}',
        b'\xef\xbb\xbf{"id": 1}',
        b'{"id": 1} x',
        b'{"id": 1}\n\n{}',
        b'{"id": 1}{"id": 2}',
        b'{"id": 1,}',
        b"{'id': 1}",
        b'{"id": 01}',
        b'{"id": "\n"}',
        b"\xff\xfe{\x00}\x00",
        b"id=1",
        b"[" * 100_000,
        b" ",
        *(space + b'{"id": 1}' for space in (b"\x0b", b"\x0c", b"\xc2\xa0", b"\xe2\x80\xa8", b"//x\n", b"/*x*/")),
        *(b'{"id": 1}' + tail for tail in (b"\0", b"//x", b"/**/", b"\x1f", b";", b"\x1a")),
        *(b'{"id": %b}' % value for value in (b"0x7", b"+7", b"7.", b".5", b"1e", b"'7'", b"7/**/", b"1_0", b"True")),
        *(b'{"id": "%b"}' % text for text in (b"\t", b"\xc0\xaf", b"\xf4\x90\x80\x80", b"\\x37", b"\\u{37}", b"\\'")),
        b"{id: 1}",
    ],
)
def test_a_body_that_two_readers_may_read_differently_is_refused(body: bytes) -> None:
    """Whatever some parser takes and another refuses, or reads as another value, is `ambiguous-target`."""
    answer = read_json(body)

    assert isinstance(answer, Refused)
    assert answer.decision is AMBIGUOUS_TARGET


# Of four digits at most, and zero may have any.
EXPONENTS = ("1E5", "1e-0001", "12e+0001", "1e-9999", "0e9999")


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b'{"id": 9007199254740993}', {"id": Number("9007199254740993")}),
        (b' {"a": [1.50, -0, null, true]} \n', {"a": [Number("1.50"), Number("-0"), None, True]}),
        (b'{"a": 7}\r\n', {"a": Number("7")}),
        (b'"\\ud83d\\ude00"', "\U0001f600"),
        (b"null", None),
        (b'{"": 1, "__proto__": {"id": 8}}', {"": Number("1"), "__proto__": {"id": Number("8")}}),
        (b'"\x7f\xef\xbf\xbe\\udbff\\udfff"', "\x7f\ufffe\U0010ffff"),
        (b"0." + b"9" * 5000, Number("0." + "9" * 5000)),
        (b"[0, -0, 7, -99, 999, 1000, -100]", [Number(one) for one in ("0", "-0", "7", "-99", "999", "1000", "-100")]),
        (b"[1E5, 1e-0001, 12e+0001, 1e-9999, 0e9999]", [Number(one) for one in EXPONENTS]),
        (b"9" * 308, Number("9" * 308)),
    ],
)
def test_numbers_are_kept_as_spelled(body: bytes, value: JsonValue) -> None:
    """A number never passes through a double; paired surrogates are one character."""
    assert read_json(body) == value


DOCUMENT: JsonValue = {"a": {"b": ["x", {"c": "y"}]}, "": "empty", "m/n": "slash", "t~1": "tilde", "7": "seven"}


@pytest.mark.parametrize(
    ("pointer", "found"),
    [
        ("/a/b/0", "x"),
        ("/a/b/1/c", "y"),
        ("/", "empty"),
        ("/m~1n", "slash"),
        ("/t~01", "tilde"),
        ("/7", "seven"),
        ("/a/b/2", MISSING),
        ("/a/b/00", MISSING),
        ("/a/b/-", MISSING),
        ("/a/b/-1", MISSING),
        ("/a/x", MISSING),
        ("/a/b/0/x", MISSING),
    ],
)
def test_a_pointer_leads_to_one_value_or_none(pointer: str, found: JsonValue | Missing) -> None:
    """RFC 6901; an index is plain digits inside the list."""
    compiled = parse_pointer(pointer)

    assert isinstance(compiled, Pointer)
    assert compiled.find(DOCUMENT) == found


@pytest.mark.parametrize(
    ("pointer", "body", "doubtful"),
    [
        ("/items/0/id", b'{"items": [{"id": 7}]}', False),
        ("/items/0/id", b'{"items": {"0": {"id": 7}, "id": 8}}', True),
        ("/items/0/id", b'{"items": {"id": 8}}', True),
        ("/items/0/id", b'{"items": 7}', False),
        ("/0/id", b'{"0": {"id": 7}}', True),
        ("/a/00", b'{"a": {"00": 7}}', False),
        ("/a/b7", b'{"a": {"b7": 7}}', False),
    ],
)
def test_an_index_is_a_place_in_a_list(pointer: str, body: bytes, doubtful: bool) -> None:
    """An API that takes one item for a list of one reads `items` itself where the rule would read its member "0"."""
    compiled = parse_pointer(pointer)
    assert isinstance(compiled, Pointer)

    found = JsonReader(body).find(compiled)

    assert isinstance(found, Refused) is doubtful


# Nobody sees these, and to Python a name with them is an identifier.
IDENTIFIERS = "\u034f\ufe0f\u1160\u3164\uffa0\u17b4\u180b\U000e0100"


@pytest.mark.parametrize(
    ("pointer", "body"),
    [
        ("/a", b'{"a": 1, "A": 2}'),
        ("/a/b", b'{"a": {"B": 1}}'),
        ("/a/0/b", b'{"a": [{"b": 1, "B": 2}]}'),
        ("/a/1/0/b", b'{"a": [0, [{"B": 2}]]}'),
        ("/param", b'{"param": 1, "par\\u0061m\\u200b": 2}'),
        ("/params", '{"params": 1, "param\u017f": 2}'.encode()),
        ("/a", b'{"a": 1, "\\ufeffa": 2}'),
        ("/a", b'{"a": 1, "a\\n": 2}'),
        ("/a", b'{" A": 2}'),
        *(("/id", f'{{"id": "7", "id{filler}": "9"}}'.encode()) for filler in IDENTIFIERS),
        ("/id", '{"id": "7", "i\u115fd": "9"}'.encode()),
    ],
)
def test_a_name_with_a_twin_in_another_spelling_is_ambiguous(pointer: str, body: bytes) -> None:
    """Some readers match members in any case or without what nobody sees; it counts on the whole way, through lists
    too."""
    compiled = parse_pointer(pointer)
    assert isinstance(compiled, Pointer)

    refused = JsonReader(body).find(compiled)

    assert isinstance(refused, Refused)
    assert refused.decision is AMBIGUOUS_TARGET


@pytest.mark.parametrize("body", [b'{"_id": 1, "id": "7"}', b'{"id": "7", "__proto__": 1}', b'{"id": "7", "id.x": 1}'])
def test_an_answer_may_have_what_is_like_a_name_and_not_its_other_case(body: bytes) -> None:
    """An API knows its own names; in a request the same is in doubt."""
    compiled = parse_pointer("/id")
    assert isinstance(compiled, Pointer)

    assert JsonReader(body).find_in_answer(compiled) == "7"
    assert isinstance(JsonReader(body).find(compiled), Refused)
    assert isinstance(JsonReader(b'{"id": "7", "Id": "8"}').find_in_answer(compiled), Refused)
    assert isinstance(JsonReader(b"[").find_in_answer(compiled), Refused)
    assert JsonReader(b"").find_in_answer(compiled) is MISSING


@pytest.mark.parametrize("body", [b'{"a": [{"b": 1}, {"B": 2}]}', b'{"a": [{"b": 1}], "c": {"B": 2}}'])
def test_a_twin_beside_the_way_is_none(body: bytes) -> None:
    """Another item of the list, or another object, is another value."""
    compiled = parse_pointer("/a/0/b")
    assert isinstance(compiled, Pointer)

    assert JsonReader(body).find(compiled) == Number("1")
    assert JsonReader(body).find_in_answer(compiled) == Number("1")
    assert not compiled.has_another_spelling({"a": []})
    assert not compiled.has_another_spelling({"a": "x"})


@pytest.mark.parametrize(
    ("spelled", "survives"),
    [
        ("7", True),
        ("-0", True),
        ("7.0", True),
        ("0.1", True),
        ("12.5e3", True),
        ("9007199254740991", True),
        ("9007199254740994", True),
        ("9007199254740993", False),
        ("-9007199254740993", False),
        ("9223372036854775808", False),
        ("7.00000000000000000001", False),
        ("0.1000000000000000055511151231257827", False),
        ("1e-400", False),
        ("1e999", False),
    ],
)
def test_a_number_survives_if_a_double_is_spelled_as_the_same_number(spelled: str, survives: bool) -> None:
    """2^63 is a double, but its shortest spelling is another number's: JavaScript would say 9223372036854776000."""
    assert Number(spelled).survives is survives


@pytest.mark.parametrize("text", ["", "a", "/a~2", "/a~"])
def test_what_is_no_pointer_is_refused(text: str) -> None:
    """The empty pointer is refused too: it would be the whole body."""
    assert isinstance(parse_pointer(text), Wrong)


@pytest.mark.parametrize(
    ("body", "doubtful"),
    [
        (b"", False),
        (b"null", False),
        (b'{"a": {"c": 1}}', False),
        (b'{"a": null}', False),
        (b'{"a": "x [1]"}', False),
        (b'{"a": []}', True),
        (b'{"a": " {}"}', True),
        (b"[1]", True),
        (b'"[1]"', True),
        (b'{"a"', True),
    ],
)
def test_a_list_or_a_text_of_json_on_the_way_leaves_doubt(body: bytes, doubtful: bool) -> None:
    """Of any other thing without the member all readers know that it has none."""
    found = JsonReader(body).doubt_of_absence(Pointer("/a/b", ("a", "b")))

    assert (found is not None) is doubtful
    assert found is None or found.decision is AMBIGUOUS_TARGET


def test_an_empty_body_has_no_members() -> None:
    """No body and an empty body differ: the first has not been read yet."""
    pointer = parse_pointer("/a")
    assert isinstance(pointer, Pointer)

    assert JsonReader(b"").find(pointer) is MISSING
    assert JsonReader(b"").is_there
    assert not JsonReader(None).is_there
    assert isinstance(JsonReader(b"").value(), Refused)


def test_members_are_found_where_they_stand() -> None:
    """So that one can be replaced without spelling the others anew."""
    text = ' { "a" : 1.50 ,"\\u0062":[1, {"a": 2}],"ä":null }\n'

    members = read_members(text)

    assert {name: text[member.start : member.end] for name, member in members.items()} == {
        "a": "1.50",
        "b": '[1, {"a": 2}]',
        "ä": "null",
    }
    assert members["a"].value == Number("1.50")


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "{", "{}", "[]", '{"a"}', '{"a": 1', '{"a": 1,}', '{"a": 1}}', '{"a": 1, "a": 2}', "{1: 2}"),
        *('{,"a": 1}', '{"a": 1, "b\\u0000": 2}'),
    ],
)
def test_what_is_no_plain_object_has_no_members(text: str) -> None:
    """Nothing is guessed about a text that two readers may read differently."""
    assert read_members(text) == {}


@pytest.mark.parametrize(
    ("body", "is_read"),
    [
        (b"[" * 64 + b"]" * 64, True),
        (b"[" * 65 + b"]" * 65, False),
        (b'{"a":' * 65 + b"1" + b"}" * 65, False),
        (b'["' + b"[" * 100 + b'\\"' + b"{" * 100 + b'"]', True),
        (b"[" + b",".join([b"[]"] * 100) + b"]", True),
    ],
    ids=["64 levels", "65 levels", "65 objects", "brackets in a text", "many side by side"],
)
def test_sixty_four_levels_are_read(body: bytes, is_read: bool) -> None:
    """Beyond its own bound a parser may give nothing, and its server acts on an empty body."""
    assert isinstance(read_json(body), Refused) is not is_read


@pytest.mark.parametrize(
    "text",
    [b'"' + b'\\"' * 65_536, b'"a' * 65_537, b'"\\\\' * 43_690 + b'"\\', b'"' + b"\\" * 131_071],
    ids=["escaped quotes", "quotes", "escaped backslashes", "backslashes"],
)
def test_a_text_that_is_never_closed_is_read_once(text: bytes) -> None:
    """Levels are counted in time that grows with the body, not with its square."""
    body = b"[]" * 70 + text
    begun = time.process_time()

    assert isinstance(read_json(body), Refused)
    assert time.process_time() - begun < 1
