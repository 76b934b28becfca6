"""What stands in the query and in the body under one name is read by no rule."""

from dataclasses import replace
from pathlib import Path

import pytest

from gateway.core.caller import NOBODY
from gateway.core.request import Headers
from gateway.policy.reading.beside import contradicts
from gateway.policy.reading.formlike import MOST_BYTES
from gateway.policy.reading.jsonbody import Number
from gateway.policy.review.answer import Answer, answer
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import HEAD, request, rules

POLICY = f"""{HEAD}
writes:
  - {{name: form, match: POST /form, resource: "r/{{form.r}}"}}
  - {{name: json, match: POST /json, resource: "r/{{json:/r}}"}}
  - {{name: deep, match: POST /deep, resource: "r/{{json:/r/id}}"}}
  - {{name: query, match: "POST,PUT /query", resource: "r/{{query.r}}"}}
  - {{name: query-key, match: POST /key, resource: r, intent: {{mode: required, key: ["{{query.r}}", "{{form.r}}"]}}}}
  - {{name: of-query, match: POST /when/query, when: {{query: {{r: "7"}}}}, resource: r/7}}
  - {{name: others, match: POST /when/query, resource: r/any}}
  - {{name: of-form, match: POST /when/form, when: {{form: {{r: "7"}}}}, resource: r/7}}
  - {{name: of-json, match: POST /when/json, when: {{json: {{/r: [7, "7"]}}}}, resource: r/7}}
  - name: undone
    match: POST /undone
    resource: r
    intent: {{mode: required}}
    effect: {{compensation: {{request: "DELETE /undone/{{query.r}}"}}}}
"""
URLENCODED = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data; boundary=b"


def parts(name: str, value: str = "8") -> str:
    """A multipart form with one field."""
    return f'--b\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n--b--\r\n'


@pytest.fixture(scope="module")
def ruleset(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    """Frozen, and the same for all."""
    return rules(tmp_path_factory.mktemp("beside"), POLICY)


def told(ruleset: RuleSet, target: str, body: str | None, kind: str = "", *more: tuple[str, str]) -> Answer:
    """What is said of a POST."""
    named = [("Content-Type", kind)] if kind else []
    asked = request("POST", target, ("Idempotency-Key", "k"), *named, *more, body=body)
    return answer(ruleset, asked, NOBODY)


@pytest.mark.parametrize(
    ("target", "kind", "body"),
    [
        ("/form?r=7", URLENCODED, "r=7"),
        ("/form?r=8", URLENCODED, "r=7"),
        ("/form?[r]=8", URLENCODED, "r=7"),
        ("/form?x=1;r=8", URLENCODED, "r=7"),
        ("/form?x=%zz", URLENCODED, "r=7"),
        ("/json?r=8", "application/json", '{"r": 7}'),
        ("/json?R=7", "application/json", '{"r": 7}'),
        ("/json?r[]=7", "application/json", '{"r": 7}'),
        ("/deep?r=8", "application/json", '{"r": {"id": 7}}'),
        ("/deep?r[id]=8", "application/json", '{"r": {"id": 7}}'),
        ("/query?r=7", URLENCODED, "r=8"),
        ("/query?r=7", URLENCODED, "r=7"),
        ("/query?r=7", URLENCODED, "[r]=8"),
        ("/query?r=7", URLENCODED, "R[]=8"),
        ("/query?r=7", URLENCODED, "x=%zz"),
        ("/query?r=7", URLENCODED + ";", "x=1"),
        ("/query?r=7", "a, b", "x=1"),
        ("/query?r=7", URLENCODED.title(), "x=1"),
        ("/query?r=7", URLENCODED, "x=1]=2"),
        ("/query?r=7", MULTIPART.replace("b", "B", 1), parts("x")),
        ("/query?r=7", "application/json+json", '{"r": 8}'),
        ("/query?r=7", MULTIPART, parts("r")),
        ("/query?r=7", MULTIPART, parts("R[]")),
        ("/query?r=7", MULTIPART, "x"),
        ("/query?r=7", "multipart/form-data", parts("x")),
        ("/query?r=7", "application/json", '{"r": 8}'),
        ("/query?r=7", "application/vnd.x+json", '{"R": 8}'),
        ("/query?r=7", "text/json", '{"r": [7]}'),
        ("/query?r=7", "application/json5", '{"r": 8}'),
        ("/query?r=7", "application/x+jsonl", '{"r": 8}'),
        ("/query?r=7", "application/x-ndjson", '{"r": 8}\n{"r": 9}'),
        ("/query?r=7", "application/json", '{"a": "&r=8&b="}'),
        ("/query?r=7", "application/json", '{"a": "&%52[]&b="}'),
        ("/query?r=7", "application/json", '{"a": ";r=8"}'),
        ("/when/query", "application/json", '{"a": "&r=7&b="}'),
        ("/query?r=7", "text/plain", "x"),
        ("/query?r=7", "text/csv", "x"),
        ("/query?r=7", "text/plain; a=+json", '{"r": 8}'),
        ("/query?r=7", 'image/png; a="x/json"', '{"r": 8}'),
        ("/query?r=7", URLENCODED + "x", "x=1"),
        ("/query?r=7", URLENCODED + "+x", "x=1"),
        ("/query?r=7", "a/b+x-www-form-urlencoded", "x=1"),
        ("/query?r=7", "multipart/related; boundary=b; type=a+json", parts("x")),
        ("/query?r=7", "application/octet-stream", "r=8"),
        ("/query?r=7", "application/octet-stream", "x=1&R"),
        ("/query?r=7", "text/xml", "<a>&r=8;</a>"),
        ("/key?r=7", "image/png", "r=8"),
        ("/when/query?r=7", "image/png", "r"),
        ("/query?r=7", "application/json", '{"x": 1, "x": 2}'),
        ("/key?r=7", URLENCODED, "r=7"),
        ("/when/query", URLENCODED, "r=7"),
        ("/when/query", MULTIPART, parts("r", "7")),
        ("/when/query?r=7", "application/json", '{"r": 8}'),
        ("/when/form?r=7", URLENCODED, "x=1"),
        ("/when/json?r=7", "application/json", "{}"),
        ("/when/json?r=7", "application/json", '{"r": 8}'),
    ],
)
def test_a_name_that_the_query_and_the_body_have_is_ambiguous(
    ruleset: RuleSet, target: str, kind: str, body: str
) -> None:
    """PHP, Flask, servlets, Rails and Laravel keep both in one map. What cannot be judged is refused too."""
    assert told(ruleset, target, body, kind).decision == "ambiguous-target"


@pytest.mark.parametrize(
    ("target", "kind", "body", "resource"),
    [
        ("/form?x=8", URLENCODED, "r=7", "r/7"),
        ("/json?x=8&rr=9", "application/json", '{"r": 7}', "r/7"),
        ("/json?r=7", "application/json", '{"r": 7}', "r/7"),
        ("/json?r=a", "application/json", '{"r": "a"}', "r/a"),
        ("/deep?id=8", "application/json", '{"r": {"id": 7}}', "r/7"),
        ("/query?r=7", URLENCODED, "x=8", "r/7"),
        ("/query?r=7", MULTIPART, parts("x"), "r/7"),
        ("/query?r=7", "application/json", '{"r": 7, "x": 8}', "r/7"),
        ("/query?r=7", "application/json", '{"x": {"r": 8}}', "r/7"),
        ("/query?r=7", "application/json", '[{"r": 8}]', "r/7"),
        ("/query?r=7", "application/json", '{"a": "R&D; or&d=1"}', "r/7"),
        ("/query?r=7", "application/json", '{"a": "\\u0026r=8"}', "r/7"),
        ("/query?r=7", "application/octet-stream", "x=8", "r/7"),
        ("/query?r=7", "application/octet-stream", "", "r/7"),
        ("/query?r=7", "application/octet-stream", "r=8" + "&" * MOST_BYTES, "r/7"),
        ("/query?r=7", "text/xml", "<a>&quot;x&quot;</a>", "r/7"),
        ("/key?r=7", "image/png", "x", "r"),
        ("/query?r=7", "", None, "r/7"),
        ("/query?r=7", "", "", "r/7"),
        ("/key?x=7", URLENCODED, "r=7", "r"),
        ("/key?r=7", URLENCODED, "x=7", "r"),
        ("/when/query", "application/json", '{"r": 7}', "r/any"),
        ("/when/query?r=8", URLENCODED, "x=7", "r/any"),
        ("/when/query?r=7", MULTIPART, parts("x"), "r/7"),
        ("/when/form?x=7", URLENCODED, "r=7", "r/7"),
        ("/when/json?r=7", "application/json", '{"r": "7"}', "r/7"),
    ],
)
def test_other_names_may_stand_in_both(
    ruleset: RuleSet, target: str, kind: str, body: str | None, resource: str
) -> None:
    """JSON may say what the query says, and what only it has is no parameter; what none takes apart is not read."""
    said = told(ruleset, target, body, kind)

    assert (said.decision, said.resource) == ("forwarded", resource)


@pytest.mark.parametrize(
    ("framing", "decision"),
    [
        ([("Content-Length", "0")], "forwarded"),
        ([("Content-Length", "3")], "body-needed"),
        ([("Transfer-Encoding", "chunked")], "body-needed"),
        ([], "body-needed"),
    ],
    ids=["empty", "long", "chunked", "kept"],
)
@pytest.mark.parametrize("target", ["/query?r=7", "/when/query?r=7", "/key?r=7"])
def test_a_form_is_waited_for(ruleset: RuleSet, target: str, framing: list[tuple[str, str]], decision: str) -> None:
    """Only a body that may have names is read for a rule that looks at the query."""
    assert told(ruleset, target, None, URLENCODED, *framing).decision == decision
    other = "body-needed" if framing and decision == "body-needed" else "forwarded"
    assert told(ruleset, target, None, "image/png", *framing).decision == other


@pytest.mark.parametrize(("length", "decision"), [(MOST_BYTES, "body-needed"), (MOST_BYTES + 1, "forwarded")])
def test_a_long_upload_is_not_waited_for(ruleset: RuleSet, length: int, decision: str) -> None:
    """Those that read any body as a form take none so long."""
    told_length = ("Content-Length", str(length))

    assert told(ruleset, "/query?r=7", None, "application/octet-stream", told_length).decision == decision
    assert told(ruleset, "/query?r=7", None, "application/json", told_length).decision == "body-needed"


@pytest.mark.parametrize(
    ("cookie", "refused"),
    [("r=7", True), ("a=1; R[x]=8", True), ("%72", True), ("rr=8; x=r", False), (";;=", False)],
)
@pytest.mark.parametrize(
    ("target", "kind", "body"),
    [
        ("/query?r=7", "", None),
        ("/when/query?r=7", "", None),
        ("/when/query", "application/json", "{}"),
        ("/form", URLENCODED, "r=7"),
        ("/when/form", URLENCODED, "r=7"),
    ],
)
def test_a_cookie_of_the_same_name_is_ambiguous(
    ruleset: RuleSet, target: str, kind: str, body: str | None, cookie: str, refused: bool
) -> None:
    """PHP without its php.ini takes the cookie before both."""
    said = told(ruleset, target, body, kind, ("Cookie", "first=1"), ("Cookie", cookie))

    assert said.decision == ("ambiguous-target" if refused else "forwarded")
    assert not refused or "cookie" in (said.detail or "")


def test_a_cookie_is_none_of_json(ruleset: RuleSet) -> None:
    """Nobody keeps the members of an object and cookies in one map."""
    assert told(ruleset, "/json", '{"r": 7}', "application/json", ("Cookie", "r=8")).decision == "forwarded"


@pytest.mark.parametrize(
    ("body", "decision"),
    [
        (None, "body-needed"),
        (b"x=8", "forwarded"),
        (b"{}", "ambiguous-target"),
        (b"r=8", "ambiguous-target"),
        (b"\xff", "ambiguous-target"),
    ],
    ids=repr,
)
def test_a_post_that_says_nothing_of_its_body_counts_as_a_form(
    ruleset: RuleSet, body: bytes | None, decision: str
) -> None:
    """To Rack it is one, and must be a plain one. Another method's is searched for the name, as Bottle reads it."""
    framing = ((b"Content-Length", b"3"), (b"Idempotency-Key", b"k"))
    asked = replace(request("POST", "/query?r=7"), headers=Headers(framing), body=body)

    assert answer(ruleset, asked, NOBODY).decision == decision
    put = "forwarded" if body in (b"\xff", b"{}") else decision
    assert answer(ruleset, replace(asked, method="PUT"), NOBODY).decision == put


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (URLENCODED, "x=1"),
        (MULTIPART, parts("x")),
        ("application/json", "{}"),
        ("application/octet-stream", "{}"),
    ],
    ids=["a form", "parts", "JSON", "an upload"],
)
@pytest.mark.parametrize("name", ["Content-Encoding", "Content_Encoding"])
def test_a_coded_body_is_refused_beside_the_query(
    tmp_path: Path, ruleset: RuleSet, kind: str, body: str, name: str
) -> None:
    """A server that does not undo the coding finds fields in the coded bytes: gzip's head has room for any. In Node
    nobody undoes that of parts, whoever undoes that of JSON, and no client codes a form."""
    coded = (name, "gzip")
    undoing = rules(tmp_path, f"{POLICY}mount: {{coded_bodies: undone}}\n")
    refusal, passage = ("unsupported-coding", "forwarded") if "-" in name else ("ambiguous-target",) * 2
    passage = refusal if kind in (URLENCODED, MULTIPART) else passage

    assert told(ruleset, "/query?r=7", body, kind).decision == "forwarded"
    assert told(ruleset, "/query?r=7", body, kind, coded).decision == refusal
    assert told(undoing, "/query?r=7", body, kind, coded).decision == passage
    assert told(ruleset, "/query?r=7", "", kind, coded).decision == "forwarded"


@pytest.mark.parametrize("method", ["POST", "PUT"])
@pytest.mark.parametrize("name", [b"Content-Encoding", b"Content_Encoding"])
def test_so_is_one_without_a_type(ruleset: RuleSet, method: str, name: bytes) -> None:
    """Rack reads a POST's as a form, Bottle any: as it came."""
    headers = Headers(((b"Content-Length", b"1"), (name, b"deflate")))
    asked = replace(request(method, "/query?r=7"), headers=headers, body=b"x")

    assert answer(ruleset, asked, NOBODY).decision == "unsupported-coding"


def test_a_compensation_is_no_reason_to_refuse(ruleset: RuleSet) -> None:
    """What it takes of the query is read after the body; a name in both makes none."""
    assert told(ruleset, "/undone?r=7", None, URLENCODED).decision == "body-needed"
    assert told(ruleset, "/undone?r=7", "r=8", URLENCODED).decision == "forwarded"


FORM_IN_JSON = '{"note": "see ?a=1&r=8", "more": "R&D;r=9&b"}'


@pytest.mark.parametrize(
    ("target", "kind", "body", "decision"),
    [
        ("/query?r=7", "application/json", FORM_IN_JSON, "forwarded"),
        ("/query?r=7", "application/json; charset=utf-8", FORM_IN_JSON, "forwarded"),
        ("/query?r=7", "application/vnd.api+json", FORM_IN_JSON, "forwarded"),
        ("/when/query", "application/json", FORM_IN_JSON, "forwarded"),
        ("/key?r=7", "application/json", FORM_IN_JSON, "forwarded"),
        ("/query?r=7", "application/json", '{"r": 8}', "ambiguous-target"),
        ("/query?r=7", "application/json", "a=1&r=8&b=2", "ambiguous-target"),
        ("/when/query", "application/json", FORM_IN_JSON + "&r=7", "ambiguous-target"),
        ("/when/query", "application/json", '{"a": 1, "a": "&r=8"}', "ambiguous-target"),
        ("/query?r=7", "application/x+json", FORM_IN_JSON, "ambiguous-target"),
        ("/query?r=7", "application/json; a=b", FORM_IN_JSON, "ambiguous-target"),
        ("/query?r=7", "application/octet-stream", FORM_IN_JSON, "ambiguous-target"),
        ("/query?r=7", URLENCODED, "r=8", "ambiguous-target"),
    ],
)
def test_text_in_json_is_no_form_where_the_policy_says_so(
    tmp_path: Path, target: str, kind: str, body: str, decision: str
) -> None:
    """What is called JSON, by a type that the API reads as JSON, and is JSON; all else is as ever."""
    mount = "mount: {form_in_json: opaque}\njson_types: application/vnd.api+json\n"
    opaque = rules(tmp_path, POLICY.replace("writes:", f"{mount}writes:"))

    assert told(opaque, target, body, kind).decision == decision


@pytest.mark.parametrize(
    ("target", "kind", "body", "decision"),
    [
        ("/when/query", "application/json", '{"r": 7}', "ambiguous-target"),
        ("/when/query", "application/json", '{"r": "8"}', "ambiguous-target"),
        ("/when/query", "application/json", '{"R[]": null}', "ambiguous-target"),
        ("/when/query", "application/json", '{"r": 7, "r": 7}', "ambiguous-target"),
        ("/when/query?r=7", "application/json", '{"r": 7}', "forwarded"),
        ("/when/query?r=7", "application/json", '{"r": 8}', "ambiguous-target"),
        ("/when/query", "application/json", '{"x": {"r": 7}}', "forwarded"),
        ("/when/query", "application/json", '[{"r": 7}]', "forwarded"),
        ("/when/query", "application/json", '"r"', "forwarded"),
    ],
)
def test_where_names_are_merged_json_alone_makes_a_parameter(
    tmp_path: Path, target: str, kind: str, body: str, decision: str
) -> None:
    """The API would meet the condition that the query does not; which says it itself, alike, meets it anyhow."""
    merged = rules(tmp_path, POLICY.replace("writes:", "mount: {names: merged}\nwrites:"))

    said = told(merged, target, body, kind)
    assert said.decision == decision
    assert "?" in target or decision == "forwarded" or "r" in (said.detail or "")


@pytest.mark.parametrize(
    ("target", "body", "decision"),
    [
        ("/look?dry=true", '{"dry": true}', "passed"),
        ("/look?dry=true", '{"text": "x"}', "passed"),
        ("/look?dry=true", '{"dry": false}', "ambiguous-target"),
        ("/look?dry=true", '{"Dry": false}', "ambiguous-target"),
        ("/look?dry=true&!dry=false", "{}", "ambiguous-target"),
        ("/look?dry=true&dry=false", "{}", "ambiguous-target"),
        ("/look?dry=false", "{}", "no-policy"),
    ],
)
def test_a_read_by_its_query_is_none_by_its_body(tmp_path: Path, target: str, body: str, decision: str) -> None:
    """Who keeps both in one map would write."""
    look = rules(tmp_path, f'{HEAD}read_only: [{{match: POST /look, when: {{query: {{dry: "true"}}}}}}]\n')

    assert told(look, target, body, "application/json").decision == decision


@pytest.mark.parametrize(
    ("value", "text", "differs"),
    [
        ("7", None, True),
        (None, None, True),
        ("7", "7", False),
        (Number("7"), "7", False),
        (Number("7.0"), "7", True),
        (True, "true", False),
        (False, "true", True),
        (None, "", True),
        ([], "", True),
    ],
    ids=repr,
)
def test_a_member_says_the_same_where_the_query_spells_it_so(value: object, text: str | None, differs: bool) -> None:
    """Numbers and truths as JSON has them; nothing else is one text, and what the query has not is never the same."""
    assert contradicts({"r": value}, "r", text) is differs  # type: ignore[dict-item]  # any JSON value
    assert contradicts({"$set": {"r": value}}, "r", text) is differs  # type: ignore[dict-item]  # any JSON value


@pytest.mark.parametrize(
    ("target", "advice"), [("/when/query", "Send it in the query"), ("/query?r=7", "Send it once")]
)
@pytest.mark.parametrize(("kind", "body"), [(URLENCODED, "r=8"), (MULTIPART, parts("r"))], ids=["a form", "parts"])
def test_the_refusal_says_where_it_stands(ruleset: RuleSet, target: str, advice: str, kind: str, body: str) -> None:
    """In the body alone, or in both."""
    refused = told(ruleset, target, body, kind)

    assert (refused.decision, advice in (refused.detail or "")) == ("ambiguous-target", True)
