"""`fencegate notifications` against a running gateway."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

import pytest

from gateway.cli.admin_api import AdminApi
from gateway.cli.output import Item
from gateway.core.webhook import Again, Dead
from tests.admin.conftest import Admin
from tests.cli.operating import Ended, operate
from tests.store.fences import bare, keyed
from tests.telling import TOLD, attempted, outbox_of, unknown

GONE = Dead("it answered 410")


async def notifications(admin: Admin, *arguments: str) -> Ended:
    return await operate(admin.port, "notifications", *arguments)


async def test_dead_letters_are_listed(admin: Admin) -> None:
    """One line each, under heads; `list` may be left out."""
    assert (await notifications(admin)).out == "No notification is dead.\n"
    await unknown(admin.store)
    id = await attempted(admin.store, GONE)

    head, line = (await notifications(admin)).out.splitlines()

    assert head.split() == ["ID", "TYPE", "OCCURRED", "UPSTREAM", "RESOURCE", "INTENT", "ATTEMPTS", "FAILURE"]
    assert line.split()[:2] == [id, "intent.unknown"]
    assert line.endswith("1         it answered 410")
    assert [item["id"] for item in json.loads((await notifications(admin, "--json")).out)] == [id]


async def test_what_waits_is_listed_apart(admin: Admin) -> None:
    """By its state."""
    await unknown(admin.store)
    id = await attempted(admin.store, Again(300.0, "it answered 500"))

    assert id in (await notifications(admin, "list", "--state", "waiting")).out
    assert (await notifications(admin, "list")).out == "No notification is dead.\n"


async def test_one_is_sent_again(admin: Admin, raw: Any) -> None:
    """By its id, or all that are dead."""
    ids = []
    for number in range(2):
        write = keyed(bare(42, of=TOLD), digest=f"{f'k-{number}':-<22}")
        await unknown(admin.store, replace(write))
        ids.append(await attempted(admin.store, GONE))

    assert (await notifications(admin, "retry", ids[0])).out == f"{ids[0]} is sent again.\n"
    assert (outbox_of(raw), outbox_of(raw, "dead")) == ([ids[0]], [ids[1]])
    assert (await notifications(admin, "retry", "--dead")).out == f"{ids[1]} is sent again.\n"
    assert (await notifications(admin, "retry", "--dead")).out == "No notification is dead.\n"


async def test_what_is_to_be_sent_again_is_named(admin: Admin) -> None:
    """One way or the other; what is gone is told."""
    assert (await notifications(admin, "retry")).status == 2
    assert (await notifications(admin, "retry", "3ff1-0", "--dead")).status == 2
    gone = await notifications(admin, "retry", "3ff1-0")
    assert (gone.status, "no such notification" in gone.err) == (1, True)


async def test_one_that_has_vanished_keeps_no_other_back(admin: Admin, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all that are dead: somebody else had one sent after they were listed."""
    await unknown(admin.store)
    id = await attempted(admin.store, GONE)
    listed = AdminApi.items

    def with_another(api: AdminApi, path: str, query: Mapping[str, str | None]) -> Iterator[Item]:
        return chain([{"id": "3ff1-0"}], listed(api, path, query))

    monkeypatch.setattr(AdminApi, "items", with_another)

    ended = await notifications(admin, "retry", "--dead")

    assert (ended.status, ended.out) == (0, f"{id} is sent again.\n")
    assert ended.err == "3ff1-0 is not there any more.\n"
