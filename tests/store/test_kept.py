"""Kept answers in the store: shorter, and the same byte for byte when they come back."""

import random

import pytest

from gateway.core.intent import KeptAnswer
from gateway.store.kept import deflate_answer, inflate_answer

JSON = (b"Content-Type", b"application/json")
MAIL = KeptAnswer(201, (JSON, (b"Location", b"/mails/7")), b'{"id":"7","status":"queued"}')
# What a gateway of the first version has stored: it must be read for as long as intents are kept.
STORED = bytes.fromhex("7a23557d6e62664eb1be39928de6c0e8438fdc5a00")


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(MAIL, id="what an API answers"),
        pytest.param(KeptAnswer(204, (), b""), id="empty"),
        pytest.param(KeptAnswer(200, (JSON,), b"z\r\n\r\n\x00\xff"), id="with line ends and bytes that are no text"),
        pytest.param(KeptAnswer(200, (JSON,), random.Random(1).randbytes(3000)), id="that cannot be deflated"),
        pytest.param(KeptAnswer(200, (JSON,), b'{"a":1}' * 9000), id="long"),
        pytest.param(KeptAnswer(200, ((b"Link", b"</a>"), (b"Link", b"</b>")), b""), id="with a header twice"),
    ],
)
def test_an_answer_comes_back_as_it_was(answer: KeptAnswer) -> None:
    """And is never stored longer than it is."""
    stored = deflate_answer(answer)

    assert inflate_answer(stored) == answer
    assert len(stored) <= len(answer.pack())


def test_most_answers_are_stored_in_half_their_length() -> None:
    """A million of them are worth it."""
    assert len(deflate_answer(MAIL)) < len(MAIL.pack()) / 2


def test_an_answer_of_an_older_gateway_is_read() -> None:
    """The dictionary belongs to the format: if this fails, give the new form a mark of its own."""
    assert inflate_answer(STORED) == MAIL
