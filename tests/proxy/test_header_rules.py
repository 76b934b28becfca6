"""Rules that read a header, through a whole gateway: what it says here it says to the API, or nothing is sent."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.proxy.mail import proof
from tests.raw import RawAnswer, ask
from tests.stack import Stack, stack

POLICY = """
upstream: reports
url: http://localhost:{port}
mount: {{path: /}}
timeouts: {{connect: 1s, total: 5s}}
read_only:
  - {{match: POST /do, when: {{header: {{x-dry: "true"}}}}}}
  - {{match: POST /look, when: {{header: {{x-mode: preview}}}}}}
writes:
  - {{name: act, match: [POST /do, POST /look], resource: do/all}}
  - {{name: room, match: PUT /room, resource: "room/{{header.x-room}}", values: any, authority: header}}
"""
DRY = "X-Dry: true"


@pytest.fixture
async def gate(store_url: str, tmp_path: Path) -> AsyncIterator[Stack]:
    async with stack(store_url, tmp_path, POLICY) as gate:
        yield gate


async def act(gate: Stack, *fields: str) -> RawAnswer:
    """Without a token: it passes as a read, or not at all."""
    return await ask(gate.port, "POST", "/do", *fields, "Content-Type: text/plain", body=b"x")


async def test_a_read_by_header_is_one_to_every_reader_of_headers(gate: Stack) -> None:
    """A second spelling, a second value, or a `Connection` that takes it away: the API would see none, or another."""
    twice = [
        *(("X_Dry: true",), (DRY, "X_Dry: false"), (DRY, "X.Dry: false"), (DRY, "X-Dry: false"), (DRY, "x-dry: true")),
        *((DRY, "Connection: X-Dry"), (DRY, "Connection: keep-alive, x-dry"), (DRY, "Connection: X_Dry")),
    ]
    broken = [(DRY, "x-dry : false"), (DRY, "X-Dry\t: false"), (DRY, " X-Dry: false")]
    ambiguous = [await act(gate, *fields) for fields in twice]
    refused = [await act(gate, *fields) for fields in broken]

    assert [(one.status, one.decision) for one in ambiguous] == [(400, "ambiguous-target")] * len(twice)
    assert [(one.status, one.decision) for one in refused] == [(400, "bad-request")] * len(broken)
    assert gate.upstream.seen == []


async def test_another_value_is_no_read(gate: Stack) -> None:
    """In another case, in quotes, in a list or empty some APIs take it for the value, and none is guessed; a field of
    another name is none."""
    doubtful = ("X-Dry: TRUE", 'X-Dry: "true"', "X-Dry: true,false", "X-Dry: true, true", "X-Dry:")
    refused = [await act(gate, field) for field in doubtful]
    other = await act(gate, "HTTP_X_DRY: true")

    assert [(one.status, one.decision) for one in refused] == [(400, "ambiguous-target")] * len(doubtful)
    assert (other.status, other.decision) == (428, "token-required")
    assert gate.upstream.seen == []


@pytest.mark.parametrize(
    ("fields", "decision"),
    [
        (("X-Mode: preview",), "passed"),
        (("X-Mode:\tpreview",), "passed"),
        (("X-Mode: ",), "token-required"),
        *(((f"X-Mode: {text}",), "ambiguous-target") for text in ("preview ,", "preview;q=1", "Preview", '"preview"')),
        (("X-Mode: preview", "X-Mode: x"), "ambiguous-target"),
        (("X-Mode: preview", "Connection: X-Mode"), "ambiguous-target"),
        (("X-Mode: preview", "Connection: close, x_mode"), "ambiguous-target"),
    ],
)
async def test_another_text_than_the_one_named_is_the_strict_rules(
    gate: Stack, fields: tuple[str, ...], decision: str
) -> None:
    """In capitals, in quotes, in a list or with a parameter it may be the same: refused. Blanks around it are none of
    it."""
    answer = await ask(gate.port, "POST", "/look", *fields, "Content-Type: text/plain", body=b"x")

    assert answer.decision == decision
    assert [seen.values("X-Mode") for seen in gate.upstream.seen] == [["preview"]] * (decision == "passed")


async def test_a_header_that_decided_arrives(gate: Stack) -> None:
    """As it was judged, without the blanks around it; and a trailer's announcement takes nothing away."""
    passed = [await act(gate, *fields) for fields in (("X-Dry:  true ",), (DRY, "TE: trailers", "Trailer: X-Dry"))]

    assert [one.decision for one in passed] == ["passed"] * 2
    assert [seen.values("X-Dry") for seen in gate.upstream.seen] == [["true"]] * 2


@pytest.mark.parametrize(
    ("fields", "decision"),
    [
        (("X-Room: 7", "X_Room: 8"), "ambiguous-target"),
        (("X-Room: 7", "X-Room: 7"), "ambiguous-target"),
        (("X-Room: 7", "Connection: X-Room"), "ambiguous-target"),
        (("X-Room: 7", "Connection: close, x-room"), "ambiguous-target"),
        (("X-Room: 7", "Connection: X_Room"), "ambiguous-target"),
        (("Connection: keep-alive", "X-Room: 7", "Connection: x-room"), "ambiguous-target"),
        (("X-Room: 7\xa0",), "resource-unresolved"),
        (("X-Room: \xe9",), "resource-unresolved"),
        (("X-Room:",), "resource-unresolved"),
        ((), "resource-unresolved"),
    ],
)
async def test_a_header_that_names_no_single_resource_moves_nothing(
    gate: Stack, fields: tuple[str, ...], decision: str
) -> None:
    """Not the epoch of the resource that it may have meant either: an older one still writes."""
    refused = await ask(gate.port, "PUT", "/room", *proof(9), *fields, body=b"x")
    older = await ask(gate.port, "PUT", "/room", *proof(1), "X-Room: 7", body=b"x")

    assert (refused.status, refused.decision) == (400, decision)
    assert older.decision == "forwarded"
    assert [seen.values("X-Room") for seen in gate.upstream.seen] == [["7"]]


@pytest.mark.parametrize("field", ['Connection: "x-room"', "Connection: x-room;q=1", "Keep-Alive: x-room"])
async def test_what_does_not_name_the_header_takes_nothing_away(gate: Stack, field: str) -> None:
    """The API sees the one that the fence has judged."""
    answer = await ask(gate.port, "PUT", "/room", *proof(1), "X-Room: 7", field, body=b"x")

    assert answer.decision == "forwarded"
    assert [seen.values("X-Room") for seen in gate.upstream.seen] == [["7"]]


async def test_a_header_s_text_is_the_resource_as_it_stands(gate: Stack) -> None:
    """Under `values: any`: a list is not taken apart, each text is a resource of its own."""
    texts = ("7", "7, 8", '"7"', "07")
    told = [await ask(gate.port, "PUT", "/room", *proof(epoch), f"X-Room: {text}", body=b"x")
            for epoch, text in zip(range(9, 0, -1), texts, strict=False)]  # fmt: skip

    assert [one.decision for one in told] == ["forwarded"] * len(texts)
    assert [seen.values("X-Room") for seen in gate.upstream.seen] == [[text] for text in texts]


async def test_an_encoded_word_in_a_header_that_names_the_resource_is_refused(gate: Stack) -> None:
    """Under `values: any` too: CherryPy undoes `=?utf-8?q?7?=`, and has 7."""
    told = await ask(gate.port, "PUT", "/room", *proof(9), "X-Room: =?utf-8?q?7?=", body=b"x")

    assert told.decision == "ambiguous-target"
    assert gate.upstream.seen == []
