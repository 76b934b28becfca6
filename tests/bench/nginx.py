"""Two servers of nginx: the API that everything is measured in front of, and the yardstick."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from string import Template

from tests.bench.packages import nginx_modules
from tests.bench.process import children, free_port, serving
from tests.bench.store import Store
from tests.bench.subject import Subject

_CONFIGURATIONS = Path(__file__).parent / "yardstick"


@dataclass(frozen=True, slots=True)
class Yardstick:
    """One worker: it fences and deduplicates by scripts, and beside that is a plain reverse proxy."""

    fenced: Subject
    plain: Subject


@contextlib.contextmanager
def upstream(directory: Path, store: Store) -> Iterator[Subject]:
    """The API. `store` is only named, for what it uses while the API is under load."""
    port = free_port()
    with _nginx("upstream", directory, port) as pids:
        yield Subject("the API itself", port, pids, store)


@contextlib.contextmanager
def yardstick(directory: Path, api: Subject, store: Store) -> Iterator[Yardstick]:
    port, plain_port = free_port(), free_port()
    with _nginx(
        "fenced",
        directory,
        port,
        plain_port=plain_port,
        upstream_port=api.port,
        store_port=store.port,
        modules=nginx_modules(),
        scripts=_CONFIGURATIONS,
    ) as pids:
        fenced = Subject("nginx, fenced", port, pids, store)
        yield Yardstick(fenced, Subject("nginx, a plain proxy", plain_port, pids, store))


@contextlib.contextmanager
def _nginx(name: str, directory: Path, port: int, **values: object) -> Iterator[tuple[int, ...]]:
    text = (_CONFIGURATIONS / f"{name}.conf").read_text()
    written = directory / f"{name}.conf"
    written.write_text(Template(text).substitute(values, port=port, directory=directory))
    command = ["nginx", "-e", "stderr", "-p", str(directory), "-c", str(written)]
    with serving(command, directory / f"{name}.log", port) as master:
        yield children(master)
