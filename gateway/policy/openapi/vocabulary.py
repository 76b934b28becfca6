"""The words of a document's names, and what they tell: what is named, what is done to it, and by whom.

What a word says is a guess: it is asked about, or closes what whoever owns the policy can open again.
"""

import re

_HUMP = re.compile("(?<=[a-z0-9])(?=[A-Z])")
_WORD = re.compile("[A-Za-z][a-z]*")
_LAST_WORD = re.compile("[a-z]+$")
# Plurals that their ends do not tell, and singulars that end as plurals do.
_ODD = {
    "children": "child",
    "criteria": "criterion",
    "indices": "index",
    "mice": "mouse",
    "people": "person",
    "matrices": "matrix",
    "vertices": "vertex",
    "men": "man",
    "women": "woman",
    "caches": "cache",
    "cookies": "cookie",
    "movies": "movie",
    "quizzes": "quiz",
    "shelves": "shelf",
    **{f"{one}es": one for one in ("alias", "atlas", "bias", "canvas", "gas", "iris", "lens")},
    **{f"{one}es": f"{one}is" for one in ("analys", "ax", "cris", "diagnos", "hypothes", "synops", "thes")},
    **{f"{one}s": one for one in ("cpu", "ecu", "gpu", "menu", "ou", "sku", "submenu", "tpu", "vcpu")},
    **{one: one for one in ("alias", "atlas", "bias", "canvas", "gas", "iris", "lens", "news", "series", "species")},
}
# What stands before an `s` that is the word's own, or before an `es` that is all of its plural's end.
_HISSING = ("ss", "us", "sh", "ch", "x", "zz")
# Names of placeholders and members that do not say what is named.
GENERIC = frozenset({"code", "guid", "id", "iid", "key", "name", "no", "number", "pk", "slug", "uid", "uuid", "value"})
# What stands in many places and is another thing in each.
VAGUE = frozenset({"action", "command", "date", "file", "index", "operation", "path", "type", "version"})
# By which APIs call whoever asks.
CALLERS = frozenset({"me", "myself", "self", "whoami"})
# Only ever what is done to something.
WRITING = frozenset(
    {
        "accept",
        "acknowledge",
        "activate",
        "add",
        "approve",
        "cancel",
        "clear",
        "create",
        "deactivate",
        "decline",
        "decrement",
        "delete",
        "dequeue",
        "destroy",
        "disable",
        "drain",
        "enable",
        "erase",
        "evict",
        "execute",
        "flush",
        "increment",
        "insert",
        "kill",
        "provision",
        "purge",
        "reboot",
        "rebuild",
        "regenerate",
        "reindex",
        "reject",
        "remove",
        "rename",
        "restart",
        "revert",
        "revoke",
        "rotate",
        "send",
        "shutdown",
        "submit",
        "subscribe",
        "suspend",
        "terminate",
        "toggle",
        "truncate",
        "unsubscribe",
        "upsert",
        "wake",
    }
)
# What is called so is there to be read as well: a run, an update, a stop of a bus.
NOUNS_TOO = frozenset(
    {
        "ack",
        "apply",
        "archive",
        "assign",
        "ban",
        "block",
        "charge",
        "claim",
        "close",
        "commit",
        "confirm",
        "consume",
        "deploy",
        "drop",
        "follow",
        "generate",
        "grant",
        "import",
        "invite",
        "lock",
        "logout",
        "mark",
        "merge",
        "move",
        "pause",
        "pay",
        "pop",
        "publish",
        "put",
        "refresh",
        "refund",
        "register",
        "replace",
        "reset",
        "restore",
        "resume",
        "retry",
        "rollback",
        "run",
        "set",
        "ship",
        "start",
        "stop",
        "sync",
        "transfer",
        "trigger",
        "unlock",
        "update",
        "upgrade",
        "vote",
        "write",
    }
)
# What is called so is a read, whatever else is said of it.
READING = frozenset(
    {
        "browse",
        "calculate",
        "check",
        "compare",
        "compute",
        "count",
        "describe",
        "display",
        "download",
        "edit",
        "export",
        "fetch",
        "find",
        "get",
        "has",
        "is",
        "list",
        "load",
        "look",
        "lookup",
        "new",
        "obtain",
        "poll",
        "preview",
        "provide",
        "query",
        "read",
        "render",
        "retrieve",
        "return",
        "search",
        "select",
        "show",
        "stream",
        "validate",
        "verify",
        "view",
        "watch",
    }
)
# Verbs and nouns by which APIs call a search that is sent as a POST.
_SEARCHING = frozenset(
    {
        "count",
        "describe",
        "evaluate",
        "fetch",
        "filter",
        "find",
        "get",
        "list",
        "lookup",
        "preview",
        "query",
        "read",
        "search",
        "select",
        "validate",
    }
)
# With one of these among its words it is none.
_STORING = frozenset(
    {
        "clear",
        "create",
        "delete",
        "destroy",
        "drop",
        "erase",
        "insert",
        "purge",
        "put",
        "remove",
        "replace",
        "reset",
        "update",
        "upsert",
        "write",
    }
)


def words(text: str) -> list[str]:
    """The words of a name, in lower case: of `petId` and `pet-id` two."""
    return [word.lower() for word in _WORD.findall(_HUMP.sub(" ", text[:200]))]


def snake_name(text: str) -> str:
    """A name as patterns spell placeholders: lower case, digits and underscores. Of `petId` and `pet-id` it is one."""
    base = re.sub("[^a-z0-9]+", "_", _HUMP.sub("_", text).lower()).strip("_") or "part"
    return base if base[0].isalpha() else f"p_{base}"


def singular(word: str) -> str:
    """Of a word in English, or of a name that ends with one, as far as its end tells; of a singular itself."""
    last = _LAST_WORD.search(word)
    if last is None:
        return word
    before, told = word[: last.start()], last[0]
    if told in _ODD:
        return before + _ODD[told]
    if told.endswith("ies") and len(told) > len("ties"):
        return f"{before}{told[:-3]}y"
    # `houses` and `causes` are of a word with an `e`.
    if told.endswith("es") and told[:-2].endswith(_HISSING) and not told.endswith(("ouses", "auses")):
        return before + told[:-2]
    is_own = told.endswith(("ss", "us", "sis", "axis"))
    return word if is_own else before + told.removesuffix("s")


def reading_word(operation_id: str, last_segment: str) -> str | None:
    """The word by which an operation looks like a read; None if it does not. An id begins with its verb."""
    told = (*words(operation_id)[:1], *words(last_segment))
    if not _STORING.isdisjoint(told):
        return None
    return next((word for word in told if word in _SEARCHING), None)
