"""One call of the admin listener: what the router has to know of it, and what its callers have."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal

from aiohttp import web

from gateway.admin.shapes.schema import TEXT, Schema
from gateway.core.decision import Decision

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A part of the path, or a member of the query, which may be left out."""

    name: str
    meaning: str
    where: Literal["path", "query"] = "query"
    schema: Schema = field(default_factory=lambda: TEXT)


@dataclass(frozen=True, slots=True)
class Answer:
    """What is answered where the call did what it was asked for."""

    meaning: str
    schema: Schema
    status: int = 200
    media: str = "application/json"


@dataclass(frozen=True, slots=True)
class Call:
    """`problems` are its own: those that any call may have are not named. `body`: the document that it reads.

    `for_approvers`: an approver's key lets in as well as the admin token; the handler judges it again.
    """

    method: Literal["GET", "POST", "DELETE"]
    path: str
    handler: Handler
    summary: str
    answers: tuple[Answer, ...]
    problems: tuple[Decision, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    body: Schema | None = None
    for_approvers: bool = False

    @property
    def route(self) -> str:
        """The path as the router takes it: a resource's name may hold slashes."""
        return self.path.replace("{resource}", "{resource:.+}")

    @property
    def name(self) -> str:
        """Unique, and the same in each release: clients that are generated name their functions after it."""
        return self.handler.__name__
