"""A copy of the policy files that are in force, from which the workers read them.

An operator edits the files while the gateway runs. A worker that is started in that moment, because another died, must
come up with the policies in force and not fail on a file that is half written; and all workers must have the same.
"""

import shutil
from pathlib import Path

from gateway.policy.finding import Finding
from gateway.policy.load import policy_files
from gateway.policy.reload import stamp_files


class Snapshot:
    """Copies of `source` under the private directory `target`; `current` names the one in force."""

    def __init__(self, source: Path, target: Path) -> None:
        self._source = source
        self._target = target
        self._number = 0
        self.current = target / "current"

    def take(self) -> bool:
        """Put a copy of the files in force as a whole. False, and nothing changed, if they changed meanwhile.

        Raises OSError where there is no room for it: nothing changed then either.
        """
        before = stamp_files(self._source)
        copy = self._target / str(self._number + 1)
        # One that could not be finished may be there.
        shutil.rmtree(copy, ignore_errors=True)
        try:
            self._copy(copy)
            if not before or stamp_files(self._source) != before:
                shutil.rmtree(copy)
                return False
            self._put_in_force(copy)
        except OSError:
            if stamp_files(self._source) != before:
                # Deleted or closed to us a moment ago: a change like any other.
                return False
            raise
        # A worker may be reading the last one; those before it nobody reads.
        shutil.rmtree(self._target / str(self._number - 1), ignore_errors=True)
        self._number += 1
        return True

    def _copy(self, copy: Path) -> None:
        copy.mkdir(mode=0o700)
        files = policy_files(self._source)
        for path in () if isinstance(files, Finding) else files:
            shutil.copyfile(path, copy / path.name)

    def _put_in_force(self, copy: Path) -> None:
        link = self._target / "next"
        link.unlink(missing_ok=True)
        link.symlink_to(copy.name)
        link.replace(self.current)
