"""The rule set in force, and its replacement as a whole when the files change."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from gateway.policy.finding import Finding
from gateway.policy.itself import Listeners
from gateway.policy.load import PRINCIPALS, Loaded, load_with
from gateway.policy.renamed import moved_upstreams, renamed_resources
from gateway.policy.ruleset import RuleSet
from gateway.policy.secret import Secrets, Stamp, stamp_of

# The policy files by name, or the files of credentials that they name by path.
Stamps = tuple[tuple[str, Stamp], ...]


@dataclass(frozen=True, slots=True)
class Reloaded:
    """The new set is in force. `tenants_gone`: nobody is of these any more, whose intents may still be kept.
    `rules_renaming`: these find another resource in the same requests than before, as UPSTREAM/RULE. `upstreams_moved`:
    these have another `mount.host`.
    """

    upstreams: int
    rules: int
    tenants_gone: tuple[str, ...] = ()
    rules_renaming: tuple[str, ...] = ()
    upstreams_moved: tuple[str, ...] = ()


class PolicyHolder:
    """Holds the set in force. Bad, empty, half-written, unreadable and deleted files leave it as it is.

    The files of credentials that policies name count as if they were written into them; `credentials` is what those of
    the set in force hold.
    """

    __slots__ = (
        "_compiled",
        "_directory",
        "_environ",
        "_look",
        "_looked",
        "_tried",
        "credentials",
        "current",
        "listeners",
    )

    def __init__(
        self, directory: Path, environ: Mapping[str, str], loaded: Loaded, tried: Stamps, secrets: Secrets
    ) -> None:
        self.current: RuleSet = loaded.rules
        self._compiled = loaded.compiled
        self.credentials = secrets.contents
        self._directory = directory
        self._environ = environ
        self.listeners: Listeners = ()
        self._look: Callable[[], object] | None = None
        self._tried = self._looked = tried, tuple(secrets.stamps.items())

    @classmethod
    def open(
        cls,
        directory: Path,
        environ: Mapping[str, str],
        kept: Mapping[str, str] | None = None,
        listeners: Listeners = (),
    ) -> "PolicyHolder | tuple[Finding, ...]":
        """Load a directory for the first time, or say what is wrong with it.

        `kept`: the `credentials` of a holder that has it in force, for files that are gone since. `listeners`: where
        the gateway listens, which no upstream may name, now or after a reload.
        """
        before, secrets = stamp_files(directory), Secrets(environ, kept or {})
        loaded = load_with(directory, secrets, listeners)
        if not isinstance(loaded, Loaded):
            return loaded
        holder = cls(directory, environ, loaded, before, secrets)
        holder.listeners = listeners
        return holder

    def reload(self, *, keeps: bool = False) -> Reloaded | tuple[Finding, ...]:
        """Read the files and put the new set in force, or leave the old one and say what is wrong.

        Rules are compiled only where they, or their credentials, are other ones than those in force. `keeps`: files of
        credentials that are gone are no fault, as at an `open`.
        """
        before, secrets = stamp_files(self._directory), Secrets(self._environ, self.credentials if keeps else {})
        read = load_with(self._directory, secrets, self.listeners, self._compiled)
        self._tried = self._looked = before, tuple(secrets.stamps.items())
        if not isinstance(read, Loaded):
            return read
        loaded = read.rules
        if stamp_files(self._directory) != before:
            message = "the files changed while they were read; the old policies stay in force, reload again"
            return (Finding(str(self._directory), 1, 1, message),)
        if self.current.principals and not loaded.principals:
            # A file that was moved away by mistake must not let everybody in.
            message = "the file is gone, and anybody could call; the principals in force stay, restart to do without"
            return (Finding(str(self._directory / PRINCIPALS), 1, 1, message),)
        gone = self.current.principals.tenants() - loaded.principals.tenants()
        former = self.current
        if self._look is not None:
            loaded.watched_by(self._look)
        self.current, self._compiled, self.credentials = loaded, read.compiled, secrets.contents
        # Only now: whoever finds the former one over asks for the one in force.
        former.end()
        renaming = () if read.is_reused else renamed_resources(former, loaded)
        moved = () if read.is_reused else moved_upstreams(former, loaded)
        return Reloaded(len(loaded.upstreams), len(loaded.entries), tuple(sorted(gone)), renaming, moved)

    def watched_by(self, look: Callable[[], object]) -> None:
        """As `RuleSet.watched_by`, of this set and of those that follow."""
        self._look = look
        self.current.watched_by(look)

    @property
    def is_current(self) -> bool:
        """Whether the last look, at an `open` or `reload` or since, found the files that were read then."""
        return self._looked == self._tried

    def changed(self) -> bool:
        """Whether the files are other ones than at the last `open` or `reload`, and were so at the last look too.

        The second look keeps a file out that is still being written: half of it may be a valid policy with half of its
        rules, and half of a key is no key. A change shows at the second look after it, at the latest at the third.
        """
        _, credentials = self._tried
        now = stamp_files(self._directory), tuple((name, stamp_of(Path(name))) for name, _ in credentials)
        settled = now == self._looked
        self._looked = now
        return settled and now != self._tried


def stamp_files(directory: Path) -> Stamps:
    """What tells one state of the policy files from another without reading them. Empty if there are none."""
    stamps = []
    try:
        for path in directory.iterdir():
            if path.suffix == ".yaml" and not path.name.endswith(".test.yaml"):
                stamps.append((path.name, stamp_of(path)))
    except OSError:
        # Unreadable: a state of its own, which loading then explains.
        return ()
    return tuple(sorted(stamps))
