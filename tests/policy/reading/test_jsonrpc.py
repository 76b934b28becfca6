"""JSON-RPC and MCP: what is no part of an action, and answers under another id."""

import json

import pytest

from gateway.core.request import Headers
from gateway.policy.fingerprint import Fingerprint
from gateway.policy.reading.jsonbody import Number
from gateway.policy.reading.jsonrpc import action_of, call_id, with_id

EVENTS = b"text/event-stream"
CALL = b'{"jsonrpc": "2.0", "id": "seven \\u00e4", "method": "tools/call", "params": {}}'


def call(**changes: object) -> dict[str, object]:
    """An MCP call; a change to None leaves the member out."""
    whole = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "send", "arguments": {"to": "ada"}}}
    return {name: value for name, value in (whole | changes).items() if value is not None}


def digest(value: object) -> object:
    body = json.dumps(value).encode()
    reading = Fingerprint(whole=True).begin(Headers([(b"Content-Type", b"application/json")]), 1 << 20)
    reading.feed(body)
    return reading.digest(body)


PARAMS: dict[str, object] = {"name": "send", "arguments": {"to": "ada"}}
SAME = {
    "id": call(id=2),
    "id as text": call(id="b"),
    "answers for the server": call(params=PARAMS | {"inputResponses": {"ok": {"action": "accept"}}}),
    "the server's state": call(id=3, params=PARAMS | {"requestState": "opaque", "inputResponses": {}}),
}
OTHER = {
    "method": call(method="tools/list"),
    "argument": call(params={"name": "send", "arguments": {"to": "eve"}}),
    "a member of its own": call(params=PARAMS | {"inputRequests": {}}),
    "the id of an argument": call(params={"name": "send", "arguments": {"to": "ada", "id": 1}}),
    "no JSON-RPC": call(jsonrpc="1.0"),
    "params as a list": call(params=["inputResponses"]),
}


@pytest.mark.parametrize("other", SAME.values(), ids=SAME.keys())
def test_a_call_is_repeated_under_another_id(other: object) -> None:
    """Nor do the inputs count that an MCP server asked for: the call goes on as the same action."""
    assert digest(other) == digest(call())


@pytest.mark.parametrize("other", OTHER.values(), ids=OTHER.keys())
def test_another_action_is_another_request(other: object) -> None:
    """Only the members of the call itself are left out, and only of JSON-RPC 2.0."""
    assert digest(other) != digest(call())


def test_what_clients_make_of_the_id_does_not_count_either() -> None:
    """A progress token is the call's id in most clients, and tracing has its own for each attempt."""
    metas = [{"progressToken": at, "traceparent": f"00-{at}", "tracestate": f"a={at}", "key": "k"} for at in (1, 2)]

    one, other = (digest(call(params=PARAMS | {"_meta": meta})) for meta in metas)

    assert one == other
    assert one != digest(call(params=PARAMS | {"_meta": {"key": "other"}}))


def test_a_batch_is_its_calls_with_their_ids() -> None:
    """Its answers come in any order: without the ids they could not be told apart in a replay."""
    one, other = call(), call(method="tools/list")

    assert digest([one, other]) != digest([one | {"id": 8}, other | {"id": 9}])
    assert digest([one, other]) != digest([other, one])
    assert digest([one]) != digest(one)


def test_a_value_that_is_no_call_stays_as_it_is() -> None:
    """An `id` of anything else says what is written."""
    assert action_of({"id": Number("1")}) == {"id": Number("1")}
    assert action_of("text") == "text"
    assert digest({"id": 1}) != digest({"id": 2})


SPLICED = {
    "result": (
        b'{"jsonrpc":"2.0","id":1,"result":{"id":1}}',
        b'{"jsonrpc":"2.0","id":"seven \\u00e4","result":{"id":1}}',
    ),
    "error, id last": (
        b' {"error": {"code": -1}, "jsonrpc": "2.0", "id" :\t"a\\"}" }\n',
        b' {"error": {"code": -1}, "jsonrpc": "2.0", "id" :\t"seven \\u00e4" }\n',
    ),
    "numbers as spelled": (
        '{"result": 1.50e1, "x": "ä", "id": 9007199254740993, "jsonrpc": "2.0"}'.encode(),
        '{"result": 1.50e1, "x": "ä", "id": "seven \\u00e4", "jsonrpc": "2.0"}'.encode(),
    ),
    "name with an escape": (
        b'{"i\\u0064": 1, "jsonrpc": "2.0", "result": null}',
        b'{"i\\u0064": "seven \\u00e4", "jsonrpc": "2.0", "result": null}',
    ),
}


@pytest.mark.parametrize(("answer", "spliced"), SPLICED.values(), ids=SPLICED.keys())
def test_a_replay_has_the_id_of_the_new_call(answer: bytes, spliced: bytes) -> None:
    """Spelled as the call spells it; every other byte is the first answer's."""
    assert with_id(answer, CALL) == spliced


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b'{"id": 1, "result": 1}',
        b'{"jsonrpc": "1.0", "id": 1, "result": 1}',
        b'{"jsonrpc": "2.0", "result": 1}',
        b'{"jsonrpc": "2.0", "id": 1}',
        b'{"jsonrpc": "2.0", "id": null, "error": {}}',
        b'{"jsonrpc": "2.0", "id": 1, "id": 2, "result": 1}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "result": 1}',
        b'{"jsonrpc": "2.0", "id": 1, "result": NaN}',
        b'{"jsonrpc": "2.0", "id": 1, "result": 1} x',
        b'{"jsonrpc": "2.0", "id": 1, "result": 1',
        b'{"jsonrpc": "2.0", "id": 1, "result": 1,}',
        b'{"jsonrpc": "2.0", "id": 1 "result": 1}',
        b'[{"jsonrpc": "2.0", "id": 1, "result": 1}]',
        b'\xff{"jsonrpc": "2.0", "id": 1, "result": 1}',
        b'{"jsonrpc": "2.0", "id": 1, "result": ' + b"[" * 100_000,
        b'data: {"jsonrpc": "2.0", "id": 1, "result": 1}\n\n',
    ],
    ids=lambda answer: repr(answer[:60]),
)
def test_what_is_no_plain_answer_to_one_call_stays_as_it_is(answer: bytes) -> None:
    """A batch too: which of its answers belongs to which call is not known."""
    assert with_id(answer, CALL) == answer


@pytest.mark.parametrize(
    "request_body",
    [
        b"",
        b"{}",
        b'{"jsonrpc": "2.0", "method": "a"}',
        b'{"jsonrpc": "2.0", "method": "a", "id": null}',
        b'{"jsonrpc": "2.0", "method": "a", "id": [1]}',
        b'{"jsonrpc": "2.0", "method": "a", "id": 1, "id": 2}',
        b'{"jsonrpc": "2.0", "id": 1, "result": 1}',
        b"\x1f\x8b\x08",
    ],
)
def test_a_request_without_an_id_changes_nothing(request_body: bytes) -> None:
    """A notification, a batch, or something else: the answer goes out as it was."""
    answer = b'{"jsonrpc": "2.0", "id": 1, "result": 1}'

    assert with_id(answer, request_body) == answer


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"], ids=["LF", "CRLF", "CR"])
def test_in_an_event_stream_each_answer_has_the_new_id(end: bytes) -> None:
    """The server's own requests and notes, ids of events, and all other lines stay."""
    lines = [
        b": comment",
        b"id: 1",
        b'data: {"jsonrpc": "2.0", "id": 1, "method": "ping"}',
        b"",
        b"event: message",
        b'data:{"jsonrpc": "2.0", "id": 1, "result": "data: {}"}',
        b'xdata: {"jsonrpc": "2.0", "id": 1, "result": {}}',
        b"",
        b"",
    ]
    spliced = [*lines]
    spliced[5] = b'data:{"jsonrpc": "2.0", "id": "seven \\u00e4", "result": "data: {}"}'

    assert with_id(end.join(lines), CALL, EVENTS + b"; charset=utf-8") == end.join(spliced)


@pytest.mark.parametrize(
    ("request_body", "spelled"),
    [
        (CALL, '"seven \\u00e4"'),
        (b'{"id": 1.50e1, "jsonrpc": "2.0", "method": "a"}', "1.50e1"),
        (b'{"jsonrpc": "2.0", "method": "a"}', None),
        (b'{"jsonrpc": "2.0", "method": "a", "id": null}', None),
        (b'{"jsonrpc": "2.0", "method": "a", "id": [1]}', None),
        (b'{"jsonrpc": "2.0", "method": "a", "id": 1, "id": 2}', None),
        (b'{"jsonrpc": "2.0", "id": 1, "result": 1}', None),
        (b'[{"jsonrpc": "2.0", "method": "a", "id": 1}]', None),
        (b'{"method": "a", "id": 1}', None),
        (b"\xff", None),
        (b"", None),
    ],
)
def test_a_call_has_its_id_as_it_is_spelled(request_body: bytes, spelled: str | None) -> None:
    """Nothing is answered to what is no call of JSON-RPC 2.0, or has no id to answer to."""
    place = call_id(request_body)

    assert (None if place is None else place.spelled.decode()) == spelled
    assert place is None or request_body[place.at :].startswith(place.spelled)


def test_to_other_methods_such_names_are_arguments() -> None:
    """An API that is no MCP server may have an argument of the name."""
    first = call(method="pay", params={"requestState": 1})

    assert digest(first) != digest(call(method="pay", params={"requestState": 2}))
