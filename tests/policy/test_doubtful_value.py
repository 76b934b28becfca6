"""What stands where a policy names another value, and may be that value to some API."""

from pathlib import Path

import pytest

from gateway.core.caller import Caller
from gateway.core.decision import AMBIGUOUS_TARGET, Refused
from gateway.policy.condition import HeaderCondition, JsonCondition, Text, parse_scalar
from gateway.policy.doubtful_value import OtherWord, doubt_of_unmet, is_plain, may_be_in_doubt, traits_of
from gateway.policy.finding import Wrong
from gateway.policy.reading.body import Body
from gateway.policy.reading.jsonbody import parse_pointer
from gateway.policy.review.explain import explain
from tests.policy.asking import HEAD, name_of, request, rules

CALLER = Caller()
FORM = ("Content-Type", "application/x-www-form-urlencoded")


def in_json(named: list[object], sent: str) -> str | None:
    """How a value is refused where these are named."""
    pointer = parse_pointer("/v")
    values = frozenset(value for value in map(parse_scalar, named) if not isinstance(value, Wrong))
    assert not isinstance(pointer, Wrong)
    asked = request("POST", "/x", body=f'{{"v": {sent}}}')
    refused = doubt_of_unmet(JsonCondition(pointer, values), asked, Body(asked))
    return None if refused is None else refused.detail


def in_text(named: list[str], sent: str) -> str | None:
    asked = request("POST", "/x", ("V", sent.encode().decode("latin-1")))
    refused = doubt_of_unmet(HeaderCondition("v", frozenset(named)), asked, Body(asked))
    return None if refused is None else refused.detail


@pytest.mark.parametrize(
    ("sent", "is_refused"),
    [
        *(("Purge", True), ("PURGE", True)),
        *(("preview", False), ("purged", False), ("purge it", False), ("a;b", False), ("", False), ("x" * 5000, False)),
        # Only the beginning of what is long is read: whoever drops marks may find the word behind it.
        *(
            ("\ufdfa" * 100_000, False),
            ("hello " * 100_000, False),
            (f"# {'hello ' * 1000}", False),
            ("%41" * 100_000, False),
        ),
        *((f"{'_' * 5000}purge", True), (f"p{chr(0x301) * 5000}urge", True), (f"purge#{'x' * 5000}", True)),
        *((f"{escape * 2000}purge", True) for escape in ("%20", "%2520", "%22")),
    ],
)
def test_a_word_in_another_case_is_no_other_word(sent: str, is_refused: bool) -> None:
    """ASP.NET reads the name of an enum in any."""
    assert (in_json(["purge"], f'"{sent}"') is not None) is is_refused
    assert (in_text(["purge"], sent) is not None) is is_refused


@pytest.mark.parametrize(
    ("sent", "in_header"),
    [
        *(("preview, purge", True), ("purge,", True), ("Purge,preview", True), ("preview, a=1; pur_ge", True)),
        *(
            ("publish, archive", False),
            ("publish,archive", False),
            (f"{'x,' * 3000}", True),
            ("purged, a" + ", b" * 60, False),
        ),
    ],
)
def test_a_word_may_be_one_of_several(sent: str, in_header: bool) -> None:
    """Of the names of an enum with commas between ASP.NET makes another one, which it need not name. In a header they
    are a list, and what stands behind a semicolon is said of it."""
    assert in_json(["purge"], f'"{sent}"') is not None
    assert (in_text(["purge"], sent) is not None) is in_header


@pytest.mark.parametrize(
    ("named", "sent", "is_refused"),
    [
        *(("application/json", one, True) for one in ("application/json, */*", "*/*;q=0.1,Application/JSON;q=1")),
        *(("return=minimal", one, True) for one in ("return=minimal; w=1", "a,return = minimal", "b; Return=minimal")),
        *(("inline", one, True) for one in ("inline; filename=a", "inline;")),
        *(("5", one, True) for one in ("5;q=1", "a, 05", "5,6")),
        *(("on", one, True) for one in ("on, x", "yes; q=1")),
        *(("application/json", one, False) for one in ("*/*", "application/jsonx, text/plain", "text/plain;q=0.5")),
        *(("5", one, False) for one in ("6, 7", "50;q=5.5")),
    ],
)  # fmt: skip
def test_so_may_what_a_header_has_parameters_behind(named: str, sent: str, is_refused: bool) -> None:
    """Accept, Prefer and Content-Disposition are such; another header is one to some server."""
    assert (in_text([named], sent) is not None) is is_refused


@pytest.mark.parametrize(
    ("named", "sent", "is_refused"),
    [
        *(
            ("HARD_DELETE", one, True)
            for one in ("hard-delete", "hard.delete", "hardDelete", "HARD _DELETE", "HARD--DELETE")
        ),
        *(("purge", one, True) for one in ("PUR GE", "p urge", "pur\u00a0ge", "-purge", "p.u.r.g.e")),
        *(("v1.0", one, True) for one in ("V1_0", "v1-0", "v 1.0")),
        *(("v1.0", one, False) for one in ("v10", "v1", "v1.0.0")),
        *(("purge", one, False) for one in ("pur/ge", "purge2", "-", "")),
        *(("-", one, False) for one in ("_", "", "a")),
        *(("ping", one, True) for one in ("p\u0131ng", "p\xedng", "pi\u0301ng", "\uff50ing")),
    ],
)
def test_a_word_with_other_marks_is_no_other_word(named: str, sent: str, is_refused: bool) -> None:
    """Dropwizard reads an enum's names so, Micronaut in part, and databases without accents. A mark between two digits
    tells numbers apart."""
    assert (in_json([named], f'"{sent}"') is not None) is is_refused
    assert (in_text([named], sent) is not None) is is_refused


@pytest.mark.parametrize(
    ("sent", "is_refused"),
    [
        *(
            (one, True)
            for one in ("%70urge_1", "%2570urge_1", "purge_1#x", "purge%5F1", "purge_1%23", '"purge_1"', "'Purge_1'")
        ),
        *((one, False) for one in ("purge_2#purge_1", "%70urge", "#", "%", '""', "x%zz")),
    ],
)
def test_a_word_in_escapes_or_quotes_or_with_a_fragment_is_that_word(sent: str, is_refused: bool) -> None:
    """Astro undoes a query's value once more, SolidStart undoes and cuts the header that names a function, SOAP has
    quotes around an action."""
    assert (in_text(["purge_1"], sent) is not None) is is_refused


def test_two_words_that_differ_in_case_may_both_be_named(tmp_path: Path) -> None:
    """Then both are the policy's own."""
    ruleset = rules(
        tmp_path,
        f"{HEAD}writes:\n"
        "  - {name: small, match: PUT /x, resource: x, when: {json: {/v: purge}}}\n"
        "  - {name: large, match: PUT /x, resource: x, when: {json: {/v: PURGE}}}\n"
        "  - {name: other, match: PUT /x, resource: x}\n",
    )

    sent = {"purge": "small", "PURGE": "large", "Purge": "ambiguous-target", "move": "other"}
    for value, told in sent.items():
        assert name_of(ruleset.match(request("PUT", "/x", body=f'{{"v": "{value}"}}'), CALLER)) == told


@pytest.mark.parametrize("sent", ["0", "2", "-1", "2.0", '"2"', '"02"', '"+2"', '"1e1"', '"2.5"'])
def test_beside_a_word_stands_no_number(sent: str) -> None:
    """It is a word's place in an enum to Jackson, protobuf, .NET and Rails, and some of them take digits so too."""
    told = in_json(["PURGE", "move"], sent)

    assert told is not None
    assert told.endswith("Send it as text, spelled as the policy spells it.")


@pytest.mark.parametrize("sent", ["2", "+2", "-2", ".5", "_2", "\u0662", "\uff12"])
def test_a_number_as_text_is_told_by_how_it_begins(sent: str) -> None:
    """With a digit of any script: Java and Python read them all."""
    assert may_be_in_doubt(Text(sent))
    assert in_json(["PURGE", "move"], f'"{sent}"') is not None


@pytest.mark.parametrize("sent", ["3.7", "3.0000001", "2.5"])
def test_beside_a_number_stands_none_that_is_rounded_to_it(sent: str) -> None:
    """Jackson and PHP cut what follows the point, others round."""
    assert str(in_json([3], sent)).endswith("Send a number without a fraction.")


@pytest.mark.parametrize(
    "sent", ['"true"', '"yes"', '"T"', '"anything"', '""', "1", "1.0", "0", "7", "[true]", "{}", '"false"']
)
def test_beside_a_boolean_stands_nothing_else(sent: str) -> None:
    """Pydantic, Rails and Express each make a truth of something else."""
    told = in_json([True], sent)

    assert told is not None
    assert told.endswith("Send true or false in JSON, without quotes, or null.")


@pytest.mark.parametrize("sent", ['"3"', '"3.0"', '"03"', '"3abc"', "true", "false", "[3]", '"three"'])
def test_beside_a_number_stands_nothing_else(sent: str) -> None:
    """A text of digits is a number to many."""
    told = in_json([3], sent)

    assert told is not None
    assert told.endswith("Send a number in JSON, without quotes, or null.")


@pytest.mark.parametrize("named", [[False], [0], [""], [True, False], [False, "auto"]])
def test_null_is_nothing_that_is_named(named: list[object]) -> None:
    """Fastify, Jackson's primitives and Go make false, 0 or an empty text of it."""
    assert str(in_json(named, "null")).endswith("Send what is meant, and no null; or leave it out.")
    assert "null" not in str(in_json(named, '"false"'))


@pytest.mark.parametrize(
    ("named", "sent"),
    [
        ([""], '"x"'),
        ([True], "false"),
        ([True], "null"),
        ([3], "4"),
        ([3], "null"),
        ([None], '"x"'),
        (["board"], "true"),
        (["board", 3], "4"),
        ([3], "4.5"),
        ([3], "2"),
        (["board"], '"7 days"'),
        ([None], "[]"),
        (["board"], "null"),
        (["board"], '"true"'),
        (["true"], '"false"'),
        ([True, "auto"], '"manual"'),
        ([True, 3], "4"),
        ([3, "auto"], '"manual"'),
        (["7"], "8"),
    ],
)
def test_another_value_of_a_type_that_is_named_is_another_value(named: list[object], sent: str) -> None:
    """It falls to another rule, and no API takes it for this one's."""
    assert in_json(named, sent) is None


@pytest.mark.parametrize(
    ("named", "sent", "advice"),
    [
        (["true"], "true", "Send it as text: true or false."),
        (["on"], "true", "Send it as text: on or off."),
        (["on"], "1", "Send it as text: on or off."),
        (["true"], '"TRUE"', "Send it as text: true or false."),
        (["7"], "7", "Send it as text, spelled as the policy spells it."),
        (["7"], "7.0", "Send it as text, spelled as the policy spells it."),
        (["7"], '"07"', "Send it as text, spelled as the policy spells it."),
        (["7"], '"0x7"', "Send it as text, spelled as the policy spells it."),
        (["board"], '["board"]', "Send a single value, and no list or object."),
        (["board"], '{"board": null}', "Send a single value, and no list or object."),
        (["board", 3], "[]", "Send a number in JSON, without quotes, or null."),
        ([True, "auto"], '"yes"', "Send true or false in JSON, without quotes, or null."),
        ([True, 3], "1", "Send true or false or a number in JSON, without quotes, or null."),
        ([3, "auto"], '"3.0"', "Send it as text, spelled as the policy spells it."),
    ],
)
def test_the_same_value_in_another_type_is_doubtful(named: list[object], sent: str, advice: str) -> None:
    """Jackson makes text of numbers and booleans, others numbers of text."""
    told = in_json(named, sent)

    assert told is not None
    assert told.endswith(advice)


@pytest.mark.parametrize(
    ("named", "sent"),
    [
        *((["true"], sent) for sent in ("True", "TRUE", "1", "yes", "on", "t", "Y", "no", "0", "whatever")),
        *((["1"], sent) for sent in ("true", "Yes", "on", "01", "1.0", "+1", "1e0", "1_", "off")),
        *((["yes"], sent) for sent in ("true", "YES", "1", "y", "off", "maybe")),
        *((["true", "auto"], sent) for sent in ("yes", "on")),
        (["7"], "07"),
    ],
)
def test_text_that_may_be_the_truth_that_is_named_is_doubtful(named: list[str], sent: str) -> None:
    """In headers, queries and forms all is text: case, other words for it, and beside a word any other text."""
    assert in_text(named, sent) is not None


@pytest.mark.parametrize(
    "sent", ["0xA", "0X0a", "+0xa", "0b1010", "0o12", "#A", "#0a", "10d", "10F", "10L", "10.0f", "1e1", "1_0L", "10 .0"]
)
def test_a_number_as_programs_spell_it_is_doubtful(sent: str) -> None:
    """JavaScript's `Number`, Java's `decode` and `parseDouble` and Django's `IntegerField` take it for the one that is
    named."""
    assert in_text(["10"], sent) is not None


@pytest.mark.parametrize(
    "sent",
    ["0xB", "0b12", "0o8", "#", "#AB", "0x", "11d", "dL", "d", "10x", "10 d!", "0xA.8", "A", ".", "+", ".e1", "e1"],
)
def test_what_spells_another_number_or_none_is_another_value(sent: str) -> None:
    """A text that only begins as a number, or has digits that its base has not."""
    assert in_text(["10"], sent) is None


@pytest.mark.parametrize("named", ["10d", "#A", "0xA"])
def test_a_text_that_is_named_is_no_number_but_in_digits(named: str) -> None:
    """`#A` may be a channel: 10 is nothing like it."""
    assert in_text([named], "10") is None


@pytest.mark.parametrize(
    ("named", "sent"),
    [
        (["true"], "false"),
        (["True"], "False"),
        (["TRUE"], "FALSE"),
        *((["1"], sent) for sent in ("0", "2", "17", "all")),
        (["yes"], "no"),
        (["on", "standby"], "sleeping"),
        (["true", "auto"], "manual"),
        (["board"], "on"),
        (["y"], "x"),
        (["7"], "8"),
    ],
)
def test_text_that_is_no_other_spelling_is_another_value(named: list[str], sent: str) -> None:
    """`false` is what may stand beside `true`, another number beside a number, and any text beside two."""
    assert in_text(named, sent) is None


def test_most_texts_leave_no_doubt() -> None:
    """Nothing is asked then."""
    assert all(map(is_plain, traits_of("board")))
    assert set(traits_of("Yes")) == {"truth", OtherWord("No")}


WHEN = """\
read_only:
  - {match: POST /x, when: {json: {/dry_run: true}}}
writes:
  - {name: other, match: POST /x, resource: r}
  - {name: soft, match: POST /y, when: {json: {/dry_run: soft}}, resource: r}
  - {name: flagged, match: POST /q, when: {query: {force: "true"}}, resource: r}
  - {name: plain, match: POST /q, resource: r}
  - {name: checked, match: POST /f, when: {form: {force: "1"}}, resource: r}
  - {name: unchecked, match: POST /f, resource: r}
  - {name: ten, match: POST /n, when: {query: {n: "10"}}, resource: r}
  - {name: other_number, match: POST /n, resource: r}
  - {name: ten_told, match: POST /t, when: {json: {/n: "10"}}, resource: r}
  - {name: other_told, match: POST /t, resource: r}
"""


@pytest.mark.parametrize(
    ("target", "body", "taken"),
    [
        ("/x", '{"dry_run": true}', "read"),
        ("/x", '{"dry_run": false}', "other"),
        ("/x", "{}", "other"),
        ("/x", '{"dry_run": "soft"}', "ambiguous-target"),
        ("/x", '{"dryRun": true}', "ambiguous-target"),
        ("/y", '{"dry_run": "hard"}', "no-policy"),
        ("/y", '{"dry_run": ["soft"]}', "ambiguous-target"),
        ("/y", '["soft"]', "ambiguous-target"),
        ("/y", '{"dry_run": "true"}', "no-policy"),
        ("/q?force=true", "{}", "flagged"),
        ("/q?force=false", "{}", "plain"),
        ("/q", "{}", "plain"),
        ("/q?force=yes", "{}", "ambiguous-target"),
        ("/q?force", "{}", "ambiguous-target"),
        ("/q?Force=true", "{}", "ambiguous-target"),
        ("/f", "force=1", "checked"),
        ("/f", "force=0", "unchecked"),
        ("/f", "force=on", "ambiguous-target"),
        ("/f", "force_=1", "ambiguous-target"),
        ("/n?n=10", "{}", "ten"),
        ("/n?n=11", "{}", "other_number"),
        ("/n?n=%EF%BC%91%EF%BC%90", "{}", "ambiguous-target"),
        ("/n?n=%D9%A1%D9%A0", "{}", "ambiguous-target"),
        ("/t", '{"n": "10"}', "ten_told"),
        ("/t", '{"n": "11"}', "other_told"),
        ("/t", '{"n": "\uff11\uff10"}', "ambiguous-target"),
        ("/t", '{"n": "\u0661\u0660"}', "ambiguous-target"),
    ],
)
def test_a_rule_that_may_be_meant_is_not_passed_over(tmp_path: Path, target: str, body: str, taken: str) -> None:
    """Only what rules of this very path name counts; what is told of the request says what to send."""
    ruleset = rules(tmp_path, HEAD + WHEN)
    asked = request("POST", target, *([FORM] if target == "/f" else []), body=body)

    found = ruleset.match(asked, CALLER)
    told = explain(ruleset, asked, CALLER)

    assert name_of(found) == taken
    if isinstance(found, Refused) and found.decision is AMBIGUOUS_TARGET:
        assert (told.answer.decision, told.answer.detail) == ("ambiguous-target", found.detail)
        assert found.detail in [one.why for one in told.considered]
