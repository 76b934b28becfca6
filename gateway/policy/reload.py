"""The rule set in force, and its replacement as a whole when the files change."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gateway.policy.finding import Finding
from gateway.policy.load import PRINCIPALS, load_policies
from gateway.policy.ruleset import RuleSet

# Name, modification time in nanoseconds, size and inode of each policy file. A link that is turned to another file,
# as container platforms do it, changes the inode.
Stamps = tuple[tuple[str, int, int, int], ...]


@dataclass(frozen=True, slots=True)
class Reloaded:
    """The new set is in force."""

    upstreams: int
    rules: int


class PolicyHolder:
    """Holds the set in force. Bad, empty, half-written, unreadable and deleted files leave it as it is."""

    __slots__ = ("_directory", "_environ", "_looked", "_tried", "current")

    def __init__(self, directory: Path, environ: Mapping[str, str], current: RuleSet, tried: Stamps) -> None:
        self.current = current
        self._directory = directory
        self._environ = environ
        self._tried = tried
        self._looked = tried

    @classmethod
    def open(cls, directory: Path, environ: Mapping[str, str]) -> "PolicyHolder | tuple[Finding, ...]":
        """Load a directory for the first time, or say what is wrong with it."""
        before = stamp_files(directory)
        loaded = load_policies(directory, environ)
        return cls(directory, environ, loaded, before) if isinstance(loaded, RuleSet) else loaded

    def reload(self) -> Reloaded | tuple[Finding, ...]:
        """Read the files and put the new set in force, or leave the old one and say what is wrong."""
        before = stamp_files(self._directory)
        self._tried = self._looked = before
        loaded = load_policies(self._directory, self._environ)
        if not isinstance(loaded, RuleSet):
            return loaded
        if stamp_files(self._directory) != before:
            message = "the files changed while they were read; the old policies stay in force, reload again"
            return (Finding(str(self._directory), 1, 1, message),)
        if self.current.principals and not loaded.principals:
            # A file that was moved away by mistake must not let everybody in.
            message = "the file is gone, and anybody could call; the principals in force stay, restart to do without"
            return (Finding(str(self._directory / PRINCIPALS), 1, 1, message),)
        self.current = loaded
        return Reloaded(len(loaded.upstreams), len(loaded.entries))

    def changed(self) -> bool:
        """Whether the files are other ones than at the last `open` or `reload`, and were so at the last look too.

        The second look keeps a file out that is still being written: half of it may be a valid policy with half of its
        rules. Ask once a second; a change then shows after one to two.
        """
        now = stamp_files(self._directory)
        settled = now == self._looked
        self._looked = now
        return settled and now != self._tried


def stamp_files(directory: Path) -> Stamps:
    """What tells one state of the policy files from another without reading them. Empty if there are none."""
    stamps = []
    try:
        for path in directory.iterdir():
            if path.suffix == ".yaml" and not path.name.endswith(".test.yaml"):
                status = path.stat()
                stamps.append((path.name, status.st_mtime_ns, status.st_size, status.st_ino))
    except OSError:
        # Deleted between listing and looking, or unreadable: a state of its own, which loading then explains.
        return ()
    return tuple(sorted(stamps))
