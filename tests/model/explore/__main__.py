"""`python -m tests.model.explore`: explores worlds, and says how many states they have. Exit code 1 where a promise was
broken, with the shortest way there.
"""

import sys
import tempfile
from pathlib import Path

import click

from gateway.store.embedded import find_server
from tests.model.explore.run import run
from tests.model.explore.worlds import LARGE, SMALL
from tests.store.server import Server

_WORLDS = {**SMALL, **LARGE}


@click.command()
@click.option("--world", "names", multiple=True, type=click.Choice(list(_WORLDS)), help="Which; all without it.")
@click.option("--depth", type=click.IntRange(1), help="No more steps than this.")
@click.option("--most", type=click.IntRange(1), help="No further, once it has so many states.")
def main(names: tuple[str, ...], depth: int | None, most: int | None) -> None:
    """Explore worlds to their ends."""
    with tempfile.TemporaryDirectory(prefix="explore-") as directory:
        server = Server(find_server(), Path(directory), "--save", "", "--appendonly", "no")
        server.start()
        try:
            broken = [name for name in names or _WORLDS if not _holds(server.url, name, depth, most)]
        finally:
            server.kill()
    sys.exit(1 if broken else 0)


def _holds(url: str, name: str, depth: int | None, most: int | None) -> bool:
    explored = run(url, _WORLDS[name], depth=depth, most=most)
    print(f"{name}: {explored}", flush=True)
    if explored.violation is not None:
        print(explored.violation, flush=True)
    return explored.violation is None


if __name__ == "__main__":
    main()
