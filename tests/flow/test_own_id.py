"""A call of a tool goes out under an id that nobody else knows, and comes back under its caller's."""

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core.call import Call
from gateway.core.whole_body import WholeBody
from gateway.flow.own_id import LONGEST_ID, OwnId, Respelled, Restoring, restored
from gateway.policy.reading.jsonrpc_answer import call_of
from tests.playbook.caller import NoBody

SPELLINGS = [
    "7",
    "-1",
    "7.0",
    "1e3",
    "1764561234567890",
    '"a"',
    '""',
    '"\u00e9 \\u0061"',
    '"' + "x" * (LONGEST_ID - 2) + '"',
]


class Pieces(NoBody):
    """A body that comes in these pieces, and can be read again."""

    def __init__(self, *pieces: bytes) -> None:
        self._pieces, self._left = pieces, list(pieces)
        self.length = sum(map(len, pieces))

    def take_buffered(self) -> bytes | None:
        return None

    async def read(self) -> bytes:
        return self._left.pop(0) if self._left else b""

    def rewind(self) -> bool:
        self._left = list(self._pieces)
        return True


def body_with(id: str) -> bytes:
    return f'{{"jsonrpc": "2.0", "params": {{"id": "7"}}, "id": {id}, "method": "tools/call"}}'.encode()


def own_of(body: bytes) -> OwnId:
    call = call_of(body)
    assert call is not None
    return OwnId(call)


def cut(text: bytes, cuts: list[int]) -> list[bytes]:
    ends = sorted({min(one, len(text)) for one in cuts} | {len(text)})
    return [text[start:end] for start, end in zip([0, *ends], ends, strict=False) if start < end]


@pytest.mark.parametrize("id", SPELLINGS)
def test_only_the_id_is_another_one(id: str) -> None:
    """All other bytes are the caller's."""
    body = body_with(id)
    own = own_of(body)
    sent = Respelled(WholeBody(body), own)
    shown = sent.take_buffered()
    assert shown is not None

    assert shown == body.replace(f'"id": {id}, "method"'.encode(), b'"id": %b, "method"' % own.spelled)
    assert sent.length == len(shown)
    read_back = call_of(shown)
    assert read_back is not None
    assert read_back.id == own.id


def test_two_calls_never_have_one_id() -> None:
    """Be it that their callers gave them one."""
    assert len({own_of(body_with("7")).id for _ in range(1000)}) == 1000


@given(st.sampled_from(SPELLINGS), st.lists(st.integers(0, 400), max_size=8))
async def test_a_body_in_pieces_is_the_same(id: str, cuts: list[int]) -> None:
    """Wherever it is cut, and once more after a rewind."""
    body = body_with(id)
    own = own_of(body)
    whole = Respelled(WholeBody(body), own).take_buffered()
    sent = Respelled(Pieces(*cut(body, cuts)), own)

    for _ in range(2):
        read = b""
        while piece := await sent.read():
            read += piece
        assert read == whole
        assert sent.rewind()


@given(st.sampled_from(SPELLINGS), st.lists(st.integers(0, 1500), max_size=12), st.booleans())
def test_an_answer_has_the_callers_id_wherever_it_is_cut(id: str, cuts: list[int], twice: bool) -> None:
    """And its length is as it was announced: blanks stand before the id."""
    own = own_of(body_with(id))
    answer = b'data: {"jsonrpc": "2.0", "id": %b, "result": {"text": "fencegate-0", "more": ""}}\n\n' % own.spelled
    answer *= 1 + twice
    restoring = Restoring()
    told = b"".join(map(restoring.feed, cut(answer, cuts))) + restoring.rest()

    assert told == answer.replace(own.spelled, id.encode().rjust(len(own.spelled)))
    assert len(told) == len(answer)
    assert json.loads(told.split(b"\n")[0][6:])["id"] == json.loads(id)
    assert restored(answer) == answer.replace(own.spelled, id.encode())


def test_what_cannot_be_the_ids_beginning_is_not_held_back() -> None:
    """An event of a stream is passed on as it comes."""
    own, restoring = OwnId(Call("7", b"7", 0)), Restoring()

    assert restoring.feed(b'data: {"x": 1}\n\n') == b'data: {"x": 1}\n\n'
    assert restoring.feed(b'data: {"id" : ' + own.spelled[:20]) == b"data: {"
    assert restoring.feed(b"\n") == b'"id" : ' + own.spelled[:20] + b"\n"
    assert restoring.feed(b'"id":"fencegate-' + b"0" * 500) == b'"id":"fencegate-' + b"0" * 500
    assert restoring.feed(b'"i') == b""
    assert restoring.rest() == b'"i'
    assert restoring.rest() == b""


def own_like(callers: bytes) -> bytes:
    return b'"fencegate-%b-%b"' % (b"0" * 32, base64.urlsafe_b64encode(callers).rstrip(b"="))


@pytest.mark.parametrize(
    "text",
    [
        b'{"id": "fencegate-7"}',
        b'{"id": "fencegate-%b-A"}' % (b"0" * 32),
        b'{"text": %b}' % own_like(b"7"),
        b'["id", %b]' % own_like(b"7"),
        b'{"text": "\\"id\\": \\%b"}' % own_like(b"7")[:-1],
        *(
            b'{"id": %b}' % own_like(callers)
            for callers in (
                b"",
                b'"',
                b'"a", "result": 0, "x": "',
                b'"a\n"',
                b"{}",
                b"7 ",
                b"1e",
                b"NaN",
                b"\xff",
                b'"\\x"',
            )
        ),
    ],
)
def test_what_an_agent_has_written_is_put_into_no_envelope(text: bytes) -> None:
    """Only the value of a member `id` is replaced, and by nothing but one number or one text."""
    restoring = Restoring()

    assert restoring.feed(text + b" ") + restoring.rest() == text + b" "
    assert restored(text) == text
