"""The scripts: one Lua file a verb, with the shared parts before it, called by digest, sent whole when unknown."""

import hashlib
from collections.abc import Sequence
from importlib.resources import files

from gateway.store.link import Link, Reply, ScriptMissing, pack

# In this order: each may use what comes before it.
_PARTS = ("epoch", "audit", "intent", "waiters", "ticket", "pause")


class Script:
    """One script. `name` is its file's, its method's on FenceStore, and its label in the metrics."""

    __slots__ = ("name", "sha", "text")

    def __init__(self, name: str, parts: Sequence[str] = _PARTS) -> None:
        folder = files("gateway.store") / "scripts"
        pieces = [(folder / "parts" / f"{part}.lua").read_text("utf-8") for part in parts]
        pieces.append((folder / f"{name}.lua").read_text("utf-8"))
        self.name = name
        self.text = "\n".join(pieces)
        # The store names a script by this digest; nothing is protected by it.
        self.sha = hashlib.sha1(self.text.encode(), usedforsecurity=False).hexdigest()

    async def run(self, link: Link, keys: Sequence[str], arguments: Sequence[str | bytes]) -> Reply:
        """The script's reply. A store that forgot the script (restart, failover, SCRIPT FLUSH) is sent its text.

        Raises StoreUnavailable.
        """
        try:
            return await link.send(pack("EVALSHA", self.sha, len(keys), *keys, *arguments))
        except ScriptMissing:
            return await link.send(pack("EVAL", self.text, len(keys), *keys, *arguments))
