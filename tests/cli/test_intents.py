"""`fencegate intents` against a running gateway."""

import asyncio
import json
from pathlib import Path

import pytest

from gateway.core.compensation import Kept, Unavailable, Undoable
from gateway.core.delivery import GivenUp
from gateway.core.intent import KeptAnswer
from gateway.core.kept_request import KeptRequest
from gateway.core.write import ResourceKey
from gateway.store.parking import Decide, decide
from tests.admin.conftest import POLICY, Admin, listening
from tests.cli.operating import TOKEN, Ended, operate, operate_on_terminal
from tests.intending import ANSWER, begun, ended, intended
from tests.store.parked import APPROVED, delivered, delivering, id_of, mail, parked
from tests.store.parked import POLICY as QUEUES


async def intents(admin: Admin, *arguments: str) -> Ended:
    return await operate(admin.port, "intents", *arguments)


async def state_of(admin: Admin, id: str) -> str:
    record = await admin.store.recall(id)
    assert record is not None
    return record.state


async def test_unknown_intents_are_listed(admin: Admin) -> None:
    """Where nothing else is asked for: one line each, under heads."""
    admitted = await ended(admin.store, intended("k-1"), "unknown")
    await ended(admin.store, intended("k-2"), "applied")

    listed = await intents(admin, "list")

    head, line = listed.out.splitlines()
    heads = ["ID", "SINCE", "RESOURCE", "KEY", "RULE", "EPOCH", "HOLDER", "ATTEMPTS", "REASON"]
    assert (listed.status, head.split()) == (0, heads)
    assert line.split(maxsplit=8)[0] == admitted.intent
    assert line.split(maxsplit=8)[2:] == ["report/7", "k-1", "write", "41", "agent-a", "1", "no answer within 30 s"]
    assert line.index("report/7") == head.index("RESOURCE")


async def test_each_state_has_its_list(admin: Admin) -> None:
    """What is in flight shows until when."""
    applied = await ended(admin.store, intended("k-1"), "applied")
    flying = await begun(admin.store, intended(None))

    assert applied.intent in (await intents(admin, "list", "--state", "applied")).out
    in_flight = await intents(admin, "list", "--state", "in_flight")
    assert flying.ticket in in_flight.out
    assert in_flight.out.split()[1] == "UNTIL"
    assert (await intents(admin, "list")).out == "No intent is unknown.\n"
    assert "Invalid value for '--state'" in (await intents(admin, "list", "--state", "done")).err


async def test_a_list_is_as_long_as_is_asked_for(admin: Admin) -> None:
    """Over several pages; that there are more is said apart from the list."""
    for number in range(130):
        await ended(admin.store, intended(None, ResourceKey(f"report/{number}")), "unknown")

    some = await intents(admin, "list", "--json")
    more = await intents(admin, "list", "--json", "--limit", "125")
    all_of_them = await intents(admin, "list", "--json", "--limit", "130")

    assert [len(json.loads(ended.out)) for ended in (some, more, all_of_them)] == [100, 125, 130]
    assert some.err == "There are more than 100: --limit N shows more.\n"
    assert all_of_them.err == ""


async def test_a_key_cannot_command_the_terminal(admin: Admin) -> None:
    """Agents choose their keys; JSON has escapes of its own."""
    hostile = "k\x1b]0;owned\x07\r\n\u202e"
    admitted = await ended(admin.store, intended(hostile), "unknown")

    for arguments in (("list",), ("show", admitted.intent)):
        shown = (await intents(admin, *arguments)).out
        assert r"k\x1b]0;owned\x07\r\n\u202e" in shown
        assert not set("\x1b\x07\r\u202e") & set(shown)
    assert json.loads((await intents(admin, "show", admitted.intent, "--json")).out)["key"] == hostile


async def test_an_intent_is_shown_with_its_answer_and_its_steps(admin: Admin) -> None:
    """What happened, in the order of reading."""
    admitted = await ended(admin.store, intended("k-1"), "applied", ANSWER)

    shown = await intents(admin, "show", admitted.intent)
    document = json.loads((await intents(admin, "show", admitted.intent, "--json")).out)

    assert "state        applied\n" in shown.out
    assert 'status 201\n  location: /reports/7\n  content-type: application/json\n  {"ok": true}\n' in shown.out
    assert "in_flight > applied" in shown.out
    assert (document["state"], document["response"]["body"]) == ("applied", '{"ok": true}')


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        (b"\xff\x00", "  a body that is no text, or a large one: --json shows it in base64\n"),
        (b"a\x1b[2J\nb", "  a\\x1b[2J\n  b\n"),
        (b"x" * 2345, "  and 345 characters more: --json shows all\n"),
    ],
    ids=["binary", "control characters", "long"],
)
async def test_an_answer_cannot_command_the_terminal(body: bytes, wanted: str, admin: Admin) -> None:
    """Upstreams answer what they like."""
    admitted = await ended(admin.store, intended("k-1"), "applied", KeptAnswer(200, (), body))

    shown = await intents(admin, "show", admitted.intent)

    assert wanted in shown.out


async def test_what_was_approved_is_approved_again_before_it_is_sent_again(admin: Admin) -> None:
    """Whoever resolves it is not told of a way that is closed."""
    write = mail("one", of=APPROVED)
    record = await parked(admin.store, write)
    assert record.parking is not None
    await decide(admin.store, record, Decide("approve", "operator", None, "ok", record.parking.digest))
    async with delivering(admin.store) as queue:
        await delivered(queue, write, "unknown")

    resolved = await intents(admin, "resolve", id_of(write), "--not-applied", "--note", "looked")

    assert resolved.status == 0 and "waits until somebody approves it again" in resolved.err
    assert "intents retry" not in resolved.err


async def test_what_was_queued_can_be_sent_again_by_the_operator(admin: Admin) -> None:
    """Nobody waits for it: whoever says that it was not applied is told how it is sent."""
    write = mail("one")
    await parked(admin.store, write)
    async with delivering(admin.store) as queue:
        await delivered(queue, write, "unknown")
    id = id_of(write)

    resolved = await intents(admin, "resolve", id, "--not-applied", "--note", "x")

    assert f"`fencegate intents retry {id}` sends it again too." in resolved.err


@pytest.mark.parametrize(("flag", "state"), [("--applied", "applied"), ("--not-applied", "not_applied")])
async def test_an_operator_resolves(flag: str, state: str, admin: Admin) -> None:
    """What will follow is said before; a script is not asked."""
    admitted = await ended(admin.store, intended("k-1"), "unknown")

    resolved = await intents(admin, "resolve", admitted.intent, flag, "--note", "looked at the outbox")

    assert (resolved.status, resolved.out) == (0, f"{admitted.intent} is {state}.\n")
    assert "PUT /reports/7, of report/7, is unknown: no answer within 30 s\n" in resolved.err
    assert ("SENDS IT AGAIN" in resolved.err) is (state == "not_applied")
    assert await state_of(admin, admitted.intent) == state


async def test_an_attempt_that_is_not_the_newest_is_not_resolved(admin: Admin) -> None:
    """Whoever has looked at one says nothing of the next."""
    first = await ended(admin.store, intended("k-1"), "unknown")
    await intents(admin, "resolve", first.intent, "--not-applied", "--note", "x", "--attempt", "1")
    admitted = await ended(admin.store, intended("k-1"), "unknown")
    command = ("resolve", admitted.intent, "--not-applied", "--note", "x")

    refused = await intents(admin, *command, "--attempt", "1")

    assert refused.status == 1 and "the newest is attempt 2" in refused.err
    assert (await intents(admin, *command)).status == 0


async def test_a_request_that_is_not_the_newest_is_not_sent_again(store_url: str, tmp_path: Path) -> None:
    """Where a digest is named; otherwise it is the one that is shown."""
    async with listening(store_url, tmp_path, policy=QUEUES) as admin, delivering(admin.store) as queue:
        write = mail("one")
        await parked(admin.store, write)
        await delivered(queue, write, "not_applied", GivenUp())
        command = ("retry", id_of(write), "--note", "x")

        refused = await intents(admin, *command, "--digest", "another")
        assert refused.status == 1 and "is not that of the request that is kept" in refused.err
        assert (await intents(admin, *command)).out == f"{id_of(write)} is queued.\n"


async def test_a_request_of_an_overtaken_epoch_is_not_sent_again(store_url: str, tmp_path: Path) -> None:
    """Status 1, and the gateway's sentence says why."""
    async with listening(store_url, tmp_path, policy=QUEUES) as admin, delivering(admin.store) as queue:
        write = mail("one")
        await parked(admin.store, write)
        await delivered(queue, write, "not_applied", GivenUp())
        await admin.store.advance(write.resource, None, "r")

        refused = await intents(admin, "retry", id_of(write), "--note", "x")

        assert refused.status == 1 and "whoever has" in refused.err
        assert await state_of(admin, id_of(write)) == "failed"


@pytest.mark.parametrize(("typed", "state"), [(b"y\n", "not_applied"), (b"n\n", "unknown"), (b"\n", "unknown")])
async def test_a_person_is_asked(typed: bytes, state: str, admin: Admin) -> None:
    """On a terminal, and nothing is done without a yes."""
    admitted = await ended(admin.store, intended("k-1"), "unknown")
    command = ("intents", "resolve", admitted.intent, "--not-applied", "--note", "x")

    ended_command = await operate_on_terminal(admin.port, *command, typed=typed)

    assert "Resolve it? [y/N]" in ended_command.err
    assert (ended_command.status == 0) is (state == "not_applied")
    assert await state_of(admin, admitted.intent) == state


async def test_a_person_who_has_said_yes_is_not_asked(admin: Admin) -> None:
    """With --json the answer is the only thing on standard output."""
    admitted = await ended(admin.store, intended("k-1"), "unknown")
    command = ("intents", "resolve", admitted.intent, "--applied", "--note", "x", "--yes", "--json")

    resolved = await operate_on_terminal(admin.port, *command, typed=b"")

    assert json.loads(resolved.out)["state"] == "applied"
    assert "Resolve it?" not in resolved.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--applied", "--not-applied", "--note", "x"), "Say either --applied or --not-applied."),
        (("--note", "x"), "Say either --applied or --not-applied."),
        (("--applied",), "Missing option '--note'"),
        (("--applied", "--note", "a\nb"), "`note` must be a text of 1 to 500 printable characters"),
    ],
    ids=["both", "neither", "no note", "a note of two lines"],
)
async def test_what_is_not_clear_resolves_nothing(arguments: tuple[str, ...], message: str, admin: Admin) -> None:
    """The error says what to write."""
    admitted = await ended(admin.store, intended("k-1"), "unknown")

    resolved = await intents(admin, "resolve", admitted.intent, *arguments)

    assert resolved.status != 0
    assert message in resolved.err
    assert await state_of(admin, admitted.intent) == "unknown"


async def test_an_error_is_the_gateways_sentence(admin: Admin) -> None:
    """Status 1, and no traceback."""
    applied = await ended(admin.store, intended("k-1"), "applied")

    wrong = await intents(admin, "resolve", applied.intent, "--not-applied", "--note", "x")
    missing = await intents(admin, "show", "../policies")

    assert wrong.err.splitlines()[-1] == (
        "Error: Nothing was done: the intent is applied, and only an unknown one can be resolved."
    )
    assert missing.err.startswith("Error: Nothing is known of this intent")
    assert (wrong.status, missing.status) == (1, 1)


UNDO = KeptRequest("DELETE", "/reports/7?by=ann", (), b'{"why": "\x1b[2J"}')


async def test_what_takes_an_intent_back_is_shown_and_sent(admin: Admin) -> None:
    """What is sent is said before, and whether the resource was written since; here its upstream is away."""
    admitted = await ended(admin.store, intended("k-1"), "applied", Undoable(ANSWER, UNDO))

    shown = await intents(admin, "show", admitted.intent)
    compensated = await intents(admin, "compensate", admitted.intent, "--note", "sent in error")

    assert "What takes it back:\nDELETE /reports/7?by=ann\n" in shown.out
    assert "\x1b" not in shown.out + compensated.err
    assert "sent, with the upstream's credentials: DELETE /reports/7?by=ann\n" in compensated.err
    assert "The resource was not written since.\n" in compensated.err
    assert compensated.status == 0
    assert compensated.out.startswith(f"{admitted.intent} is applied: not compensated: ")


async def test_a_compensation_in_doubt_names_what_is_to_be_resolved(store_url: str, tmp_path: Path) -> None:
    """Its answer was lost: nobody asks for it, and a second call says so too."""

    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(hang_up, "127.0.0.1", 0) as upstream:
        port = upstream.sockets[0].getsockname()[1]
        async with listening(store_url, tmp_path, token=TOKEN, policy=POLICY.format(port=port)) as admin:
            admitted = await ended(admin.store, intended("k-1"), "applied", Undoable(ANSWER, UNDO))
            first = await intents(admin, "compensate", admitted.intent, "--note", "sent in error")
            second = await intents(admin, "compensate", admitted.intent, "--note", "sent in error")
            undo = json.loads((await intents(admin, "show", admitted.intent, "--json")).out)["compensated_by"]

    assert first.out == f"{admitted.intent} is compensating: sent in error\n"
    for told in (first, second):
        assert "Whether it was taken back is NOT KNOWN" in told.err
        assert f"fencegate intents resolve {undo} --applied --note TEXT (or --not-applied" in told.err
    assert (first.status, second.status) == (0, 1)


async def test_a_person_is_asked_before_anything_is_taken_back(admin: Admin) -> None:
    """And is warned where the resource was written since."""
    admitted = await ended(admin.store, intended("k-1"), "applied", Undoable(ANSWER, UNDO))
    await ended(admin.store, intended("k-2"), "applied")

    left = await operate_on_terminal(admin.port, "intents", "compensate", admitted.intent, "--note", "x", typed=b"n\n")

    assert "WAS WRITTEN SINCE" in left.err
    assert "Send it? [y/N]" in left.err
    assert left.status == 1
    assert (await intents(admin, "list", "--state", "not_applied")).out == "No intent is not_applied.\n"


@pytest.mark.parametrize(
    ("kept", "message"),
    [
        (ANSWER, "its rule had no compensation when it was applied"),
        (Undoable(ANSWER, Unavailable("the request has no `query.q`")), "the request has no `query.q`"),
    ],
    ids=["none", "unavailable"],
)
async def test_what_cannot_be_taken_back_is_refused(kept: Kept, message: str, admin: Admin) -> None:
    """In the gateway's words, status 1."""
    admitted = await ended(admin.store, intended("k-1"), "applied", kept)

    refused = await intents(admin, "compensate", admitted.intent, "--note", "x", "--yes", "--json")

    assert (refused.status, refused.out) == (1, "")
    assert message in refused.err
