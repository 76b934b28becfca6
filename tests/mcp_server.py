"""A server of the official MCP SDK, in the test's own process, and its client: both kinds of session."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Annotated

import httpx2
import uvicorn
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.server.mcpserver import Context, Elicit, MCPServer, Resolve
from mcp_types import ElicitResult
from pydantic import BaseModel
from starlette.types import Receive, Scope, Send


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals are pytest's."""
        yield


class Title(BaseModel):
    """What a user is asked for in the middle of a call."""

    text: str


@dataclass
class Notes:
    """A server that writes notes. `written` has every execution; a call of `write` waits for `may_end`, one of `search`
    for `may_find`."""

    port: int = 0
    written: list[tuple[str, str]] = field(default_factory=list)
    requests: list[tuple[str, str | None]] = field(default_factory=list)
    may_end: asyncio.Event = field(default_factory=asyncio.Event)
    may_find: asyncio.Event = field(default_factory=asyncio.Event)
    searching: asyncio.Event = field(default_factory=asyncio.Event)


def _build(notes: Notes) -> MCPServer:
    server = MCPServer("notes", log_level="ERROR")

    @server.tool()
    async def search(text: str) -> str:
        notes.searching.set()
        await notes.may_find.wait()
        return f"nothing about {text}"

    @server.tool()
    async def write(note: str, text: str, context: Context) -> str:
        notes.written.append((note, text))
        await context.report_progress(1, 2, "half")
        await notes.may_end.wait()
        return f"{note} is {text}"

    def asked(note: str) -> Elicit[Title]:
        return Elicit(f"What is {note} to be called?", Title)

    @server.tool()
    async def rename(note: str, title: Annotated[Title, Resolve(asked)]) -> str:
        notes.written.append((note, title.text))
        return f"{note} is called {title.text}"

    @server.tool()
    async def fail(note: str, code: int) -> str:
        notes.written.append((note, "half"))
        raise MCPError(code, "after it has written")

    @server.tool()
    async def drop(note: str) -> str:
        notes.written.append((note, "dropped"))
        return "gone"

    return server


@contextlib.asynccontextmanager
async def serving(*, json_response: bool) -> AsyncIterator[Notes]:
    """Listen on loopback at `/mcp`, for clients of every revision."""
    notes = Notes()
    notes.may_end.set()
    notes.may_find.set()
    app = _build(notes).streamable_http_app(json_response=json_response)

    async def recorded(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            session = dict(scope["headers"]).get(b"mcp-session-id")
            notes.requests.append((scope["method"], session and session.decode()))
        await app(scope, receive, send)

    listening = socket.create_server(("127.0.0.1", 0))
    notes.port = listening.getsockname()[1]
    server = _Server(uvicorn.Config(recorded, log_level="error", ws="none", timeout_graceful_shutdown=1))
    running = asyncio.ensure_future(server.serve(sockets=[listening]))
    try:
        yield notes
    finally:
        notes.may_end.set()
        notes.may_find.set()
        server.should_exit = True
        await running


@contextlib.asynccontextmanager
async def connected(port: int, *, mode: str, token: str | None = None) -> AsyncIterator[Client]:
    """The SDK's client, through whatever listens at `port`; `mode` is its own word for the protocol's revision."""
    headers = {} if token is None else {"Fencing-Token": token}
    async with connected_by(httpx2.AsyncClient(headers=headers, timeout=10), port, mode=mode) as client:
        yield client


@contextlib.asynccontextmanager
async def connected_by(own: httpx2.AsyncClient, port: int, *, mode: str) -> AsyncIterator[Client]:
    """As `connected`, over an HTTP client of one's own."""
    async with own as http:
        transport = streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=http)
        async with Client(transport, mode=mode, read_timeout_seconds=10, elicitation_callback=_answered) as client:
            yield client


async def _answered(*_: object) -> ElicitResult:
    return ElicitResult(action="accept", content={"text": "plan"})
