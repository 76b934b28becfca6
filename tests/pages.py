"""Reading the pages that people rely on, so that they are compared with the code."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def rows(page: str, heading: str) -> list[list[str]]:
    """The rows of the first table whose head has a cell that is `heading`."""
    lines = page.splitlines()
    for at, line in enumerate(lines):
        if line.startswith("|") and heading in _cells(line):
            table = []
            for row in lines[at + 2 :]:
                if not row.startswith("|"):
                    break
                table.append(_cells(row))
            return table
    raise AssertionError(f"no table with {heading!r}")


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip()[1:-1].split("|")]
