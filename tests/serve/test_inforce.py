"""Which policies a worker judges by."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.core.caller import Caller
from gateway.core.decision import POLICIES_UNAVAILABLE, Refused
from gateway.core.request import Headers
from gateway.log import Log
from gateway.policy.reload import PolicyHolder
from gateway.policy.ruleset import RuleSet
from gateway.serve.edition import SILENT_AFTER_S, Editions, Page
from gateway.serve.inforce import InForce
from tests.policy.asking import name_of, one_rule, request
from tests.serve.test_edition import SetClock
from tests.until import until


class Worker:
    """Its policies, and its parent's page."""

    def __init__(self, directory: Path) -> None:
        self.clock, self.policy, self.log = SetClock(), directory / "policies" / "policy.yaml", directory / "log"
        self.policy.parent.mkdir()
        self.policy.write_text(one_rule())
        self.editions = Editions(directory / "edition", self.clock)
        page = Page(directory / "edition", self.clock)
        holder = PolicyHolder.open(self.policy.parent, {})
        assert isinstance(holder, PolicyHolder)
        self.lines = self.log.open("ab")
        self.rules = InForce(holder, page, page.number(), Log("json", descriptor=self.lines.fileno()))

    @property
    def name(self) -> str:
        """Of the only rule."""
        return self.rules().entries[0].rule.name

    def change(self, name: str) -> None:
        self.policy.write_text(one_rule().replace("name: one", f"name: {name}"))
        self.editions.publish(0.0)

    @property
    def events(self) -> list[str]:
        """What it has logged."""
        self.rules._log.write()
        return [json.loads(line)["event"] for line in self.log.read_text().splitlines()]

    def close(self) -> None:
        self.lines.close()
        self.editions.close()


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[Worker]:
    worker = Worker(tmp_path)
    yield worker
    worker.close()


def test_a_worker_that_is_told_reads_them_beside_its_requests(worker: Worker) -> None:
    """Meanwhile requests are judged as before; read once, they are not read for the page's sake again."""
    worker.change("two")
    assert worker.name == "one"

    worker.rules.reload()
    former = worker.rules()
    worker.clock.now += 9.0

    assert worker.name == "two"
    assert worker.rules() is former


def test_a_worker_that_heard_of_nothing_reads_them_before_it_judges(worker: Worker) -> None:
    """It was stopped, or hung: by then no request may be judged by the former ones."""
    former = worker.rules()
    worker.change("two")
    worker.clock.now += 1.0

    assert worker.name == "two"
    assert all(upstream.term.is_over for upstream in former.upstreams)


def test_what_waits_there_is_judged_anew_before_anybody_else_has_looked(worker: Worker) -> None:
    """It was stopped while a write waited in its line, and is continued right there."""
    for name in ("two", "three"):
        (upstream,) = worker.rules().upstreams
        worker.change(name)
        assert not upstream.term.is_over

        worker.clock.now += 1.0

        assert upstream.term.is_over
        assert worker.name == name


def test_policies_that_it_cannot_read_are_tried_once(worker: Worker) -> None:
    """Those in force stay, which the log says; the next edition is tried again."""
    worker.policy.write_text("upstream: [")
    worker.editions.publish(0.0)
    worker.clock.now += 1.0

    assert [worker.name, worker.name] == ["one", "one"]
    worker.change("two")
    worker.clock.now += 1.0
    assert worker.name == "two"
    assert worker.events == ["a worker cannot read the policies in force, and refuses writes if that lasts"]


async def test_a_worker_that_cannot_read_them_for_long_refuses_writes_and_goes_on_trying(worker: Worker) -> None:
    """It knows of an edition that is in force: by the former one a key that was withdrawn would live on."""
    before = worker.rules()
    worker.policy.write_text("upstream: [")
    worker.editions.publish(0.0)
    worker.clock.now += 1.0
    assert told(worker.rules()) == ["read", "one"]
    worker.clock.now += SILENT_AFTER_S
    worker.editions.looked(is_current=False)
    worker.editions.looked(is_current=True)

    assert told(worker.rules()) == ["read", "policies-unavailable"]
    assert all(upstream.term.is_over for upstream in before.upstreams)
    worker.policy.write_text(one_rule().replace("name: one", "name: two"))
    watching = asyncio.ensure_future(worker.rules.watch())
    await until(lambda: told(worker.rules()) == ["read", "two"])
    watching.cancel()


def test_a_worker_whose_credential_is_gone_by_now_goes_on_with_the_last_one(worker: Worker) -> None:
    """It takes the change all the same, which the parent has found valid."""
    secret = worker.policy.with_name("secret")
    secret.write_text("s3cret")
    worker.policy.write_text(
        f"{one_rule()}credentials: [{{header: X-Key, value: '${{file:{secret}}}'}}]\n".replace("one", "two")
    )
    worker.editions.publish(0.0)
    worker.rules.reload()
    secret.unlink()
    worker.policy.write_text(worker.policy.read_text().replace("two", "three"))
    worker.editions.publish(0.0)
    worker.rules.reload()

    assert worker.name == "three"
    assert [upstream.credentials[0][1] for upstream in worker.rules().upstreams] == [b"s3cret"]
    assert worker.events == []


def told(rules: RuleSet) -> list[str]:
    """What is said of a read and of a write."""
    return [name_of(rules.match(request(method, "/x/7"), Caller())) for method in ("GET", "PUT")]


def test_while_its_parent_is_silent_it_refuses_writes_and_goes_on_by_itself(worker: Worker) -> None:
    """What waits is judged anew, and finds the same rules again once the parent looks: nothing has to be read."""
    before = worker.rules()
    worker.clock.now += SILENT_AFTER_S

    assert told(worker.rules()) == ["read", "policies-unavailable"]
    assert worker.rules() is worker.rules()
    assert all(upstream.term.is_over for upstream in before.upstreams)
    worker.editions.looked(is_current=True)

    assert worker.rules() is before
    assert told(worker.rules()) == ["read", "one"]
    assert not any(upstream.term.is_over for upstream in before.upstreams)
    assert worker.events == [
        "the parent process does not say whether the policies are in force: writes are refused until it does",
        "the policies are known to be in force again: writes are taken",
    ]


def test_after_a_silence_no_request_is_judged_by_what_was_in_force_before_it(worker: Worker) -> None:
    """Its edition is due at once, and what has ended meanwhile stays ended."""
    before = worker.rules()
    worker.clock.now += SILENT_AFTER_S
    worker.rules()
    worker.change("two")
    assert told(worker.rules()) == ["read", "policies-unavailable"]
    worker.editions.looked(is_current=True)

    assert told(worker.rules()) == ["read", "two"]
    assert all(upstream.term.is_over for upstream in before.upstreams)


def test_what_is_read_in_a_silence_is_not_used_in_it(worker: Worker) -> None:
    """A signal may come late."""
    worker.clock.now += SILENT_AFTER_S
    worker.rules()
    worker.change("two")
    worker.rules.reload()

    assert told(worker.rules()) == ["read", "policies-unavailable"]
    assert all(upstream.term.is_over for upstream in worker.rules().upstreams)


def test_in_a_silence_nobody_is_let_in_by_a_key(worker: Worker) -> None:
    """It may have been withdrawn, for reads too."""
    digest = "a" * 64
    text = f'principals: [{{name: ada, key: "sha256:{digest}", resources: ["**"]}}]\n'
    (worker.policy.parent / "principals.yaml").write_text(text)
    worker.editions.publish(0.0)
    worker.clock.now += SILENT_AFTER_S

    refused = worker.rules().principals.identify(Headers([(b"Fencegate-Key", b"any")]))

    assert isinstance(refused, Refused) and refused.decision is POLICIES_UNAVAILABLE
    assert worker.rules().principals.named("ada") is not None
