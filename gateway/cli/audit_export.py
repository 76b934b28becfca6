"""The audit trail as a file of JSON lines, page after page; what is broken off is gone on with.

FILE.part has the lines so far, FILE.state where they end and how to go on. Both are gone once FILE is there.
"""

import json
import os
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from urllib.parse import urlencode

import click

from gateway.cli.admin_api import AdminApi, items_of
from gateway.cli.output import plain
from gateway.cli.progress import Progress
from gateway.core.problem import instant
from gateway.policy.units import parse_duration

# As many as a call gives at most.
_A_PAGE = "1000"


@dataclass(frozen=True, slots=True)
class _State:
    """How far an export has come: `size` bytes of FILE.part are whole. `query`: what was asked for. `begun_ms`: when it
    was asked for first, from which durations count to the end, whenever it is gone on with.
    """

    query: Mapping[str, str]
    begun_ms: int
    cursor: str | None = None
    size: int = 0
    events: int = 0


def export_events(api: AdminApi, path: str, sought: Mapping[str, str | None], output: Path) -> int:
    """Returns how many events the file has. Raises ClickException."""
    query = {name: value for name, value in sought.items() if value}
    if output.exists():
        raise click.ClickException(f"{output} is there already. Name another file, or remove it.")
    try:
        return _write(api, path, _begun(output, query), output)
    except OSError as error:
        raise click.ClickException(f"{output} cannot be written: {error.strerror}. Name another file.") from None


def _write(api: AdminApi, path: str, state: _State, output: Path) -> int:
    part = _part(output)
    with part.open("r+b" if part.exists() else "w+b") as file, Progress("events exported") as progress:
        file.truncate(state.size)
        file.seek(state.size)
        while True:
            asked = {**_dated(state), "limit": _A_PAGE} | ({"cursor": state.cursor} if state.cursor else {})
            page = api.get(f"{path}?{urlencode(asked, errors='replace')}")
            if "incomplete" in page:
                raise click.ClickException(
                    f"Broken off: {plain(page['incomplete'])}. Export the same again when they do, to go on."
                )
            items, following = items_of(page), page["next"]
            file.writelines(json.dumps(item, ensure_ascii=False).encode() + b"\n" for item in items)
            file.flush()
            state = replace(state, cursor=str(following), size=file.tell(), events=state.events + len(items))
            progress.show(state.events)
            if following is None:
                break
            _keep(output, state)
        os.fsync(file.fileno())
    part.rename(output)
    _state(output).unlink(missing_ok=True)
    return state.events


def _begun(output: Path, query: Mapping[str, str]) -> _State:
    """Where an export of the same that was broken off ended, or the beginning."""
    try:
        state = _State(**json.loads(_state(output).read_text("utf-8")))
    except FileNotFoundError:
        return _State(query, time.time_ns() // 1_000_000)
    except (ValueError, TypeError):
        raise click.ClickException(f"{_state(output)} cannot be read. Remove it to begin anew.") from None
    part = _part(output)
    if state.query != query:
        raise click.ClickException(
            f"{part} is of an export that asked for something else. Ask for the same to go on, or remove "
            f"{_state(output)} to begin anew."
        )
    if not part.exists() or part.stat().st_size < state.size:
        raise click.ClickException(f"{part} lacks some of what was written. Remove {_state(output)} to begin anew.")
    click.echo(f"Going on after {state.events} events.", err=True)
    return state


def _dated(state: _State) -> dict[str, str]:
    """What was asked for, with instants in place of durations: those count from each call."""
    dated = dict(state.query)
    for name in ("since", "until"):
        ago_s = parse_duration(dated.get(name, ""))
        if ago_s is not None:
            dated[name] = instant(max(0, state.begun_ms - round(ago_s * 1000)))
    return dated


def _keep(output: Path, state: _State) -> None:
    """In one step: what is broken off amid it must still be read."""
    new = output.with_name(f"{output.name}.state.new")
    new.write_text(json.dumps(asdict(state)), "utf-8")
    new.replace(_state(output))


def _part(output: Path) -> Path:
    return output.with_name(f"{output.name}.part")


def _state(output: Path) -> Path:
    return output.with_name(f"{output.name}.state")
