"""The JSON document of a call that changes something: read once, strictly, and refused with what to send instead."""

from collections.abc import Mapping

from aiohttp import web

from gateway.core.decision import BAD_REQUEST, BODY_TOO_LARGE, Refused
from gateway.policy.reading.jsonbody import JsonValue, read_json

# Bytes. The longest document that means something here has a name and a note.
LIMIT = 64 << 10
# Characters: enough for what was found out, where, and by whom.
LONGEST_NOTE = 500

Document = Mapping[str, JsonValue]


async def read_document(request: web.Request, known: frozenset[str]) -> Document | Refused:
    """The members of a JSON object that has no others than `known`. No body is an object without members."""
    try:
        body = await request.read()
    except web.HTTPRequestEntityTooLarge:
        return Refused(BODY_TOO_LARGE, f"Nothing was done: the document may have at most {LIMIT >> 10} KiB.")
    except (web.RequestPayloadError, ConnectionError):
        return Refused(BAD_REQUEST, "Nothing was done: the body cannot be read. Send it whole, and uncompressed.")
    members = read_json(body or b"{}")
    if isinstance(members, Refused):
        # It is read as agents' bodies are; but an operator's call is never forwarded.
        return Refused(BAD_REQUEST, members.detail.replace("Nothing was forwarded", "Nothing was done", 1))
    if not isinstance(members, dict):
        return Refused(BAD_REQUEST, f"Nothing was done: send a JSON object with {_listed(known)}.")
    unknown = members.keys() - known
    if unknown:
        detail = f"Nothing was done: {_listed(unknown)} is not known here. Known: {_listed(known)}."
        return Refused(BAD_REQUEST, detail)
    return members


async def read_note(request: web.Request) -> str | Refused:
    """The `note` of a call that is told nothing else."""
    document = await read_document(request, frozenset({"note"}))
    return document if isinstance(document, Refused) else note_of(document)


def note_of(document: Document) -> str | Refused:
    return read_text(document, "note", LONGEST_NOTE)


def read_text(document: Document, name: str, longest: int) -> str | Refused:
    """A member that people write and read: printable, not blank."""
    value = document.get(name)
    if isinstance(value, str) and value.isprintable() and value.strip() and len(value) <= longest:
        return value
    return Refused(BAD_REQUEST, f"Nothing was done: `{name}` must be a text of 1 to {longest} printable characters.")


def _listed(names: frozenset[str] | set[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))
