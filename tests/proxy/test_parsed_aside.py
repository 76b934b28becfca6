"""A large body is read beside the event loop by whoever reads it first: other callers do not wait for it."""

import gzip
import json
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.flow.parsing import PARSED_AT_ONCE
from gateway.policy import fingerprint
from gateway.policy.reading import body as reading_body
from gateway.policy.reading import jsonbody, jsonrpc
from tests.raw import RawAnswer, ask
from tests.recording import RecordingUpstream, answering
from tests.stack import POLICY, stack

BARE = POLICY.replace("path: /reports", "path: /reports, coded_bodies: undone") + "    authority: header\n"
BY_BODY = BARE.replace("report/{{path.id}}", "report/{{json:/id}}")
KEYED = BARE + "    intent: {{mode: required}}\n"
POINTED = BY_BODY + "    intent: {{mode: required, fingerprint: [/texts]}}\n"
BY_KEY = BARE + "    intent: {{mode: required, key: '{{json:/id}}'}}\n"
UNDONE = KEYED + "    effect: {{compensation: {{request: 'DELETE /reports/{{json:/id}}'}}}}\n"
QUEUED = POINTED + "    delivery: queued\n"
BY_BUDGET = BARE + "    budget: [{{per: resource, window: 1d, value: json:/count, total: 9}}]\n"

LARGE = json.dumps({"id": "7", "count": 1, "texts": ["x" * 100] * (PARSED_AT_ONCE // 100)}).encode()
SMALL = b'{"id": "7", "count": 1, "texts": []}'
GZIP = "Content-Encoding: gzip"


class Aside:
    """In which threads something ran."""

    def __init__(self) -> None:
        self.threads: set[str] = set()

    def watch(self, patch: pytest.MonkeyPatch, module: object, name: str) -> None:
        watched: Callable[..., object] = getattr(module, name)

        def run(*given: object) -> object:
            self.threads.add(threading.current_thread().name)
            return watched(*given)

        patch.setattr(module, name, run)


@pytest.fixture
def aside(monkeypatch: pytest.MonkeyPatch) -> Aside:
    """Where JSON was parsed and digested."""
    aside = Aside()
    aside.watch(monkeypatch, jsonbody, "read_json")
    aside.watch(monkeypatch, fingerprint, "_digest_of")
    return aside


async def put(port: int, body: bytes, *fields: str) -> RawAnswer:
    own = ("Fencing-Token: 42", "Fencing-Holder: a", "Idempotency-Key: k", "Content-Type: application/json")
    return await ask(port, "PUT", "/reports/7", *own, *fields, body=body)


@pytest.mark.parametrize(
    ("body", "fields"), [(LARGE, ()), (gzip.compress(LARGE), (GZIP,))], ids=["as it is", "few bytes on the wire"]
)
@pytest.mark.parametrize(
    "policy",
    [BY_BODY, KEYED, POINTED, BY_KEY, UNDONE, BY_BUDGET],
    ids=["resource", "fingerprint", "pointers", "key", "compensation", "budget"],
)
async def test_a_large_body_keeps_nobody_waiting(
    store_url: str, tmp_path: Path, aside: Aside, policy: str, body: bytes, fields: tuple[str, ...]
) -> None:
    """Whatever of it is read, and however few bytes it has before it is decoded."""
    async with stack(store_url, tmp_path, policy) as gate:
        answer = await put(gate.port, body, *fields)

        assert answer.decision == "forwarded"
        assert gate.upstream.seen[0].body == body
    assert aside.threads == {"parsing_0"}


HEAVY = {
    "lists": b'{"texts": [' + b"[]," * PARSED_AT_ONCE + b"[]]}",
    "objects": b'{"texts": [' + b'{"a": 1},' * PARSED_AT_ONCE + b"{}]}",
    "names": json.dumps({"texts": {f"n{at}": at for at in range(PARSED_AT_ONCE)}}).encode(),
    "escapes": b'{"texts": "' + b"\\u00e9" * PARSED_AT_ONCE + b'"}',
    "numbers": b'{"texts": [' + b"1.5e300," * PARSED_AT_ONCE + b"1]}",
    "digits": b'{"texts": ' + b"1" * PARSED_AT_ONCE * 2 + b"}",
}


@pytest.mark.parametrize("body", HEAVY.values(), ids=HEAVY)
async def test_whatever_it_is_made_of(store_url: str, tmp_path: Path, aside: Aside, body: bytes) -> None:
    """What is slow to be taken apart, too."""
    async with stack(store_url, tmp_path, KEYED) as gate:
        await put(gate.port, body)

    assert aside.threads == {"parsing_0"}


PART = b'--b\r\nContent-Disposition: form-data; name="title"\r\n\r\n'
FORMS = {
    "a long value": ("application/x-www-form-urlencoded", b"title=" + b"%41" * PARSED_AT_ONCE),
    "brackets": ("application/x-www-form-urlencoded", b"title=1&title" + b"[" * PARSED_AT_ONCE),
    "half delimiters": ("multipart/form-data; boundary=b", PART + b"\r\n--a" * PARSED_AT_ONCE + b"\r\n--b--\r\n"),
    "line ends": ("multipart/form-data; boundary=b", PART + b"\r\n" * PARSED_AT_ONCE + b"\r\n--b--\r\n"),
    "parts": ("multipart/form-data; boundary=b", (PART + b"x\r\n") * (PARSED_AT_ONCE // 8) + b"--b--\r\n"),
}


@pytest.mark.parametrize(("kind", "body"), FORMS.values(), ids=FORMS)
async def test_so_it_is_with_a_form(
    store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, body: bytes
) -> None:
    """Urlencoded or of parts."""
    aside = Aside()
    aside.watch(monkeypatch, reading_body, "read_form")
    aside.watch(monkeypatch, reading_body, "read_form_parts")
    async with stack(store_url, tmp_path, BARE + "    only: {{form: [title]}}\n") as gate:
        fields = ("Fencing-Token: 42", "Fencing-Holder: a", f"Content-Type: {kind}")
        await ask(gate.port, "PUT", "/reports/7", *fields, body=body)

    assert aside.threads == {"parsing_0"}


async def test_one_that_is_judged_again_keeps_nobody_waiting(store_url: str, tmp_path: Path, aside: Aside) -> None:
    """Before it is sent, what was queued is read once more."""
    async with stack(store_url, tmp_path, QUEUED) as gate:
        answer = await put(gate.port, LARGE)
        await gate.upstream.until(lambda: len(gate.upstream.seen) == 1)

        assert answer.decision == "queued"
        assert gate.upstream.seen[0].body == LARGE
    assert aside.threads == {"parsing_0"}


async def test_a_small_one_is_read_at_once(store_url: str, tmp_path: Path, aside: Aside) -> None:
    """Another thread would take longer to begin."""
    async with stack(store_url, tmp_path, POINTED) as gate:
        answer = await put(gate.port, SMALL)

        assert answer.decision == "forwarded"
    assert aside.threads == {threading.current_thread().name}


async def test_a_large_call_is_given_its_id_aside(
    store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A repeat of a JSON-RPC call gets the kept answer under its own id, which has to be found in the call."""
    aside = Aside()
    aside.watch(monkeypatch, jsonrpc, "read_members")
    kept = b'{"jsonrpc": "2.0", "id": 1, "result": {}}'
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(kept)
    upstream = RecordingUpstream(answer=answering(head + kept))

    def call(number: int) -> bytes:
        params = {"texts": ["x" * 100] * (PARSED_AT_ONCE // 100)}
        return json.dumps({"jsonrpc": "2.0", "id": number, "method": "m", "params": params}).encode()

    async with stack(store_url, tmp_path, KEYED, upstream) as gate:
        await put(gate.port, call(1))
        repeated = await put(gate.port, call(2))

    assert (repeated.decision, json.loads(repeated.body)["id"]) == ("replayed", 2)
    assert aside.threads == {"parsing_0"}
