"""What a member inside the body names, no query and no other member names beside it; of Rails' other parameters none
is a resource's name."""

import pytest

from gateway.core.caller import NOBODY
from gateway.policy.review.answer import answer
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import HEAD, request, rules

POLICY = """\
mount: {path: /, format_endings: refuse}
writes:
  - {name: doc, match: "PUT,PATCH /docs/{id}", resource: "doc/{path.id}"}
  - {name: comment, match: POST /comments, resource: "doc/{json:/comment/doc_id}"}
  - {name: move, match: POST /moves, resource: "doc/{json:/doc_id}"}
"""
JSON, FORM = "application/json", "application/x-www-form-urlencoded"


@pytest.fixture(scope="module")
def ruleset(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    """Frozen, and the same for all."""
    return rules(tmp_path_factory.mktemp("nested"), HEAD + POLICY)


def resource(ruleset: RuleSet, line: str, body: str, kind: str = JSON) -> str | None:
    """Its name; the decision where there is none."""
    method, target = line.split(" ")
    told = answer(ruleset, request(method, target, ("Content-Type", kind), body=body), NOBODY)
    return told.resource if told.decision == "forwarded" else told.decision


@pytest.mark.parametrize(
    "query",
    [
        *("comment[doc_id]=8", "comment%5Bdoc_id%5D=8", "comment%5b%20doc_id%5d=8", "comment[doc_id][]=8"),
        *("comment=8", "comment[text]=8", "[comment][doc_id]=8", "comment.doc_id=8", "Comment=8", "comment[=8"),
    ],
)
def test_a_query_says_nothing_on_the_way_of_a_pointer(ruleset: RuleSet, query: str) -> None:
    """Rack puts both into one map, name by name; a name that is on no rule's way is the API's affair."""
    assert resource(ruleset, f"POST /comments?{query}", '{"comment": {"doc_id": 7}}') == "ambiguous-target"
    assert resource(ruleset, "POST /comments?x=1&comments=8", '{"comment": {"doc_id": 7}}') == "doc/7"


@pytest.mark.parametrize(
    "query",
    ["doc_id=8", "doc_id[]=8", "doc_id[]=7", "%20doc_id=8", "doc_id%20=8", "doc%5fid=8", "doc_id%00=8", "docId=7"],
)
def test_a_query_says_no_other_value_of_a_member(ruleset: RuleSet, query: str) -> None:
    """In another spelling of the name not even the same."""
    assert resource(ruleset, f"POST /moves?{query}", '{"doc_id": 7}') == "ambiguous-target"
    assert resource(ruleset, "POST /moves?doc_id=7&move[doc_id]=8", '{"doc_id": 7}') == "doc/7"


@pytest.mark.parametrize(
    "more",
    [
        *('"Comment": {"doc_id": 8}', '"comment.doc_id": 8', '"comment[doc_id]": 8', '"comment": {"doc_id": 8}'),
        *('"comment[]": 8', '"c\\u006fmment": {"doc_id": 8}', '"@comment": {"doc_id": 8}'),
    ],
)
def test_a_body_says_a_deep_name_once(ruleset: RuleSet, more: str) -> None:
    """Beside it stands no other spelling of the way to it."""
    assert resource(ruleset, "POST /comments", f'{{"comment": {{"doc_id": 7}}, {more}}}') == "ambiguous-target"


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        *((kind, "doc/7") for kind in (JSON, f"{JSON}; charset=utf-8", f"{JSON};charset=UTF-8")),
        *(
            (kind, "ambiguous-target")
            for kind in ("text/x-json", "application/jsonrequest", "application/vnd.api+json")
        ),
        *((kind, "ambiguous-target") for kind in (f"{JSON}, text/plain", "text/json", "Application/JSON")),
    ],
)
def test_what_rails_reads_as_json_is_called_so(ruleset: RuleSet, kind: str, told: str) -> None:
    """It knows it by other names, too, and other frameworks do not."""
    assert resource(ruleset, "POST /moves", '{"doc_id": 7}', kind) == told


@pytest.mark.parametrize(
    "body",
    [
        '{"doc_id": 7, "doc_id": 8}',
        '{"doc_id": 7, "\\u0064oc_id": 8}',
        '{"doc_id": 7/*x*/}',
        '{"doc_id": 7} {"doc_id": 8}',
    ],
)
def test_a_body_has_one_reading(ruleset: RuleSet, body: str) -> None:
    """Some parsers take the last of two, some comments, some what comes first."""
    assert resource(ruleset, "POST /moves", body) == "ambiguous-target"


@pytest.mark.parametrize(
    "target", ["/docs/7.json", "/docs/7%2Ejson", "/docs/7?id=8", "/docs/7?%69d=8", "/docs/7?id;=8", "/docs/7?i%64%00=8"]
)
def test_neither_an_ending_nor_a_query_makes_a_second_name(ruleset: RuleSet, target: str) -> None:
    """Of what the path names."""
    assert resource(ruleset, f"PUT {target}", "{}") == "ambiguous-target"


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ('{"id": 8}', JSON),
        ('[{"id": 8}]', JSON),
        ('{"doc": {"id": 8}}', JSON),
        ('{"_json": [8]}', JSON),
        ("id=8", FORM),
    ],
)
def test_rails_takes_the_paths_id_before_the_bodys(ruleset: RuleSet, body: str, kind: str) -> None:
    """So what the body says of it passes where names are apart."""
    assert resource(ruleset, "PUT /docs/7?format=xml&controller=x&doc[id]=8", body, kind) == "doc/7"
