"""Where an intent's key is found, and when a write without one is refused."""

import pytest

from gateway.core.caller import Caller
from gateway.core.decision import (
    AMBIGUOUS_TARGET,
    HEADER_MALFORMED,
    IDEMPOTENCY_KEY_REQUIRED,
    RESOURCE_UNRESOLVED,
    Decision,
    Refused,
)
from gateway.policy.key import KEY, Key
from gateway.policy.reading.body import Body, BodyWanted
from gateway.policy.template import Template, parse_template
from tests.policy.asking import request

ADA = Caller("ada", "north")
HEADER = "{header.idempotency-key}"
MCP = "{json:/params/_meta/example.com~1key}"


def key(*templates: str, required: bool = True) -> Key:
    compiled = [parse_template(text, frozenset({"rest"}), KEY) for text in templates]
    assert all(isinstance(template, Template) for template in compiled), compiled
    return Key(tuple(template for template in compiled if isinstance(template, Template)), required=required)


def read(
    named: Key, *headers: tuple[str, str], target: str = "/", body: str | None = "", **path: str
) -> str | BodyWanted | Refused | None:
    asked = request("POST", target, *headers, body=body)
    return named.read(asked, path, ADA, Body(asked))


@pytest.mark.parametrize(
    ("templates", "found"),
    [
        ((HEADER,), "a/b:%c"),
        (("{query.key}",), "q/1 %"),
        (("{json:/name}",), "b/1 ä"),
        (("{path.id}",), "p/1"),
        (("{path.rest}",), "x/y%2Fz"),
        (("{principal}",), "ada"),
        (("{query.none}", "{json:/none}", HEADER, "{query.key}"), "a/b:%c"),
        (("{query.key}:{json:/name}",), "q%2F1 %25:b%2F1 ä"),
        (("mail/{path.id}/{header.idempotency-key}",), "mail/p%2F1/a%2Fb:%25c"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_the_first_template_whose_parts_are_all_there_names_the_intent(templates: tuple[str, ...], found: str) -> None:
    """One placeholder alone gives its value as it is; several are escaped, so that two ways to cut one text differ."""
    headers = [("Idempotency-Key", '"a/b:%c"')]

    assert read(
        key(*templates), *headers, target="/?key=q/1%20%25", body='{"name": "b/1 ä"}', id="p/1", rest="x/y%2Fz"
    ) == (found)


@pytest.mark.parametrize("spelled", ["abc", '"abc"'])
def test_a_quoted_key_and_a_bare_one_are_one_key(spelled: str) -> None:
    """The IETF draft quotes it, most clients do not."""
    assert read(key(HEADER), ("Idempotency-Key", spelled)) == "abc"


@pytest.mark.parametrize(
    "headers",
    [
        [("Idempotency-Key", "")],
        [("Idempotency-Key", "x" * 256)],
        [("Idempotency-Key", "\xe9")],
        [("Idempotency-Key", "a\0b")],
        [("Idempotency-Key", "a b")],
        [("Idempotency-Key", '"abc')],
        [("Idempotency-Key", "a"), ("idempotency-key", "a")],
        [("Idempotency-Key", "a"), ("Idempotency_Key", "b")],
        [("Idempotency_Key", "b")],
        [("Idempotency.Key", "b")],
    ],
    ids=["empty", "long", "not ASCII", "NUL", "blank", "half quoted", "twice", "two spellings", "underscore", "dot"],
)
@pytest.mark.parametrize("templates", [(HEADER,), ("{query.key}",), ("{query.key}", HEADER)], ids=" ".join)
@pytest.mark.parametrize("required", [True, False], ids=["required", "optional"])
def test_a_malformed_header_is_refused_even_where_another_key_is_there(
    headers: list[tuple[str, str]], templates: tuple[str, ...], required: bool
) -> None:
    """Whoever sends the header relies on it."""
    answer = read(key(*templates, required=required), *headers, target="/?key=good")

    assert isinstance(answer, Refused)
    assert answer.decision is HEADER_MALFORMED


def test_the_header_is_the_gateways_to_read_whatever_connection_says() -> None:
    """A caller cannot take its key back by naming it hop-by-hop."""
    assert read(key(HEADER), ("Connection", "close, Idempotency-Key"), ("Idempotency-Key", "a")) == "a"


@pytest.mark.parametrize(
    ("templates", "decision", "told"),
    [
        ((HEADER,), IDEMPOTENCY_KEY_REQUIRED, "Send one in `Idempotency-Key`: a new one"),
        (("{json:/key}", HEADER), IDEMPOTENCY_KEY_REQUIRED, "`Idempotency-Key`, or as `/key` of the JSON body: a new"),
        (
            ("{tenant}/{header.idempotency-key}",),
            IDEMPOTENCY_KEY_REQUIRED,
            "Send one in `Idempotency-Key`, or as `{ten",
        ),
        (("{json:/key}",), RESOURCE_UNRESOLVED, "key, `/key` of the JSON body, is not all there"),
        (("{query.key}", "{header.x-key}"), RESOURCE_UNRESOLVED, "`key` of the query or the header `x-key`"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_write_without_a_required_key_is_told_where_to_put_it(
    templates: tuple[str, ...], decision: Decision, told: str
) -> None:
    """The refusal names every place, in words for who knows no policy; where it is optional the write goes without."""
    answer = read(key(*templates), body="{}")

    assert isinstance(answer, Refused)
    assert answer.decision is decision
    assert told in answer.detail
    assert read(key(*templates, required=False), body="{}") is None


def test_a_key_of_which_half_came_is_not_called_missing() -> None:
    """The header is there: what lacks is the other part, and the refusal names it."""
    answer = read(key("{query.batch}:{header.idempotency-key}"), ("Idempotency-Key", "a"))

    assert isinstance(answer, Refused)
    assert answer.decision is RESOURCE_UNRESOLVED
    assert "{query.batch}" in answer.detail


@pytest.mark.parametrize(
    ("template", "decision"),
    [
        ("{json:/empty}", RESOURCE_UNRESOLVED),
        ("{json:/null}", RESOURCE_UNRESOLVED),
        ("{json:/list}", RESOURCE_UNRESOLVED),
        ("{json:/exponent}", RESOURCE_UNRESOLVED),
        ("{json:/long}", RESOURCE_UNRESOLVED),
        ("{json:/line}", AMBIGUOUS_TARGET),
        ("{json:/blank}", AMBIGUOUS_TARGET),
        ("{json:/nul}", AMBIGUOUS_TARGET),
        ("{json:/wide}", RESOURCE_UNRESOLVED),
        ("{query.empty}", RESOURCE_UNRESOLVED),
        ("{query.bytes}", RESOURCE_UNRESOLVED),
        ("{query.twice}", AMBIGUOUS_TARGET),
        ("{header.x-twice}", AMBIGUOUS_TARGET),
    ],
)
@pytest.mark.parametrize("required", [True, False], ids=["required", "optional"])
def test_a_part_that_cannot_be_used_is_not_passed_over(template: str, decision: Decision, required: bool) -> None:
    """The next template would make another intent of the same action, or none."""
    body = (
        '{"empty": "", "null": null, "list": ["a"], "exponent": 7e0, "line": "a\\r\\nb", "blank": "a ", '
        f'"nul": "\\u0000", "wide": "a\\u00a0b", "long": "{"x" * 256}"}}'
    )
    headers = [("X-Twice", "a"), ("X-Twice", "b"), ("Idempotency-Key", "good")]

    answer = read(
        key(template, HEADER, required=required), *headers, target="/?empty=&bytes=%FF&twice=1&twice=1", body=body
    )

    assert isinstance(answer, Refused)
    assert answer.decision is decision


@pytest.mark.parametrize(("length", "fits"), [(255, True), (256, False)])
def test_the_longest_key_is_255_characters(length: int, fits: bool) -> None:
    """The same for a key from the body as for the header."""
    answer = read(key("{json:/key}"), body=f'{{"key": "{"x" * length}"}}')

    assert isinstance(answer, str) is fits


@pytest.mark.parametrize(
    "body", ['{"key": 1, "key": 2}', "key=1", "[NaN]", '{"key": "a", "_key": "b"}', '{"Key": "b"}']
)
def test_a_body_that_is_read_in_two_ways_names_no_intent(body: str) -> None:
    """Another reader could find another key in it."""
    answer = read(key("{json:/key}", required=False), body=body)

    assert isinstance(answer, Refused)
    assert answer.decision is AMBIGUOUS_TARGET


@pytest.mark.parametrize(
    ("templates", "headers", "answer"),
    [
        ((HEADER, MCP), [("Idempotency-Key", "a")], "a"),
        ((HEADER, MCP), [], BodyWanted()),
        ((MCP, HEADER), [("Idempotency-Key", "a")], BodyWanted()),
        ((HEADER,), [], None),
    ],
    ids=["header first", "only the body", "body first", "no body read"],
)
def test_the_body_is_wanted_only_where_no_earlier_template_has_the_key(
    templates: tuple[str, ...], headers: list[tuple[str, str]], answer: object
) -> None:
    """A key in the header spares the reading."""
    assert read(key(*templates, required=False), *headers, body=None) == answer


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ([("Idempotency-Key", "k-1")], '{"params": {}}'),
        ([], '{"params": {"_meta": {"example.com/key": "k-1"}}}'),
        ([], '{"params": {"arguments": {"idempotency_key": "k-1"}}}'),
    ],
    ids=["header", "_meta", "argument"],
)
def test_an_mcp_client_sends_its_key_where_it_can(headers: list[tuple[str, str]], body: str) -> None:
    """Header, `_meta` member or argument: the same words are the same key."""
    named = key(HEADER, MCP, "{json:/params/arguments/idempotency_key}")

    assert read(named, *headers, body=body) == "k-1"
