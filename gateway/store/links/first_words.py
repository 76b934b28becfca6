"""What is asked of a server over a new connection, before anybody else's commands leave."""

from collections.abc import Sequence
from typing import cast

from redis.asyncio.connection import AbstractConnection
from redis.exceptions import AskError, MovedError, ResponseError

from gateway.store.links.link import Reply, pack

FirstReply = Reply | ResponseError


async def ask_first(connection: AbstractConnection, commands: Sequence[Sequence[str]]) -> list[FirstReply]:
    """The replies, in order; those that are errors as values. Raises what redis-py raises of a connection."""
    if commands:
        await connection.send_packed_command([pack(*command) for command in commands], check_health=False)
    return [await _reply(connection) for _ in commands]


def is_elsewhere(reply: FirstReply) -> bool:
    """Whether another node of the cluster has the key."""
    return isinstance(reply, MovedError | AskError)


def reply_of(reply: FirstReply) -> Reply:
    """Raises the error that it is."""
    if isinstance(reply, Exception):
        raise reply
    return reply


async def _reply(connection: AbstractConnection) -> FirstReply:
    try:
        return cast(Reply, await connection.read_response(disable_decoding=True))
    except ResponseError as error:
        return error
