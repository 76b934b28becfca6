"""One connection to one server, made by redis-py."""

from typing import Any

from redis.asyncio.connection import AbstractConnection, Connection

from gateway.core.address import Address
from gateway.store.links.link import Connect, hang_up
from gateway.store.links.url import Options


def connector(options: Options, timeout_s: float) -> Connect:
    """What makes a connection as `options` say."""
    # RESP2: its replies say all that is needed, and redis-py asks for maintenance notifications only in RESP3.
    defaults: Options = {"socket_timeout": timeout_s, "socket_connect_timeout": timeout_s, "protocol": 2}
    parameters = defaults | options
    kind: type[AbstractConnection] = parameters.pop("connection_class", Connection)

    async def connect() -> AbstractConnection:
        connection = kind(**parameters)
        try:
            await connection.connect()  # type: ignore[no-untyped-call]  # redis-py
        except BaseException:
            await hang_up(connection)
            raise
        return connection

    return connect


def connector_to(address: Address, options: Options, timeout_s: float) -> Connect:
    """The same, to a server that the URL does not name."""
    return connector(options | {"host": address.host, "port": address.port}, timeout_s)


async def ask(connection: AbstractConnection, *words: str) -> Any:
    """One command and its reply, as bytes. Raises what redis-py raises."""
    await connection.send_command(*words)
    return await connection.read_response(disable_decoding=True)
