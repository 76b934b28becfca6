"""The page by which a parent tells its workers which policies are in force."""

from pathlib import Path

from gateway.flow.clock import BootClock
from gateway.serve.edition import Editions, Page


class SetClock(BootClock):
    """Turned by the test."""

    now = 1000.0

    def boot(self) -> float:
        return self.now


def test_an_edition_is_due_a_second_after_its_parent_had_it(tmp_path: Path) -> None:
    """Or later, where reading the files takes long: then the worker is still at it."""
    clock = SetClock()
    editions = Editions(tmp_path / "edition", clock)
    page = Page(tmp_path / "edition", clock)
    before = page.number()

    editions.publish(0.0)
    assert page.number() != before
    assert not page.is_due()
    clock.now += 1.0
    assert page.is_due()

    editions.publish(2.0)
    clock.now += 8.9
    assert not page.is_due()
    clock.now += 0.1
    assert page.is_due()
    editions.close()


def test_every_edition_has_another_number(tmp_path: Path) -> None:
    """A page that is mapped shows each as it is published."""
    editions = Editions(tmp_path / "edition", SetClock())
    page = Page(tmp_path / "edition", SetClock())
    seen = {page.number()}
    for _ in range(3):
        editions.publish(0.0)
        seen.add(page.number())

    assert len(seen) == 4
    editions.close()
