"""A gateway's memory of its stores, kept in its data directory: after a restart of everything at once it tells whether
the store that comes back has what it acknowledged.
"""

import contextlib
import fcntl
import json
import os
import secrets
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs

from gateway.core.loss import Remembered
from gateway.store.loss.incarnation import Places

_FILE = "store-marks.json"
_LOCK = "store-marks.lock"
# Who changes stores every day wants to know of the last few.
_STORES = 20
_NAME_BYTES = 6

_Stores = dict[str, dict[str, tuple[str, int]]]

_NAME_ONE = "name a directory of this gateway's own with --data-dir, or what is lost while it is down is not noticed"


class KeptMarks:
    """The file of one gateway, for one of its stores. `process`: the name under which it leaves its marks there."""

    def __init__(self, directory: Path, store: str, process: str, stores: _Stores, lock: int) -> None:
        self.process = process
        self._path = directory / _FILE
        self._store = store
        self._stores = stores
        self._lock = lock

    @classmethod
    def open(cls, directory: Path, store: str, note: Callable[[str], None], *, make: bool = True) -> "KeptMarks | None":
        """`make`: also the directory, where it is missing. None where it cannot be used, or another gateway keeps its
        marks there; `note` is told why.
        """
        try:
            if make:
                directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = os.open(directory / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            note(f"no marks of the store are kept: {directory} cannot be used ({error.strerror}); {_NAME_ONE}")
            return None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            note(f"no marks of the store are kept: another gateway keeps its own in {directory}; {_NAME_ONE}")
            return None
        process, stores = _read(directory / _FILE, note)
        return cls(directory, store, process, stores, lock)

    @property
    def remembered(self) -> Places:
        """By the shard that stands for a server."""
        return {place: Remembered(*known) for place, known in self._stores.get(self._store, {}).items()}

    def keep(self, known: Places) -> None:
        """Bring it to the disk. Blocks; raises OSError."""
        # The store in use is the last one.
        self._stores.pop(self._store, None)
        self._stores[self._store] = {place: (one.incarnation, one.mark) for place, one in known.items()}
        while len(self._stores) > _STORES:
            del self._stores[next(iter(self._stores))]
        beside = self._path.with_suffix(".new")
        with beside.open("w", encoding="utf-8") as file:
            json.dump({"process": self.process, "stores": self._stores}, file)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(self._path)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            os.close(self._lock)


def are_alone(directory: Path) -> bool:
    """Whether marks of a store elsewhere are all that a data directory holds."""
    try:
        names = {path.name for path in directory.iterdir()}
    except OSError:
        return False
    return bool(names) and names <= {_FILE, _LOCK}


def name_of(url: str) -> str:
    """A store as its URL names it, without what may be a secret."""
    rest, _, query = url.partition("?")
    scheme, _, place = rest.partition("://")
    database = parse_qs(query).get("db", ["0"])[0]
    return f"{scheme}://{place.rpartition('@')[2]}?db={database}"


def _read(path: Path, note: Callable[[str], None]) -> tuple[str, _Stores]:
    try:
        document = json.loads(path.read_bytes())
        stores = {
            str(store): {str(place): (str(known[0]), int(known[1])) for place, known in places.items()}
            for store, places in document["stores"].items()
        }
        return str(document["process"]), stores
    except FileNotFoundError:
        pass
    except (OSError, ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
        note(f"the marks of the store that were kept in {path} cannot be read, and new ones are: {error!r}")
    return f"kept-{secrets.token_hex(_NAME_BYTES)}", {}
