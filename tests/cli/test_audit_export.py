"""Exporting the trail, page after page, against an API of the test's own that fails when it is told to."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast
from urllib.parse import parse_qs, urlsplit

import click
import pytest

from gateway.cli.admin_api import AdminApi
from gateway.cli.audit_export import export_events

TRAIL = "/api/v1/audit"


@dataclass
class Pages:
    """Three pages of two events; the page of this number is not answered."""

    broken: int | None = None
    asked: list[tuple[list[str] | None, list[str] | None]] = field(default_factory=list)

    def get(self, path: str) -> dict[str, object]:
        query = parse_qs(urlsplit(path).query)
        assert query["limit"] == ["1000"]
        self.asked.append((query.get("since"), query.get("until")))
        page = int(query.get("cursor", ["0"])[0])
        if page == self.broken:
            raise click.ClickException("No gateway answers.")
        items = [{"number": 6 - 2 * page}, {"number": 5 - 2 * page, "holder": "ü"}]
        return {"items": items, "next": str(page + 1) if page < 2 else None}


def export(pages: Pages, output: Path, **sought: str | None) -> int:
    return export_events(cast(AdminApi, pages), TRAIL, sought, output)  # the only call that it makes


def numbers(output: Path) -> list[int]:
    return [json.loads(line)["number"] for line in output.read_text("utf-8").splitlines()]


def test_a_file_has_a_line_of_json_for_each_event(tmp_path: Path) -> None:
    """And nothing is left beside it."""
    output = tmp_path / "events.jsonl"

    assert export(Pages(), output) == 6
    assert numbers(output) == [6, 5, 4, 3, 2, 1]
    assert list(tmp_path.iterdir()) == [output]


@pytest.mark.parametrize("broken", [0, 1, 2])
def test_what_is_broken_off_is_gone_on_with(broken: int, tmp_path: Path) -> None:
    """Each event once, also where a page was half written."""
    output = tmp_path / "events.jsonl"
    with pytest.raises(click.ClickException):
        export(Pages(broken), output, resource="report/7")
    assert not output.exists()
    with (tmp_path / "events.jsonl.part").open("a") as part:
        part.write('{"number": 9')

    assert export(Pages(), output, resource="report/7") == 6
    assert numbers(output) == [6, 5, 4, 3, 2, 1]
    assert list(tmp_path.iterdir()) == [output]


def test_a_duration_counts_from_the_beginning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whenever it is gone on with: counted anew, its oldest events would have left it meanwhile."""
    output, times = tmp_path / "events.jsonl", iter((1_772_352_000_000, 1_772_438_400_000))
    monkeypatch.setattr("gateway.cli.audit_export.time.time_ns", lambda: next(times) * 1_000_000)
    first, second = Pages(1), Pages()
    with pytest.raises(click.ClickException):
        export(first, output, since="7d", until="2026-03-01T07:59:00Z")

    export(second, output, since="7d", until="2026-03-01T07:59:00Z")

    assert {*map(str, first.asked), *map(str, second.asked)} == {
        "(['2026-02-22T08:00:00.000Z'], ['2026-03-01T07:59:00Z'])"
    }


def test_another_question_does_not_go_on_with_it(tmp_path: Path) -> None:
    """It would mix two exports in one file."""
    output = tmp_path / "events.jsonl"
    with pytest.raises(click.ClickException):
        export(Pages(1), output, resource="report/7")

    with pytest.raises(click.ClickException, match="something else"):
        export(Pages(), output, resource="report/8")


def test_what_a_crash_has_cut_off_is_not_filled_up(tmp_path: Path) -> None:
    """A disk that lost the end of what was written has no whole export any more."""
    output, part = tmp_path / "events.jsonl", tmp_path / "events.jsonl.part"
    with pytest.raises(click.ClickException):
        export(Pages(1), output)
    part.write_bytes(part.read_bytes()[:-5])

    with pytest.raises(click.ClickException, match="lacks some"):
        export(Pages(), output)
    assert not output.exists()


def test_nothing_is_written_over(tmp_path: Path) -> None:
    """An older export is somebody's evidence."""
    output = tmp_path / "events.jsonl"
    output.write_text("mine")

    with pytest.raises(click.ClickException, match="is there already"):
        export(Pages(), output)
    assert output.read_text() == "mine"


def test_a_state_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    """With what to remove."""
    (tmp_path / "events.jsonl.state").write_text("{")

    with pytest.raises(click.ClickException, match="to begin anew"):
        export(Pages(), tmp_path / "events.jsonl")
