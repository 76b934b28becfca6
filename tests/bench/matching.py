"""What matching costs under thousands of rules: the rows of `match.py`."""

import contextlib
import io
from collections.abc import Iterator

from tests.bench import match
from tests.bench.figure import Figure


def measure() -> Iterator[Figure]:
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        match.main()
    for line in said.getvalue().splitlines():
        yield read_row(line)


def read_row(line: str) -> Figure:
    """A row is `name value unit`; the name may have blanks. Raises ValueError for anything else."""
    what, value, unit = line.rsplit(maxsplit=2)
    return Figure(what.strip(), unit).of([float(value)])
