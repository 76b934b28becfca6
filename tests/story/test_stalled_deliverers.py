"""A deliverer that stalls with what it has taken, as a process of its own, while others go on."""

import asyncio
import json
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.core.record import IntentRecord
from gateway.core.rule import Rule
from gateway.core.write import Write
from gateway.store.deliveries import Deliveries
from gateway.store.fence import FenceStore
from gateway.store.keys import resource_keys
from tests.recording import RecordingUpstream, Seen
from tests.stack import rules_from
from tests.store.fences import RESOURCE, admitted, bare, keyed, opened
from tests.store.parked import REQUEST, id_of
from tests.store.server import Server
from tests.story.gateways import write_policies
from tests.story.test_queued_delivery import deliverer
from tests.until import until

# Whoever has taken something waits for its turn longer than all of this lasts.
POLICY = """
upstream: mail
url: http://127.0.0.1:UPSTREAM
mount: {path: /mails}
timeouts: {connect: 1s, total: 5s, late: 1s}
defaults: {authority: header, fence: {queue_timeout: 5m}, intent: {mode: required}}
writes:
  - {name: queued, match: POST /mails, resource: report/7, delivery: queued}
"""
TURNS_LAST_S = 600.0
ANSWERS = {
    ("one", 1): b"HTTP/1.1 409 No\r\nContent-Length: 0\r\n\r\n",
    ("another", 1): b"HTTP/1.1 429 Later\r\nRetry-After: 3600\r\nContent-Length: 0\r\n\r\n",
}


@pytest.mark.slow
@pytest.mark.promise("G4")
async def test_what_was_taken_is_not_sent_in_the_place_of_what_came_later(shared_store: Server, tmp_path: Path) -> None:
    """It was delivered by others and refused meanwhile, and its agent has sent another request under the free key: that
    one is delivered, by the deliverer that stalled as well.
    """
    seen: list[str] = []

    async def answer(one: Seen, writer: asyncio.StreamWriter) -> None:
        says = str(json.loads(one.body)["says"])
        seen.append(says)
        writer.write(ANSWERS.get((says, seen.count(says)), b"HTTP/1.1 204 No Content\r\n\r\n"))

    async with RecordingUpstream(answer) as upstream, opened(shared_store.url) as store:
        text = POLICY.replace("UPSTREAM", str(upstream.port))
        policies = write_policies(tmp_path, "mail.yaml", text)
        rule = rules_from(tmp_path / "rules", text).entries[0].rule
        before = await admitted(store, bare(1, "a", rule), ttl_s=TURNS_LAST_S)
        async with deliverer(policies, shared_store.url, tmp_path / "stalls") as stalls:
            await take(store, rule, "one")
            await until(lambda: waits(store), within_s=60)
            stalls.send_signal(signal.SIGSTOP)
            try:
                async with deliverer(policies, shared_store.url, tmp_path / "goes on"):
                    await store.settle(before, "applied", "a test", None)
                    await until(lambda: has_become(store, "failed"), within_s=60)
                    await take(store, rule, "another")
                    await until(lambda: has_failed_once(store), within_s=60)
            finally:
                stalls.send_signal(signal.SIGCONT)
            await Deliveries(store).put_back(RESOURCE, 0.0)
            await until(lambda: has_become(store, "applied"), within_s=60)

    assert seen == ["one", "another", "another"]


def mail(rule: Rule, says: str) -> Write:
    return keyed(bare(1, "a", rule), says=says.encode())


async def take(store: FenceStore, rule: Rule, says: str) -> None:
    """A request under the one key, taken by a gateway that delivers nothing."""
    body = json.dumps({"says": says}).encode()
    record = await store.park(mail(rule, says), replace(REQUEST, body=body))
    assert isinstance(record, IntentRecord), record


async def waits(store: FenceStore) -> bool:
    """Whether somebody waits for a turn at the resource."""
    return bool(await store.link.call("HLEN", resource_keys(RESOURCE)[3]))


async def known(store: FenceStore) -> IntentRecord:
    record = await store.recall(id_of(keyed(bare(1, "a"))))
    assert record is not None
    return record


async def has_become(store: FenceStore, state: str) -> bool:
    return (await known(store)).state == state


async def has_failed_once(store: FenceStore) -> bool:
    record = await known(store)
    return record.parking is not None and (record.state, record.parking.failures) == ("queued", 1)
