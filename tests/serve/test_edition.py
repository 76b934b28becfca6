"""The page by which a parent tells its workers which policies are in force."""

from pathlib import Path

from gateway.flow.clock import BootClock
from gateway.serve.edition import SILENT_AFTER_S, Editions, Page


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


def test_a_parent_that_has_not_looked_for_long_is_silent(tmp_path: Path) -> None:
    """From the start on, and again with each look; a busy machine is given twenty of them."""
    clock = SetClock()
    editions = Editions(tmp_path / "edition", clock)
    page = Page(tmp_path / "edition", clock)
    seen = []
    for passed in (SILENT_AFTER_S - 0.5, SILENT_AFTER_S - 0.5, SILENT_AFTER_S):
        clock.now += passed
        seen.append((page.is_silent(), editions.are_silent()))
        editions.looked(is_current=True)

    assert seen == [(False, False), (False, False), (True, True)]
    editions.close()


def page_of(directory: Path, clock: SetClock) -> tuple[Editions, Page]:
    return Editions(directory / "edition", clock), Page(directory / "edition", clock)


def test_a_parent_that_is_stopped_again_and_again_puts_no_silence_off(tmp_path: Path) -> None:
    """It sees that files have changed in each of its slices, and reads them in none: what has ended is used no longer
    than where it was stopped for good.
    """
    clock = SetClock()
    editions, page = page_of(tmp_path, clock)
    editions.looked(is_current=True)
    seen = []
    for _ in range(2):
        clock.now += SILENT_AFTER_S - 1.5
        seen.append(page.is_silent())
        editions.looked(is_current=False)

    assert seen == [False, True]
    editions.close()


def test_a_parent_that_runs_reads_for_a_minute_at_most(tmp_path: Path) -> None:
    """However steadily it says that it is at it: what has ended may be what it cannot come to read."""
    clock = SetClock()
    editions, page = page_of(tmp_path, clock)
    editions.looked(is_current=True)
    silent_after = 0
    while not page.is_silent():
        clock.now += 1
        silent_after += 1
        editions.looked(is_current=False)

    assert silent_after == 59 + SILENT_AFTER_S
    editions.close()


def test_a_silence_ends_with_a_look_at_files_that_have_been_read(tmp_path: Path) -> None:
    """A change is read at the second look: at the first one what has ended would be used once more."""
    clock = SetClock()
    editions = Editions(tmp_path / "edition", clock)
    page = Page(tmp_path / "edition", clock)
    clock.now += SILENT_AFTER_S

    editions.looked(is_current=False)
    assert page.is_silent()
    editions.publish(2.0)
    assert page.is_silent() and page.is_due()
    editions.looked(is_current=True)
    assert not page.is_silent() and page.is_due()
    editions.close()


def test_a_parent_that_reads_files_is_not_silent(tmp_path: Path) -> None:
    """Large ones take long. A silence is not ended by it, only by what was read."""
    clock = SetClock()
    editions = Editions(tmp_path / "edition", clock)
    page = Page(tmp_path / "edition", clock)
    clock.now += SILENT_AFTER_S - 1.0
    editions.looked(is_current=True)
    clock.now += 0.5
    with editions.reading():
        pass
    clock.now += SILENT_AFTER_S - 0.5
    assert not page.is_silent()

    clock.now += SILENT_AFTER_S
    with editions.reading():
        pass
    assert page.is_silent()
    editions.close()
