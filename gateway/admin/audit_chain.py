"""Whether the audit trail is as it was sealed, and the checkpoint by which anybody finds out later."""

import hashlib
import re
from collections.abc import Sequence

from aiohttp import web

from gateway.admin.answer import refusal
from gateway.admin.document import Document, read_document
from gateway.admin.query import read_query
from gateway.admin.running import RUNNING
from gateway.core.decision import BAD_REQUEST, Refused
from gateway.core.problem import instant
from gateway.store import audit_chain
from gateway.store.audit_chain import Finding, Head
from gateway.store.keys import shards

# As many as fit into a document; one call goes through no more shards than half of that.
HEADS = 2 * audit_chain.SHARDS_AT_ONCE
_HEAD = re.compile("([0-9a-f]{3}) ([0-9]{1,15}) ([0-9a-f]{64})")
_KNOWN = frozenset({"cursor", "heads"})


async def show_checkpoint(request: web.Request) -> web.Response:
    """The heads of all shards, after what is new has been sealed, and one digest over them."""
    query = read_query(request)
    if isinstance(query, Refused):
        return refusal(query)
    store = request.app[RUNNING].store
    made_at = instant(store.expected_ms())
    heads = [f"{head.shard} {head.number} {head.digest}" for head in await audit_chain.checkpoint(store)]
    return web.json_response({"made_at": made_at, "heads": heads, "digest": digest_of(heads)})


async def verify_events(request: web.Request) -> web.Response:
    """Some more of the trail, against its seals and the heads of a checkpoint; `next` until there is no more."""
    document = await read_document(request, _KNOWN)
    heads = document if isinstance(document, Refused) else _read_heads(document)
    cursor = document if isinstance(document, Refused) else document.get("cursor")
    if isinstance(heads, Refused):
        return refusal(heads)
    if not isinstance(cursor, str | None):
        return refusal(Refused(BAD_REQUEST, "Nothing was done: `cursor` must be the `next` of the call before."))
    running = request.app[RUNNING]
    verified = await audit_chain.verify(running.store, heads, cursor, running.audit_retain_s)
    found = [_finding_members(finding) for finding in verified.findings]
    return web.json_response({"events": verified.events, "findings": found, "next": verified.next})


def digest_of(heads: Sequence[str]) -> str:
    """SHA-256 of the heads, a line each: short enough to be written down."""
    return hashlib.sha256("".join(f"{head}\n" for head in heads).encode()).hexdigest()


def _read_heads(document: Document) -> dict[str, Head] | Refused:
    given = document.get("heads")
    if given is None:
        return {}
    spelled = given if isinstance(given, list) and len(given) <= HEADS else [None]
    found = [_HEAD.fullmatch(head) if isinstance(head, str) else None for head in spelled]
    heads = [Head(head[1], int(head[2]), head[3]) for head in found if head is not None]
    if len(heads) < len(spelled) or any(head.shard not in shards() for head in heads):
        detail = f"Nothing was done: `heads` must be a list of at most {HEADS} of a checkpoint's `heads`, as they were."
        return Refused(BAD_REQUEST, detail)
    return {head.shard: head for head in heads}


def _finding_members(finding: Finding) -> dict[str, object]:
    return {
        "shard": finding.shard,
        "kind": finding.kind,
        "first": finding.first,
        "last": finding.last,
        "what": finding.what,
    }
