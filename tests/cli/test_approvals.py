"""`fencegate approvals` against a running gateway."""

import gzip
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.core.delivery import GivenUp
from gateway.core.kept_request import KeptRequest
from gateway.core.pause import Scope
from gateway.store.intents import pause
from gateway.store.keys import shard_of
from gateway.store.pauses import begin_pause, new_pause_id
from tests.admin.conftest import Admin, listening
from tests.cli.operating import TOKEN, Ended, operate, operate_on_terminal
from tests.store.fences import RESOURCE, state_of
from tests.store.parked import APPROVED, POLICY, REQUEST, delivered, delivering, id_of, mail, parked

ONE = mail("one", of=APPROVED)
ID = id_of(ONE)
PRINCIPALS = f"principals:\n  - {{name: anna, key: 'sha256:{0:064x}', resources: '**', approve: true}}\n"


@pytest.fixture
async def admin(store_url: str, tmp_path: Path) -> AsyncIterator[Admin]:
    """Its policy takes what waits."""
    async with listening(store_url, tmp_path, token=TOKEN, policy=POLICY) as listener:
        yield listener


async def approvals(admin: Admin, *arguments: str) -> Ended:
    return await operate(admin.port, "approvals", *arguments)


async def digest_of(admin: Admin) -> str:
    """Of the one request, which waits now."""
    parking = (await parked(admin.store, ONE)).parking
    assert parking is not None
    return parking.digest


async def test_what_waits_is_listed(admin: Admin) -> None:
    """Where no subcommand is named; what does not wait is not shown."""
    assert (await approvals(admin)).out == "Nothing waits for an approval.\n"
    await parked(admin.store, replace(ONE, principal="agent-7"))
    await parked(admin.store, mail("two"))

    listed = await approvals(admin)

    head, line = listed.out.splitlines()
    assert head.split() == ["ID", "REQUEST", "RESOURCE", "RULE", "RISK", "FROM", "HOLDER", "SINCE", "NOTE", "DIGEST"]
    assert line.split()[:8] == [ID, "POST", "/mails", "report/7", "replace", "high", "agent-7", "A"]
    [item] = json.loads((await approvals(admin, "--json")).out)
    assert item["id"] == ID


async def test_the_request_is_shown_first(admin: Admin) -> None:
    """Then who sent it, under which epoch, and its digest."""
    record = await parked(admin.store, ONE)
    assert record.parking is not None

    lines = (await approvals(admin, "show", ID)).out.splitlines()

    assert lines[0] == "POST /mails?x=1" and '  {"to": "x"}' in lines
    assert any(line.split() == ["digest", record.parking.digest] for line in lines), lines


HOSTILE = [
    pytest.param(
        replace(REQUEST, body=b"pay 1000\r\x1b[2Kpay 1\x07\x08\x7f \xc2\x9b2J"),
        ["  pay 1000", r"  \x1b[2Kpay 1\x07\x08\x7f \x9b2J"],
        id="a line over another",
    ),
    pytest.param(
        replace(REQUEST, body='{"to": "\u202eeve\u202c", "x": "\u200b\ufeff\u2066"}\n\U000e0041'.encode()),
        [r'  {"to": "\u202eeve\u202c", "x": "\u200b\ufeff\u2066"}', r"  \U000e0041"],
        id="another direction and no width",
    ),
    pytest.param(
        replace(REQUEST, body='{"amount": "100\x85000\u2028000 \\u001b[8m"}'.encode()),
        [r'  000 \u001b[8m"}'],
        id="other line ends and an escape",
    ),
    pytest.param(
        replace(REQUEST, headers=((b"X-Note", b"\x1b]0;owned\x07\x9b2J\r\x08"),)),
        [r"  X-Note: \x1b]0;owned\x07\x9b2J\r\x08"],
        id="a field",
    ),
    pytest.param(
        replace(REQUEST, method="POST\x1b[8m", target="/mails?x=\r\x1b[2J"),
        [r"POST\x1b[8m /mails?x=\r\x1b[2J"],
        id="a request line",
    ),
]


@pytest.mark.parametrize(("request_", "lines"), HOSTILE)
async def test_a_request_cannot_command_the_approver_s_terminal(
    request_: KeptRequest, lines: list[str], admin: Admin
) -> None:
    """Shown in full, escaped: nothing moves the cursor, hides what is there, or turns it round; nor does its holder."""
    write = replace(ONE, holder="eve\x1b[31m\r\u202e")
    await parked(admin.store, write, request_)

    shown, listed = await approvals(admin, "show", ID), await approvals(admin)

    for out in (shown.out, listed.out):
        assert r"eve\x1b[31m\r\u202e" in out
        assert all(char.isprintable() or char == "\n" for char in out)
    assert set(lines) <= set(shown.out.splitlines())


async def test_a_person_is_asked_beside_what_cannot_hide(admin: Admin) -> None:
    """On a terminal the question stands below the request, which moved nothing of it."""
    await parked(admin.store, ONE, replace(REQUEST, body=b"pay 1000\x1b[1A\x1b[2K"))

    asked = await operate_on_terminal(admin.port, "approvals", "approve", ID, "--note", "x", typed=b"n\n")

    assert asked.status == 1 and "  pay 1000\\x1b[1A\\x1b[2K\n" in asked.out
    assert "\x1b" not in asked.out + asked.err
    assert await state_of(admin.store, ID) == "awaiting_approval"


async def test_what_is_approved_is_queued(admin: Admin) -> None:
    """A script names the digest that somebody has looked at, and is told what came of it: afterwards."""
    digest = await digest_of(admin)

    approved = await approvals(admin, "approve", ID, "--note", "looks right", "--digest", digest)

    assert (approved.status, approved.out) == (0, f"{ID} is queued: it is sent at once, once.\n")
    again = await approvals(admin, "approve", ID, "--note", "again", "--digest", digest)
    assert again.status == 1 and "only one that waits for an approval can be decided" in again.err
    assert again.out == "" and "sent at once" not in again.err


@pytest.mark.parametrize(
    ("scope", "stops"),
    [
        (Scope("all"), "all writes"),
        (Scope("rule", "replace", "reports"), "all writes of rule replace of upstream reports"),
        (None, "all writes of report/7"),
    ],
    ids=["all", "rule", "resource"],
)
async def test_a_pause_that_holds_it_is_named(admin: Admin, scope: Scope | None, stops: str) -> None:
    """It is sent when that ends, and not before; the question says so too."""
    digest, id = await digest_of(admin), f"{shard_of(RESOURCE)}0123456789abcdef" if scope is None else new_pause_id()
    if scope is None:
        await pause(admin.store, RESOURCE, id=id, reason="secret", by="operator")
    else:
        await begin_pause(admin.store, scope, id=id, reason="secret", by="operator")

    asked = await operate_on_terminal(admin.port, "approvals", "approve", ID, "--note", "x", typed=b"n\n")
    approved = await approvals(admin, "approve", ID, "--note", "looks right", "--digest", digest)

    assert f"Approve it? Pause {id} holds it ({stops}); when that ends it is SENT, as shown." in asked.err
    assert "secret" not in asked.err
    assert approved.out == f"{ID} is queued: pause {id} holds it ({stops}); it is sent when that ends, once.\n"


@pytest.mark.parametrize("flags", [(), ("--yes",), ("--json",)], ids=["no terminal", "yes", "json"])
async def test_nothing_is_approved_unseen(flags: tuple[str, ...], admin: Admin) -> None:
    """Where nobody is shown the request its digest has to be named."""
    await parked(admin.store, ONE)

    refused = await approvals(admin, "approve", ID, "--note", "x", *flags)

    assert refused.status == 2 and "--digest" in refused.err
    assert await state_of(admin.store, ID) == "awaiting_approval"


async def test_a_person_is_shown_what_is_approved(admin: Admin) -> None:
    """On a terminal, before the question; with --yes the digest is wanted there too."""
    await parked(admin.store, ONE)

    blind = await operate_on_terminal(admin.port, "approvals", "approve", ID, "--note", "ok", "--yes", typed=b"")
    assert blind.status == 2 and await state_of(admin.store, ID) == "awaiting_approval"
    approved = await operate_on_terminal(admin.port, "approvals", "approve", ID, "--note", "ok", typed=b"y\n")

    assert approved.status == 0 and '  {"to": "x"}' in approved.out
    assert approved.out.endswith(f"{ID} is queued: it is sent at once, once.\n")


UNSHOWN = {
    "bytes": b"\xff" * 3000,
    "in a coding": gzip.compress(b'{"amount": 1000}', mtime=0),
    "of two bytes a letter": '{"amount": 1000}'.encode("utf-16"),
    "behind many blanks": b'{"amount": 1,' + b" " * 200_000 + b'"more": 1000}',
}


@pytest.mark.parametrize("body", UNSHOWN.values(), ids=UNSHOWN)
async def test_a_body_that_is_not_shown_is_exported(admin: Admin, tmp_path: Path, body: bytes) -> None:
    """What is shown says how."""
    parking = (await parked(admin.store, ONE, replace(REQUEST, body=body))).parking
    assert parking is not None
    named = f"{ID} --digest {parking.digest} -o"
    assert f"`fencegate approvals export {named} FILE`" in (await approvals(admin, "show", ID)).out

    exported = await approvals(admin, "export", *named.split(), str(tmp_path / "body"))
    other = await approvals(admin, "export", ID, "--digest", "another", "-o", str(tmp_path / "other"))

    assert (exported.status, (tmp_path / "body").read_bytes()) == (0, body)
    assert other.status == 1 and "is not that of the request" in other.err and not (tmp_path / "other").exists()


async def test_an_approvers_key_is_asked_for_by_its_name(store_url: str, tmp_path: Path) -> None:
    """The admin token alone approves nothing where there are principals."""
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "principals.yaml").write_text(PRINCIPALS)
    async with listening(store_url, tmp_path, token=TOKEN) as admin:
        await parked(admin.store, ONE)
        refused = await approvals(admin, "approve", ID, "--note", "x", "--digest", "x")

    assert refused.status == 1 and "set FENCEGATE_KEY" in refused.err


async def test_a_person_is_asked(admin: Admin) -> None:
    """And may change their mind."""
    await parked(admin.store, ONE)

    kept = await operate_on_terminal(admin.port, "approvals", "deny", ID, "--note", "no", typed=b"n\n")
    assert kept.status == 1 and await state_of(admin.store, ID) == "awaiting_approval"
    denied = await operate_on_terminal(admin.port, "approvals", "deny", ID, "--note", "no", typed=b"y\n")
    told = f"{ID} is denied: it is never sent, and whoever repeats it is told so.\n"
    assert (denied.status, denied.out.endswith(told)) == (0, True)


async def test_another_request_than_the_one_looked_at_is_not_approved(admin: Admin) -> None:
    """Where a digest is named."""
    await parked(admin.store, ONE)

    refused = await approvals(admin, "approve", ID, "--note", "x", "--digest", "another")

    assert refused.status == 1 and "is not that of the request that waits" in refused.err
    assert await state_of(admin.store, ID) == "awaiting_approval"


async def test_what_has_failed_is_sent_again(admin: Admin) -> None:
    """`fencegate intents retry`; its request is shown beside the record."""
    write = mail("one")
    await parked(admin.store, write)
    async with delivering(admin.store) as queue:
        await delivered(queue, write, "not_applied", GivenUp())
    failed = await operate(admin.port, "intents", "list", "--state", "failed")
    assert ID in failed.out

    retried = await operate(admin.port, "intents", "retry", ID, "--note", "the key is renewed")

    assert (retried.status, retried.out) == (0, f"{ID} is queued.\n")
    shown = await operate(admin.port, "intents", "show", ID)
    assert "Its request:\nPOST /mails?x=1" in shown.out
