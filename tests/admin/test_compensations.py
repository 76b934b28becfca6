"""An operator takes applied intents back: whole conversations, from the agent's write to the compensation's end."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.admin.conftest import Admin, listening
from tests.raw import RawAnswer
from tests.recording import Answer, RecordingUpstream, Seen, answering
from tests.stack import Stack, stack
from tests.until import until

POLICY = """
upstream: mails
url: http://127.0.0.1:{port}
mount: {{path: /mails, delimiters: opaque}}
timeouts: {{connect: 1s, total: 5s, late: 100ms}}
credentials: [{{header: X-Secret, value: open-sesame}}]
capabilities: {{idempotency_key: X-Key, fencing_token: X-Epoch}}
writes:
  - name: send
    match: POST /mails/{{box}}
    resource: box/{{path.box}}
    intent: {{mode: required}}
    revision: gateway
    effect:
      compensation:
        request: DELETE /mails/{{path.box}}/{{response.json:/id}}?by={{json:/from}}
        headers: {{If-Match: "{{response.header.etag}}"}}
        body: '{{"id": "{{response.json:/id}}", "why": "taken back for {{json:/from}}"}}'
  - name: mark
    match: PUT /mails/{{box}}
    resource: box/{{path.box}}
    intent: {{mode: optional}}
    revision: gateway
"""


def created(id: str = "7") -> bytes:
    body = b'{"id": ' + id.encode() + b"}"
    head = b'HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nETag: "e-1"\r\nContent-Length: %d\r\n\r\n'
    return head % len(body) + body


GONE = b"HTTP/1.1 204 No Content\r\n\r\n"
MISSING = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"


@dataclass
class Office:
    """A gateway, its operators' listener, and an upstream that answers as it is told: DELETE, and what creates."""

    agents: Stack
    admin: Admin
    deletes: Answer
    created: bytes

    async def send(self, key: str = "k-1", body: bytes = b'{"from": "ann & co"}') -> RawAnswer:
        fields = (f'Idempotency-Key: "{key}"', "Content-Type: application/json")
        return await self.agents.write("/mails/in", *fields, method="POST", body=body)

    async def sent(self, key: str = "k-1") -> str:
        """A mail that was sent; the id of its intent."""
        answer = await self.send(key)
        assert answer.status == 201, answer
        items = json.loads((await self.admin.call("GET", "/api/v1/intents?state=applied")).body)["items"]
        return str(next(item["id"] for item in items if item["key"] == key))

    async def compensate(self, id: str, note: str = "sent in error") -> RawAnswer:
        document = json.dumps({"note": note}).encode()
        return await self.admin.call("POST", f"/api/v1/intents/{id}/compensate", body=document)

    async def show(self, id: str) -> Any:
        return json.loads((await self.admin.call("GET", f"/api/v1/intents/{id}")).body)

    async def one_in(self, state: str) -> Any:
        (one,) = json.loads((await self.admin.call("GET", f"/api/v1/intents?state={state}")).body)["items"]
        return await self.show(one["id"])

    @property
    def lines(self) -> list[str]:
        return [seen.line for seen in self.agents.upstream.seen]


@pytest.fixture
async def office(store_url: str, tmp_path: Path) -> AsyncIterator[Office]:
    async def answer(seen: Seen, writer: asyncio.StreamWriter) -> None:
        if seen.line.startswith("DELETE"):
            await found.deletes(seen, writer)
        else:
            writer.write(found.created)

    (tmp_path / "admin").mkdir()
    async with contextlib.AsyncExitStack() as ending:
        agents = await ending.enter_async_context(stack(store_url, tmp_path, POLICY, RecordingUpstream(answer)))
        policy = POLICY.format(port=agents.upstream.port)
        admin = await ending.enter_async_context(listening(store_url, tmp_path / "admin", policy=policy))
        found = Office(agents, admin, answering(GONE), created())
        await agents.lease("box/in")
        yield found


async def test_an_applied_intent_is_taken_back_by_the_request_of_its_rule(office: Office) -> None:
    """Filled from the write and its answer, with the upstream's own credentials, key and epoch."""
    id = await office.sent()

    answer = await office.compensate(id)

    first = json.loads(answer.body)
    assert (answer.status, first["state"], first["reason"]) == (200, "compensated", "compensated")
    write, undo = office.agents.upstream.seen
    assert undo.line == "DELETE /mails/in/7?by=ann%20%26%20co HTTP/1.1"
    assert json.loads(undo.body) == {"id": 7, "why": "taken back for ann & co"}
    assert undo.values("if-match") == ['"e-1"']
    assert undo.values("x-secret") == ["open-sesame"]
    assert undo.values("x-epoch") == write.values("x-epoch")
    second = await office.one_in("applied")
    assert (second["compensates"], second["key"]) == (id, f"compensates {id}")
    assert undo.values("x-key") == [second["id"][3:]] != write.values("x-key")


@pytest.mark.parametrize(
    ("id", "spelled"),
    [('"%2e%2e"', "%252e%252e"), ('"a?x=1"', "a%3Fx%3D1"), ('"7#8 9"', "7%238%209")],
    ids=["dots in escapes", "a query", "a fragment and a blank"],
)
async def test_what_the_answer_named_is_one_segment(office: Office, id: str, spelled: str) -> None:
    """Whatever an API calls it: nothing else of the API is taken back."""
    office.created = created(id)

    answer = await office.compensate(await office.sent())

    assert json.loads(answer.body)["state"] == "compensated"
    assert office.lines[1] == f"DELETE /mails/in/{spelled}?by=ann%20%26%20co HTTP/1.1"


async def test_each_step_is_an_event(office: Office) -> None:
    """Of both intents, with the operator's note."""
    id = await office.sent()

    await office.compensate(id, "wrong list")

    steps = [(event["from"], event["to"], event["reason"]) for event in (await office.show(id))["events"]]
    assert steps == [
        ("compensating", "compensated", "compensated"),
        ("applied", "compensating", "wrong list"),
        ("in_flight", "applied", "answered 201"),
        (None, "in_flight", "admitted"),
    ]
    second = await office.one_in("applied")
    assert [event["reason"] for event in second["events"]] == ["answered 204", "wrong list"]


async def test_what_would_be_sent_is_shown_before(office: Office) -> None:
    """Without the upstream's credentials, which are in no record."""
    id = await office.sent()

    shown = await office.show(id)

    request = shown["compensation"]["request"]
    assert (request["method"], request["target"]) == ("DELETE", "/mails/in/7?by=ann%20%26%20co")
    assert "sesame" not in json.dumps(shown)
    assert office.lines == ["POST /mails/in HTTP/1.1"]


async def test_a_compensated_intent_is_never_sent_again(office: Office) -> None:
    """Its agent's repeat is answered from the record: it did take effect, once."""
    id = await office.sent()
    await office.compensate(id)

    repeat = await office.send()

    assert (repeat.status, repeat.decision, repeat.body) == (201, "replayed", b'{"id": 7}')
    assert len(office.lines) == 2


async def test_an_intent_is_taken_back_once(office: Office) -> None:
    """Of two operators at once one is refused; afterwards both are."""
    id = await office.sent()

    answers = await asyncio.gather(office.compensate(id), office.compensate(id))

    assert sorted(answer.status for answer in answers) == [200, 409]
    assert (await office.compensate(id)).problem["type"] == "urn:fencegate:wrong-state"
    assert len(office.lines) == 2


async def test_a_compensation_that_is_proved_not_applied_may_be_tried_again(office: Office) -> None:
    """The intent is applied again, with the reason; the second attempt is one of the same intent."""
    id = await office.sent()
    office.deletes = answering(MISSING)

    first = json.loads((await office.compensate(id)).body)
    office.deletes = answering(GONE)
    second = json.loads((await office.compensate(id)).body)

    assert (first["state"], first["reason"]) == ("applied", "not compensated: answered 404")
    assert second["state"] == "compensated"
    assert (await office.one_in("applied"))["attempts"] == 2


async def test_a_compensation_of_which_nobody_knows_stays_visible(office: Office) -> None:
    """Nothing is sent again; once it is resolved, the intent that it takes back follows."""
    id = await office.sent()
    office.deletes = answering(b"", reset=True)

    answer = json.loads((await office.compensate(id)).body)
    again = await office.compensate(id)
    unknown = await office.one_in("unknown")

    assert answer["state"] == "compensating"
    assert again.problem["type"] == "urn:fencegate:wrong-state"
    assert "resolve the intent that compensates it" in str(again.problem["detail"])
    assert unknown["compensates"] == id
    assert (await office.show(id))["compensated_by"] == unknown["id"]
    await resolve(office, unknown["id"], "applied")
    assert (await office.show(id))["state"] == "compensated"
    assert len(office.lines) == 2


async def test_an_unknown_compensation_that_was_not_applied_may_be_tried_again(office: Office) -> None:
    """An operator's word frees it."""
    id = await office.sent()
    office.deletes = answering(b"", reset=True)
    await office.compensate(id)
    await resolve(office, (await office.one_in("unknown"))["id"], "not_applied")
    office.deletes = answering(GONE)

    answer = json.loads((await office.compensate(id)).body)

    assert answer["state"] == "compensated"


async def resolve(office: Office, id: str, outcome: str) -> None:
    document = json.dumps({"outcome": outcome, "note": "looked"}).encode()
    answer = await office.admin.call("POST", f"/api/v1/intents/{id}/resolve", body=document)
    assert answer.status == 200, answer


async def test_a_compensation_raises_no_epoch_and_uses_none_up(office: Office) -> None:
    """Whoever holds the lease goes on writing."""
    id = await office.sent()
    before = await office.agents.highest("box/in")

    await office.compensate(id)

    assert await office.agents.highest("box/in") == before
    assert (await office.agents.write("/mails/in")).decision == "forwarded"


async def test_a_compensation_counts_as_a_write_of_its_resource(office: Office) -> None:
    """What was based on the count before it is refused."""
    id = await office.sent()

    await office.compensate(id)

    assert (await office.agents.write("/mails/in", "Fencing-If-Revision: 1")).decision == "revision-mismatch"
    assert (await office.agents.write("/mails/in", "Fencing-If-Revision: 2")).decision == "forwarded"


@pytest.mark.parametrize(
    ("status", "since"),
    [(None, False), (201, True), (404, False)],
    ids=["nothing was written", "a write was applied", "a write was not applied"],
)
async def test_an_operator_sees_whether_the_resource_was_written_since(
    office: Office, status: int | None, since: bool
) -> None:
    """By what has ended since; what was refused or not applied is no write."""
    id = await office.sent()
    if status is not None:
        head = b"HTTP/1.1 %d X\r\nContent-Length: 0\r\n\r\n" % status
        office.agents.upstream.answer = answering(head)
        await office.agents.write("/mails/in")

    assert (await office.show(id))["written_since"] is since


async def test_its_own_compensation_is_no_write_since(office: Office) -> None:
    """The resource is as its intent and its compensation left it."""
    id = await office.sent()
    await office.compensate(id)

    assert (await office.show(id))["written_since"] is False


async def test_a_compensation_waits_for_what_is_in_flight(office: Office, raw: Any) -> None:
    """Nothing is sent before the last ticket of the resource has ended."""
    id = await office.sent()
    release = asyncio.Event()

    async def held(seen: Seen, writer: asyncio.StreamWriter) -> None:
        if seen.line.startswith("PUT"):
            await release.wait()
        writer.write(GONE)

    office.agents.upstream.answer = held
    loop = asyncio.get_running_loop()
    writing = loop.create_task(office.agents.write("/mails/in"))
    await office.agents.upstream.until(lambda: len(office.lines) == 2)
    compensating = loop.create_task(office.compensate(id))
    await until(lambda: bool(raw.keys("fg:*:w:box/in")))

    assert len(office.lines) == 2
    release.set()
    assert json.loads((await compensating).body)["state"] == "compensated"
    assert (await writing).decision == "forwarded"
