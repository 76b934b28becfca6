"""MCP over Streamable HTTP: which messages write, and whether a message says the same in its headers and its body.

Of the protocol's methods only `tools/call` writes; what this list does not know may write too, and so may an answer to
what a server asked in the middle of a call: its tool goes on with it, whoever holds the resource by then. Revisions
2025-03-26 to 2025-11-25 have sessions, which a DELETE closes; 2026-07-28 has none, and repeats method and name in
headers, for intermediaries. The body decides: it is what the server executes.
"""

import base64
import re
from collections.abc import Mapping

from gateway.core.decision import AMBIGUOUS_TARGET, NO_POLICY, OF_MCP, Refused
from gateway.core.request import Request
from gateway.core.rule import Mount
from gateway.core.target import Target
from gateway.policy.pattern import split_slash
from gateway.policy.reading.body import Body, BodyWanted
from gateway.policy.reading.jsonbody import JsonValue, Number
from gateway.policy.reading.twin import squeezed

CALL = "tools/call"
# Of the ids under which fenced calls go out (flow/own_id.py).
OWN_BEGINNING = "fencegate-"
# Requests and notifications that change nothing at the server but the session itself. What its tools do in the name of
# a notification or a task is not covered: `tasks/cancel` and `tasks/update`, among others, need a rule.
READS = frozenset(
    {
        "initialize",
        "ping",
        "server/discover",
        "subscriptions/listen",
        "tools/list",
        "resources/list",
        "resources/templates/list",
        "resources/read",
        "resources/subscribe",
        "resources/unsubscribe",
        "prompts/list",
        "prompts/get",
        "completion/complete",
        "logging/setLevel",
        "tasks/get",
        "tasks/list",
        "tasks/result",
    }
)
# A cancellation writes nothing, but may end another client's call where a server keeps no sessions apart.
NOTIFICATIONS = frozenset(
    {
        "notifications/initialized",
        "notifications/cancelled",
        "notifications/progress",
        "notifications/roots/list_changed",
        "notifications/tasks/status",
    }
)
_CANCELLED = "notifications/cancelled"
# What `Mcp-Name` repeats of the body's params (2026-07-28, standard request headers).
_NAMED_BY = {
    CALL: ("name",),
    "prompts/get": ("name",),
    "resources/read": ("uri",),
    "resources/subscribe": ("uri",),
    "resources/unsubscribe": ("uri",),
}
_STANDARD = frozenset((b"mcp-method", b"mcp-name"))
# Extensions name their own member; these are those of the registered ones.
_NAMED_BY_ANY = ("name", "uri", "taskId")
# What an answer may say that grants nothing: nothing (to a ping), or where a client's files are.
_GRANTING_NOTHING = frozenset({"roots", "_meta"})
_ENVELOPE = frozenset({"jsonrpc", "id", "method", "params", "result", "error"})
# What of a call's params says what is called, and with what.
_PARAMS = frozenset({"name", "arguments", "_meta", "task"})
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_./-]{1,128}")
_ENCODED = re.compile(r"=\?base64\?(.*)\?=", re.IGNORECASE)


def is_endpoint(target: Target, mount: Mount) -> bool:
    """Whether a path is the server's one endpoint: its mount, with a slash at its end or without."""
    return split_slash(target)[0] == mount.segments


def changes_nothing(request: Request, body: Body) -> bool | BodyWanted | Refused:
    """Whether a request to the endpoint is one of the protocol's own that writes nothing; if not, a rule must take it.

    Refused: `ambiguous-target` for what is no JSON-RPC message, for a batch with a write in it, and where a header
    says another method or name than the body.
    """
    if request.method == "DELETE":
        return request.headers.first(b"mcp-session-id") is not None
    if request.method != "POST":
        return False
    lacking = body.lacking("json")
    if lacking is not None:
        return lacking
    if not _STANDARD.isdisjoint(request.headers.respelled()):
        return _ambiguous("Mcp-Method or Mcp-Name is spelled without its dash")
    value = body.json.value()
    if isinstance(value, Refused):
        return value
    if not isinstance(value, list):
        return _ambiguous_headers(request, value) or _reads(value)
    if request.headers.all(b"mcp-method") or request.headers.all(b"mcp-name"):
        return _ambiguous("Mcp-Method and Mcp-Name are of one message, and the body is a batch")
    for message in value:
        reads = _reads(message)
        if isinstance(reads, Refused):
            return reads
        if not reads:
            return _ambiguous("a message of the batch is a write, which must come alone")
    return bool(value) or _ambiguous("the batch is empty")


def _reads(message: JsonValue) -> bool | Refused:
    """Whether one message writes nothing: a known method, or an answer that grants nothing."""
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return _ambiguous("the body is no JSON-RPC 2.0 message")
    if _has_another_spelling(message, _ENVELOPE) or _has_another_spelling(message.get("params"), _PARAMS):
        return _ambiguous("a member of the message is spelled in another case or way, or with what nobody sees")
    if "method" not in message:
        return _grants_nothing(message)
    method = message["method"]
    if "result" in message or "error" in message or not isinstance(method, str):
        return _ambiguous("the message is a call and an answer at once, or its method is no text")
    if method == CALL and not isinstance(message.get("id"), str | Number):
        return _ambiguous("a call of a tool has no id, so that nobody could tell what became of it")
    if method == _CANCELLED and _names_own(message.get("params")):
        return _ambiguous("it cancels a call by an id that no client gave it")
    return method in READS or (method in NOTIFICATIONS and "id" not in message)


def _names_own(params: JsonValue) -> bool:
    return isinstance(params, dict) and any(str(one).startswith(OWN_BEGINNING) for one in params.values())


def _has_another_spelling(members: JsonValue, known: frozenset[str]) -> bool:
    """Whether some readers take a member for one of these: whatever its case, with or without `_` and `-` (the SDK for
    Python takes `meta` too), or without what is hidden in its name. Of two the last one wins there."""
    if not isinstance(members, dict) or known.issuperset(members):
        return False
    plain = set(map(_plain, known))
    return any(name not in known and _plain(name) in plain for name in members)


def _plain(name: str) -> str:
    return "".join(squeezed(name).split())


def _grants_nothing(answer: Mapping[str, JsonValue]) -> bool | Refused:
    """Whether no call of a tool waits for what this answer says.

    It does not say what it answers, nor whose call, and a server asks on any stream of a session, a resumed one too: so
    nobody can ask who holds the resource by then. A tool that waits for such an answer is a slow one.
    """
    if ("result" in answer) == ("error" in answer):
        return _ambiguous("the message is neither a call nor one answer")
    result = answer.get("result")
    return isinstance(result, dict) and result.keys() <= _GRANTING_NOTHING


def is_answer(body: Body) -> bool:
    """Whether a body that was read is an answer to what the server asked."""
    message = _message(body)
    return "method" not in message and ("result" in message or "error" in message)


def named_call(body: Body) -> str | None:
    """What a body calls, in words, for whoever has to write a rule for it; None where its name is no plain one."""
    message = _message(body)
    if not isinstance(method := message.get("method"), str):
        return None
    params = message.get("params")
    tool = params.get("name") if method == CALL and isinstance(params, dict) else None
    kind, name = ("tool", tool) if isinstance(tool, str) else ("method", method)
    return f"the {kind} `{name}`" if _PLAIN_NAME.fullmatch(name) else None


def refused_as_task(body: Body) -> Refused | None:
    """The refusal of a call that is to go on as a task (2025-11-25, tasks): its answer comes before its tool has done
    anything, and its ticket would end while the tool still runs."""
    message = _message(body)
    params = message.get("params")
    if message.get("method") != CALL or not isinstance(params, dict) or "task" not in params:
        return None
    detail = "Nothing was forwarded: a call that is to run as a task cannot be fenced to its end."
    return Refused(NO_POLICY, f"{detail} Send it without `task`.")


def _message(body: Body) -> Mapping[str, JsonValue]:
    """What a body that was read says; nothing of one that is no message, and of a batch."""
    value = body.json.value() if body.json.is_there else None
    return value if isinstance(value, dict) else {}


def _ambiguous_headers(request: Request, message: JsonValue) -> Refused | None:
    """The headers that repeat the body's method and name, where they are there; missing ones are the server's to miss.

    Without them, this costs two look-ups.
    """
    methods, names = request.headers.all(b"mcp-method"), request.headers.all(b"mcp-name")
    if not methods and not names:
        return None
    members: Mapping[str, JsonValue] = message if isinstance(message, dict) else {}
    method = members.get("method")
    if methods and (len(methods) > 1 or methods[0].decode("latin-1") != method):
        return _ambiguous("Mcp-Method is not the method of the body")
    params = members.get("params")
    known = _NAMED_BY.get(method, _NAMED_BY_ANY) if isinstance(method, str) else ()
    own = [params.get(name) for name in known] if isinstance(params, dict) else []
    if names and (len(names) > 1 or (name := _decoded(names[0])) is None or name not in own):
        return _ambiguous("Mcp-Name is not the name in the body")
    return None


def _decoded(value: bytes) -> str | None:
    """A header's value: plain ASCII, or `=?base64?...?=` around UTF-8; None if it is neither."""
    text = value.decode("latin-1")
    encoded = _ENCODED.fullmatch(text)
    if encoded is None:
        return text
    try:
        return base64.b64decode(encoded[1], validate=True).decode("utf-8")
    except ValueError:
        return None


def _ambiguous(why: str) -> Refused:
    detail = f"Nothing was forwarded: {why}. Send one JSON-RPC message that reads in one way."
    return Refused(AMBIGUOUS_TARGET, detail, OF_MCP)
