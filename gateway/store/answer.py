"""A script's reply, before anybody reads a meaning into it."""

from typing import NamedTuple

from gateway.store.links.link import Reply


class Answer(NamedTuple):
    """A script's reply: the word, the store's clock when it ran, and what belongs to the word."""

    word: str
    now_ms: int
    rest: list[Reply]
    era: int = 0
    """Of epochs: in which era its asker knows them, and the resource has them (parts/epoch.lua)."""


def read_answer(reply: Reply) -> Answer:
    assert isinstance(reply, list)
    word, now_ms, *rest = reply
    assert isinstance(word, bytes)
    assert isinstance(now_ms, int)
    return Answer(word.decode(), now_ms, rest)


def number(reply: Reply) -> int:
    """An integer, or its decimal text."""
    assert isinstance(reply, int | bytes)
    return int(reply)


def text(reply: Reply) -> str:
    assert isinstance(reply, bytes)
    return reply.decode()


def pairs(reply: Reply) -> list[tuple[Reply, Reply]]:
    """A flat list of names and values as pairs."""
    assert isinstance(reply, list)
    return list(zip(reply[::2], reply[1::2], strict=True))


def fields(reply: Reply) -> dict[str, Reply]:
    """The same by name."""
    return {text(name): value for name, value in pairs(reply)}


def milliseconds(time: Reply) -> int:
    """What TIME answers: seconds and microseconds."""
    assert isinstance(time, list)
    seconds, micros = map(number, time)
    return seconds * 1000 + micros // 1000


def unknown_word(answer: Answer) -> AssertionError:
    """A reply that no script gives: a bug."""
    return AssertionError(f"a script answered {answer.word!r} with {len(answer.rest)} more elements")
