"""A call of a tool goes out under an id that nobody else knows, and comes back under its caller's."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core.call import Call
from gateway.core.whole_body import WholeBody
from gateway.flow.own_id import OwnId, Respelled
from gateway.policy.reading.jsonrpc_answer import call_of
from tests.playbook.caller import NoBody

SPELLINGS = ["7", "-1", "7.0", "1e3", "1764561234567", "99999999999999", "1764561234567890", '"a"', '""', '"é \\u0061"']


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


@pytest.mark.parametrize("id", [*SPELLINGS, '"' + "x" * 100 + '"'])
def test_only_the_id_is_another_one(id: str) -> None:
    """All other bytes are the caller's; what was a number is one where it fits."""
    body = body_with(id)
    own = own_of(body)
    sent = Respelled(WholeBody(body), own)
    shown = sent.take_buffered()
    assert shown is not None

    assert shown == body.replace(f'"id": {id}, "method"'.encode(), b'"id": %b, "method"' % own.spelled)
    assert sent.length == len(shown)
    assert len(own.spelled) >= len(id.encode())
    assert isinstance(json.loads(shown)["id"], str) == (id.startswith('"') or len(id) > 14)
    read_back = call_of(shown)
    assert read_back is not None
    assert read_back.id == own.id


def test_two_calls_never_have_one_id() -> None:
    """Be it that their callers gave them one."""
    for id in ("7", '"seven"'):
        assert len({own_of(body_with(id)).id for _ in range(1000)}) == 1000


@given(st.sampled_from(SPELLINGS), st.lists(st.integers(0, 150), max_size=8))
async def test_a_body_in_pieces_is_the_same(id: str, cuts: list[int]) -> None:
    """Wherever it is cut, and once more after a rewind."""
    body = body_with(id)
    own = own_of(body)
    whole = Respelled(WholeBody(body), own).take_buffered()
    ends = sorted({min(cut, len(body)) for cut in cuts} | {len(body)})
    pieces = [body[start:end] for start, end in zip([0, *ends], ends, strict=False) if start < end]
    sent = Respelled(Pieces(*pieces), own)

    for _ in range(2):
        read = b""
        while piece := await sent.read():
            read += piece
        assert read == whole
        assert sent.rewind()


@given(st.sampled_from(SPELLINGS), st.lists(st.integers(0, 400), max_size=12), st.booleans())
def test_an_answer_has_the_callers_id_wherever_it_is_cut(id: str, cuts: list[int], twice: bool) -> None:
    """And its length is as it was announced: blanks stand before the id."""
    own = own_of(body_with(id))
    answer = b'data: {"jsonrpc": "2.0", "id": %b, "result": {"text": "%b"}}\n\n' % (
        own.spelled,
        own.spelled[:9].strip(b'"'),
    )
    answer *= 1 + twice
    ends = sorted({min(cut, len(answer)) for cut in cuts} | {len(answer)})
    told = b"".join(own.feed(answer[start:end]) for start, end in zip([0, *ends], ends, strict=False)) + own.rest()

    assert told == answer.replace(own.spelled, id.encode().rjust(len(own.spelled)))
    assert len(told) == len(answer)
    assert json.loads(told.split(b"\n")[0][6:])["id"] == json.loads(id)
    assert own.restored(answer) == answer.replace(own.spelled, id.encode())


def test_what_cannot_be_the_ids_beginning_is_not_held_back() -> None:
    """An event of a stream is passed on as it comes."""
    own = OwnId(Call("7", b"7", 0))

    assert own.feed(b"data: x\n\n") == b"data: x\n\n"
    assert own.feed(b"data: " + own.spelled[:3]) == b"data: "
    assert own.feed(b"x") == own.spelled[:3] + b"x"
    assert own.rest() == b""
