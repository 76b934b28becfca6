"""The scripts: one Lua file a verb, with the shared parts before it, called by digest, sent whole when unknown.

Those that every write or every delivery calls are functions as well: a server makes all parts of a library once, and
those of a script at every call, which takes as long as a third of the whole call. Where a server does not have the
function yet, or does not run it (no right to it; no room, in which a script may still answer without writing), the
script is run.
"""

import contextlib
import hashlib
from collections.abc import Sequence
from importlib.resources import files

from gateway.store.links.lesson import lesson, taught
from gateway.store.links.link import ErrorReply, Reply, ScriptMissing, pack
from gateway.store.links.topology import Server, Servers

# In this order: each may use what comes before it.
_PARTS = ("epoch", "loss", "audit", "notification", "former", "intent", "parking", "waiters", "ticket", "pause")
_FUNCTIONS = ("admit", "settle", "take", "deliver")
# Those whose answer somebody acts on outside the store: with a write, or with what an agent or an operator is told; and
# `mark`, by which a loss is told: one that is missing by right would pass for it. What the others write is found out
# again where it is lost.
_ACTED_ON = frozenset(
    {
        *("admit", "deliver", "extend", "settle", "compensate", "resolve", "reserve", "quarantine", "decide", "retry"),
        *("grant", "renew", "release", "register", "advance"),
        *("pause", "resume", "begin_pause", "end_pause", "reset", "accept", "accept_shard", "mark"),
    }
)
# How often a script is asked for by its digest before its text is sent: whoever has waited for another one's text finds
# the script, unless the server was emptied again.
_BY_DIGEST = 3
# For what keeps requests. The others, which run for every write, would only make these functions anew each time.
KEEPING_PARTS = ("epoch", "audit", "kept")
# For what sends notifications.
SENDING_PARTS = ("epoch", "notification", "letter")
PRUNING_PARTS = (*_PARTS, "letter")
BUDGET_PARTS = ("budget",)


class Script:
    """One script. `name` is its file's, its method's on FenceStore, and its label in the metrics."""

    __slots__ = ("function", "is_acted_on", "name", "sha", "text")

    def __init__(self, name: str, parts: Sequence[str] = _PARTS) -> None:
        begin = ("begin(KEYS)\n",) if parts else ()
        self.name = name
        self.is_acted_on = name in _ACTED_ON
        self.text = "\n".join((*map(_part, parts), *begin, _verb(name)))
        # The store names a script by this digest; nothing is protected by it.
        self.sha = _digest(self.text)
        self.function = _function(name) if name in _FUNCTIONS else None

    async def run(self, link: Servers, keys: Sequence[str], arguments: Sequence[str | bytes]) -> Reply:
        """The script's reply. A store that forgot the script (restart, failover, SCRIPT FLUSH) is sent its text.

        Raises StoreUnavailable.
        """
        server = link.at(keys[0])
        if self.function is not None and server.runs_functions:
            try:
                return await server.send(pack("FCALL", self.function, len(keys), *keys, *arguments))
            except ScriptMissing:
                return await self._run_loaded(link, keys, arguments)
            except ErrorReply as error:
                # A right may be given later; the next connection finds out.
                server.runs_functions = error.word != "NOPERM"
        return await self._run_as_script(link, keys, arguments)

    async def _run_loaded(self, link: Servers, keys: Sequence[str], arguments: Sequence[str | bytes]) -> Reply:
        server = link.at(keys[0])
        if not await taught(server, _VERSION):
            with lesson(server, _VERSION):
                await _load(server)
        if self.function is not None and server.runs_functions:
            with contextlib.suppress(ScriptMissing, ErrorReply):
                return await server.send(pack("FCALL", self.function, len(keys), *keys, *arguments))
        return await self._run_as_script(link, keys, arguments)

    async def _run_as_script(self, link: Servers, keys: Sequence[str], arguments: Sequence[str | bytes]) -> Reply:
        """By its digest, and where that is not known by its text, which one call at a time brings."""
        for _ in range(_BY_DIGEST):
            server = link.at(keys[0])
            try:
                return await server.send(pack("EVALSHA", self.sha, len(keys), *keys, *arguments))
            except ScriptMissing:
                if not await taught(server, self.sha):
                    break
        server = link.at(keys[0])
        with lesson(server, self.sha):
            return await server.send(pack("EVAL", self.text, len(keys), *keys, *arguments))


async def _load(link: Server) -> None:
    """Give the server the library. If it is refused, scripts are run until it connects anew.

    Raises StoreUnavailable.
    """
    try:
        await link.send(pack("FUNCTION", "LOAD", "REPLACE", LIBRARY))
    except ErrorReply:
        link.runs_functions = False


def _part(name: str) -> str:
    return (files("gateway.store") / "scripts" / "parts" / f"{name}.lua").read_text("utf-8")


def _verb(name: str) -> str:
    return (files("gateway.store") / "scripts" / f"{name}.lua").read_text("utf-8")


def _digest(text: str) -> str:
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def _function(name: str) -> str:
    return f"{name}_{_VERSION}"


def _definition(name: str) -> str:
    return f"redis.register_function('{_function(name)}', function(KEYS, ARGV)\nbegin(KEYS)\n{_verb(name)}\nend)"


_SHARED = "\n".join(map(_part, _PARTS))
# A server's functions have one name each, and gateways of several versions may run at once.
_VERSION = _digest("\n".join((_SHARED, *map(_verb, _FUNCTIONS))))[:12]
LIBRARY = "\n".join((f"#!lua name=fencegate_{_VERSION}", _SHARED, *map(_definition, _FUNCTIONS)))
