"""Directories among the policies, in which nothing is read: rules there do not count, and principals are nobody's."""

from pathlib import Path

from gateway.policy.finding import Finding
from gateway.policy.load import PRINCIPALS


def unread_directories(directory: Path) -> tuple[Finding, ...]:
    """A warning for each that has files of policies in it. Those that begin with a dot are the system's own: of a
    mounted ConfigMap they hold its files a second time.
    """
    found = (directory / name for name in _names_in(directory) if not name.startswith("."))
    return tuple(_warning(path, name) for path in found if (name := _first(path)) is not None)


def _names_in(directory: Path) -> list[str]:
    """None where it is no directory; what cannot be read there is no fault of what can be read here."""
    try:
        return sorted(path.name for path in directory.iterdir())
    except OSError:
        return []


def _first(directory: Path) -> str | None:
    """The file whose loss would be the worst."""
    names = [name for name in _names_in(directory) if Path(name).suffix in (".yaml", ".yml")]
    return PRINCIPALS if PRINCIPALS in names else next(iter(names), None)


def _warning(directory: Path, name: str) -> Finding:
    if name == PRINCIPALS:
        told = "nobody in it may call, and without another one everybody may"
    else:
        told = "no rule in it counts"
    message = f"`{name}` in this directory is not read: {told}; let it stand beside the other policies"
    return Finding(str(directory), 1, 1, message, "warning")
