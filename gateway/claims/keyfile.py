"""Keys from a file, read again when it changes."""

from collections.abc import Callable
from pathlib import Path

from gateway.claims.fault import LONGEST, KeyFault
from gateway.claims.keys import Key, KeySet, read_keys
from gateway.core.rule import Algorithm

# A look costs a system call, a change is wanted soon; policies are looked at as often.
_LOOK_EVERY_S = 1.0

_Stamp = tuple[int, int, int]


def read_key_file(path: str) -> KeySet | KeyFault:
    """The keys that the file holds now."""
    try:
        with Path(path).open("rb") as file:
            content = file.read(LONGEST + 1)
    except OSError as error:
        return KeyFault(f"it cannot be read ({error.strerror})")
    return read_keys(content) if len(content) <= LONGEST else KeyFault("it is too large for a file of keys")


class FileKeys:
    """The keys of one file. One that is gone, unreadable or half written leaves the last good ones in force.

    `kept`: what it held when it was last good, nothing where nobody knows; `now` is monotonic, in seconds; `told` is
    given each fault once.
    """

    def __init__(self, path: str, now: Callable[[], float], told: Callable[[str], None], kept: bytes = b"") -> None:
        self._path = path
        self._kept = kept
        self._now = now
        self._told = told
        self._keys: KeySet | None = None
        self._stamp: _Stamp | None = None
        self._look_at: float | None = None

    async def find(self, algorithm: Algorithm, key_id: str | None) -> tuple[Key, ...] | None:
        """The keys that fit; None while none can be had at all."""
        if self._look_at is None or self._now() >= self._look_at:
            self._look_at = self._now() + _LOOK_EVERY_S
            self._look()
        return None if self._keys is None else self._keys.fitting(algorithm, key_id)

    def _look(self) -> None:
        stamp = _stamp(self._path)
        if stamp == self._stamp and self._keys is not None:
            return
        read = read_key_file(self._path)
        if isinstance(read, KeySet):
            self._keys = read
        elif stamp != self._stamp or self._keys is None:
            self._told(f"the keys in {self._path} were not read: {read.why}")
            if self._keys is None:
                self._keys = self._kept_keys()
        self._stamp = stamp

    def _kept_keys(self) -> KeySet | None:
        kept = read_keys(self._kept)
        return kept if isinstance(kept, KeySet) else None


def _stamp(path: str) -> _Stamp | None:
    try:
        status = Path(path).stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
