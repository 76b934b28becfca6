"""Whether a process that is not the test's own child still runs."""

from pathlib import Path


def is_alive(pid: int) -> bool:
    """One that ended and that nobody has waited for yet does not run."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
