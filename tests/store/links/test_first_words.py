"""Commands over a connection that nobody else uses yet."""

from typing import Any

from redis.exceptions import MovedError, ResponseError

from gateway.store.links.connection import connector
from gateway.store.links.first_words import ask_first, is_elsewhere
from gateway.store.links.link import hang_up
from gateway.store.links.url import OneServer, read_url


async def test_errors_are_answers_too(store_url: str, raw: Any) -> None:
    """One command that fails does not keep the others' answers away, and they stay in order."""
    raw.set("text", "x")
    one = read_url(store_url)
    assert isinstance(one, OneServer)
    connection = await connector(one.options, 5.0)()
    try:
        first, second, third = await ask_first(connection, [("GET", "text"), ("LLEN", "text"), ("ECHO", "y")])

        assert (first, third) == (b"x", b"y")
        assert isinstance(second, ResponseError)
        assert not is_elsewhere(second)
        assert await ask_first(connection, []) == []
    finally:
        await hang_up(connection)


def test_another_node_of_a_cluster_is_no_answer() -> None:
    """Neither that a key is there nor that it is not."""
    assert is_elsewhere(MovedError("1 localhost:1"))
    assert not is_elsewhere(None)
