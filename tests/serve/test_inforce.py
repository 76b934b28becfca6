"""Which policies a worker judges by."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.log import Log
from gateway.policy.reload import PolicyHolder
from gateway.serve.edition import Editions, Page
from gateway.serve.inforce import InForce
from tests.policy.asking import one_rule
from tests.serve.test_edition import SetClock


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


def test_policies_that_it_cannot_read_are_tried_once(worker: Worker) -> None:
    """Those in force stay, which the log says; the next edition is tried again."""
    worker.policy.write_text("upstream: [")
    worker.editions.publish(0.0)
    worker.clock.now += 1.0

    assert [worker.name, worker.name] == ["one", "one"]
    worker.change("two")
    worker.clock.now += 1.0
    assert worker.name == "two"
    worker.rules._log.write()
    kept = [json.loads(line)["event"] for line in worker.log.read_text().splitlines()]
    assert kept == ["a worker kept the policies in force"]
