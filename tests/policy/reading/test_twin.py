"""Names of one object of which some reader takes one for another."""

import time

import pytest

from gateway.core.decision import AMBIGUOUS_TARGET, Refused
from gateway.policy.finding import Wrong
from gateway.policy.reading.jsonbody import MISSING, JsonReader, parse_pointer
from gateway.policy.reading.twin import Names, squeezed


def found(pointer: str, body: str) -> object:
    compiled = parse_pointer(pointer)
    assert not isinstance(compiled, Wrong)
    told = JsonReader(body.encode()).find(compiled)
    return told.decision if isinstance(told, Refused) else told


@pytest.mark.parametrize(
    "twin",
    ["docId", "doc-id", "DOC_ID", "docid", "_doc_id", "Doc\u200b_id", "doc__id", "doc\u0131d", "DOC_\u0130D", "doc id"],
    ids=ascii,
)
@pytest.mark.parametrize("own", ["", '"doc_id": "7", '], ids=["alone", "beside"])
def test_a_name_without_capitals_underscores_and_dashes_is_a_twin(own: str, twin: str) -> None:
    """FastAPI with camel-case aliases takes both; the rule's own name may be there or not."""
    assert found("/doc_id", f'{{{own}"{twin}": "8"}}') is AMBIGUOUS_TARGET


@pytest.mark.parametrize(
    "twin",
    ["doc.id", "doc[id]", 'doc[\\"id\\"]', "doc['id']", "doc->id", "DOC.Id", "doc[]", ".doc", "doc.id.0", "_doc.id"],
)
def test_a_name_that_is_a_way_is_a_twin_of_what_is_nested(twin: str) -> None:
    """lodash takes it before what is nested; others make it nested, with what stands behind it."""
    assert found("/doc/id", f'{{"doc": {{"id": "7"}}, "{twin}": "8"}}') is AMBIGUOUS_TARGET


@pytest.mark.parametrize(
    "twin",
    [
        *("!at", "$at", "@At", "#at", "at(1i)", "at(2i)", "@at.x", "!!_at", "at+", "+at", "at-", "at!", "at#1", "at*"),
        *("at@odata.bind", "at@bind", "at@delta", "at@", "at@x+", "at[']", "?at", "at/x", "at:x"),
    ],
)
def test_marks_before_and_behind_a_name_make_no_other_of_it(twin: str) -> None:
    """JSON-LD and OData know names so; Rails puts a date together from `at(1i)` and its like; PocketBase adds `at+`."""
    assert found("/at", f'{{"{twin}": "8"}}') is AMBIGUOUS_TARGET
    assert found("/doc/at", f'{{"doc.{twin}": "8"}}') is AMBIGUOUS_TARGET
    assert found("/@at", '{"@at": "7"}') == "7"
    assert found("/@at", '{"@at": "7", "at": "8"}') is AMBIGUOUS_TARGET


@pytest.mark.parametrize("twin", ["doc+", "doc@odata.bind", "+doc", "doc!x", "doc#.x"])
def test_a_mark_that_begins_no_way_ends_a_name_on_the_way_too(twin: str) -> None:
    """What it says is said of all that is in the object."""
    assert found("/doc/id", f'{{"doc": {{"id": "7"}}, "{twin}": "8"}}') is AMBIGUOUS_TARGET


@pytest.mark.parametrize(
    "note", ["price@odata.type", "Price@OData.Community.Display.V1.FormattedValue", "price@type", "price@mediaEtag"]
)
def test_an_annotation_of_odata_is_no_twin(note: str) -> None:
    """It tells a member's type or where it was read, never its value; clients send back what they were sent."""
    assert found("/price", f'{{"price": "7", "{note}": "Edm.Int64"}}') == "7"
    assert found("/price/unit", f'{{"price": {{"unit": "7"}}, "{note}": "x"}}') == "7"


def test_ways_are_looked_for_on_the_whole_way() -> None:
    """In each object, through lists too; a rule may itself read a name with a dot."""
    assert found("/a/b/c", '{"a": {"b": {"c": 1}, "b.c": 2}}') is AMBIGUOUS_TARGET
    assert found("/a/0/c", '{"a": [{"c": 1}], "a[0].c": 2}') is AMBIGUOUS_TARGET
    assert found("/a.b", '{"a.b": "x"}') == "x"
    assert found("/a.b", '{"a.b": "x", "a": {"b": "y"}}') is AMBIGUOUS_TARGET


@pytest.mark.parametrize("twin", ["DOC", "_doc", "doc\u200b"], ids=ascii)
def test_an_object_on_the_way_has_twins_too(twin: str) -> None:
    """A reader that takes one of the two finds the rest of the way in it."""
    assert found("/doc/id", f'{{"doc": {{"id": "7"}}, "{twin}": {{"id": "8"}}}}') is AMBIGUOUS_TARGET


@pytest.mark.parametrize("other", ["doc.name", "document", "doc_ids", "id", "docs.id", "x.doc.id", "", ".", "[]", "_"])
def test_another_name_is_no_twin(other: str) -> None:
    """What leads elsewhere makes no doubt."""
    assert found("/doc/id", f'{{"doc": {{"id": "7", "ids": 1}}, "{other}": "8"}}') == "7"
    assert found("/doc/id", f'{{"{other}": "8"}}') is MISSING


@pytest.mark.parametrize("name", ["__proto__", "constructor", "prototype", "constructor.prototype", "x[__proto__]"])
def test_what_objects_inherit_in_javascript_stands_in_no_object_on_the_way(name: str) -> None:
    """A copy of the object may have other members than it shows."""
    assert found("/doc/id", f'{{"{name}": {{"doc": {{"id": "8"}}}}, "doc": {{"id": "7"}}}}') is AMBIGUOUS_TARGET
    assert found("/doc/id", f'{{"doc": {{"{name}": {{"id": "8"}}}}}}') is AMBIGUOUS_TARGET
    assert found("/doc/id", f'{{"doc": {{"id": "7"}}, "x": {{"{name}": 1}}}}') == "7"
    assert found("/id", f'{{"id": "{name}"}}') == name


def test_no_rule_reads_what_objects_inherit() -> None:
    """No request could be taken."""
    assert isinstance(parse_pointer("/a/__proto__/b"), Wrong)


def test_a_twin_is_told_by_its_name_as_it_was_sent() -> None:
    """So that its sender finds it."""
    names = Names(["a", "doc_id", "B\u200b", "Doc-Id", "x.__proto__"])

    assert (names.twin(("doc_id",)), names.twin(("b", "c")), names.twin(("c",))) == ("Doc-Id", "B\u200b", None)
    assert names.inherited == "x.__proto__"
    assert squeezed(" A_b-c\u200b") == "abc"


def test_a_way_of_any_length_is_looked_for() -> None:
    """No policy has one like it, and none ends a gateway."""
    assert Names(["a", "b"]).twin(("a",) * 2000) is None


def test_many_names_are_taken_apart_once() -> None:
    """A megabyte of them costs as much as its letters, however many pointers lead through the object."""
    names = [f"a.{number}.b" for number in range(80_000)]
    begun = time.process_time()

    one = Names(names)
    twins = [one.twin(("a", "b")) for _ in range(10)]

    assert twins == [None] * 10
    assert time.process_time() - begun < 10


def test_a_name_of_many_pieces_is_cut() -> None:
    """A megabyte of dots costs no more than its letters do."""
    begun = time.process_time()

    assert Names(["a." * 500_000]).twin(("a",)) is not None
    assert time.process_time() - begun < 5
