"""A request that names one thing to the rules and another to the API behind them: nothing of it is sent."""

from pathlib import Path

from tests.raw import RawAnswer, ask
from tests.stack import Stack, stack

POLICY = """
upstream: reports
url: http://localhost:{port}
mount: {{path: /r}}
timeouts: {{connect: 1s, total: 5s}}
limits: {{body: 64KiB}}
json_types: application/vnd.api+json
read_only:
  - {{match: POST /r/search, when: {{query: {{dry: "true"}}}}}}
  - {{match: POST /r/look, when: {{json: {{/dry: true}}}}}}
  - {{match: POST /r/list}}
writes:
  - {{name: query, match: POST /r/query, resource: "report/{{query.id}}"}}
  - {{name: form, match: POST /r/form, resource: "report/{{form.id}}"}}
  - {{name: json, match: POST /r/json, resource: "report/{{json:/id}}"}}
"""
FORM = "Content-Type: application/x-www-form-urlencoded"
JSON = "Content-Type: application/json"
PARTS = "Content-Type: multipart/form-data; boundary=b"


def part(name: str) -> bytes:
    """A multipart form with one field."""
    return f'--b\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n8\r\n--b--\r\n'.encode()


async def post(gate: Stack, target: str, *fields: str, body: bytes) -> RawAnswer:
    return await gate.write(target, *fields, method="POST", body=body)


async def test_no_second_name_reaches_the_api(store_url: str, tmp_path: Path) -> None:
    """In the query, in a form, in both, behind more parameters than servers take, or in a type that none reads."""
    refused = [
        ("/r/query?id=7&[id]=8", JSON, b"{}"),
        ("/r/query?" + "a&" * 1000 + "id=7", JSON, b"{}"),
        ("/r/query?id=%u0037", JSON, b"{}"),
        ("/r/json?_method=DELETE", JSON, b'{"id": 7}'),
        ("/r/query?id=7", FORM, b"id=8"),
        ("/r/query?id=7", PARTS, part("id")),
        ("/r/query?id=7", PARTS, part("id")[:-4]),
        ("/r/query?id=7", JSON, b'{"id": 8}'),
        ("/r/form?id=8", FORM, b"id=7"),
        ("/r/form", FORM, b"id=7&[id]=8"),
        ("/r/form", FORM + ";", b"id=7"),
        ("/r/json?id=8", JSON, b'{"id": 7}'),
        ("/r/json", JSON + ";", b'{"id": 7}'),
        ("/r/json", JSON + ";\tcharset=utf-8", b'{"id": 7}'),
        ("/r/json", "Content-Type: application/x+json", b'{"id": 7}'),
        ("/r/json", "Content-Type: application/json\t", b'{"id": 7}'),
    ]
    async with stack(store_url, tmp_path, POLICY) as gate:
        await gate.lease("report/7")
        answers = [await post(gate, target, field, body=body) for target, field, body in refused[:-1]]
        trimmed = await post(gate, refused[-1][0], refused[-1][1], body=refused[-1][2])

        assert [answer.decision for answer in answers] == ["ambiguous-target"] * len(answers)
        # A parser that cuts the tab off sends none.
        assert trimmed.decision == "ambiguous-target" or b"json\t" not in gate.upstream.seen[0].raw
        assert len(gate.upstream.seen) == (trimmed.decision == "forwarded")


async def test_plain_names_arrive(store_url: str, tmp_path: Path) -> None:
    """With forms, parts and JSON beside the query, byte for byte; also of a type that the policy names."""
    sent = [
        ("/r/query?id=7&x[]=1&x[]=2", FORM, b"x=8"),
        ("/r/query?id=7", PARTS, part("file")),
        ("/r/query?id=7", JSON, b'{"id": 7, "x": 8}'),
        ("/r/query?id=7", "Content-Type: application/octet-stream", bytes((100 << 10) + 1)),
        ("/r/form?x=8", FORM, b"id=7"),
        ("/r/json?id=7", JSON, b'{"id": "7"}'),
        ("/r/json", "Content-Type: application/vnd.api+json", b'{"id": 7}'),
    ]
    async with stack(store_url, tmp_path, POLICY) as gate:
        await gate.lease("report/7")
        answers = [await post(gate, target, field, body=body) for target, field, body in sent]

        assert [answer.decision for answer in answers] == ["forwarded"] * len(sent)
        assert [seen.body for seen in gate.upstream.seen] == [body for _, _, body in sent]


async def test_a_read_is_one_to_the_api_too(store_url: str, tmp_path: Path) -> None:
    """What lets it pass without a token is what the API will see."""
    asked = [
        ("/r/search?dry=true", FORM, b"x=1"),
        ("/r/look", JSON, b'{"dry": true}'),
        ("/r/search?" + "a&" * 1000 + "dry=true", FORM, b"x=1"),
        ("/r/search?dry=true", FORM, b"dry=false"),
        ("/r/look", JSON + ";;", b'{"dry": true}'),
        ("/r/look", "Content-Type: image/svg+json", b'{"dry": true}'),
    ]
    async with stack(store_url, tmp_path, POLICY) as gate:
        answers = [await ask(gate.port, "POST", target, field, body=body) for target, field, body in asked]

        assert [answer.decision for answer in answers] == ["passed"] * 2 + ["ambiguous-target"] * 4
        assert [seen.body for seen in gate.upstream.seen] == [body for _, _, body in asked[:2]]


async def test_a_read_names_no_other_method(store_url: str, tmp_path: Path) -> None:
    """It needs no token: a server that takes the method from the query would delete for anybody."""
    async with stack(store_url, tmp_path, POLICY) as gate:
        targets = ("/r/list?_method=DELETE", "/r/list?a=1&%5Fmethod=DELETE", "/r/list?a=1")
        answers = [await ask(gate.port, "POST", target, JSON, body=b"{}") for target in targets]

        assert [(answer.status, answer.decision) for answer in answers] == [
            *[(400, "ambiguous-target")] * 2,
            (200, "passed"),
        ]
        assert [seen.line for seen in gate.upstream.seen] == ["POST /r/list?a=1 HTTP/1.1"]


async def test_text_in_json_arrives_where_the_api_reads_types(store_url: str, tmp_path: Path) -> None:
    """Under `form_in_json: opaque` it arrives byte for byte; else it is refused, with what to send instead."""
    body = b'{"note": "see https://example.org/?a=1&id=5"}'
    for form_in_json, decision in (("opaque", "forwarded"), ("refuse", "ambiguous-target")):
        policy = POLICY.replace("path: /r", f"path: /r, form_in_json: {form_in_json}")
        async with stack(store_url, tmp_path, policy) as gate:
            await gate.lease("report/7", takeover=True)
            answer = await post(gate, "/r/query?id=7", JSON, body=body)

            assert answer.decision == decision
            assert [seen.body for seen in gate.upstream.seen] == [body] * (decision == "forwarded")
            assert decision == "forwarded" or "\\u0026" in answer.problem["detail"]


async def test_a_condition_of_the_query_is_met_by_no_body_where_names_are_merged(
    store_url: str, tmp_path: Path
) -> None:
    """Nothing of it is sent, and no epoch moves."""
    rules = """
  - {{name: dry, match: POST /r/run, when: {{query: {{mode: dry}}}}, resource: dry}}
  - {{name: run, match: POST /r/run, resource: run, authority: header}}
"""
    async with stack(store_url, tmp_path, POLICY.replace("path: /r", "path: /r, names: merged") + rules) as gate:
        token = "Fencing-Token: 9", "Fencing-Holder: a"
        refused = await ask(gate.port, "POST", "/r/run", *token, JSON, body=b'{"mode": "dry"}')
        older = "Fencing-Token: 8", "Fencing-Holder: a"
        passed = await ask(gate.port, "POST", "/r/run", *older, JSON, body=b'{"speed": 1}')

        assert (refused.status, refused.decision) == (400, "ambiguous-target")
        assert (passed.status, passed.decision) == (200, "forwarded")
        assert [seen.body for seen in gate.upstream.seen] == [b'{"speed": 1}']
