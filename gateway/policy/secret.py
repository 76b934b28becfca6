"""Credentials: `${env:NAME}` and `${file:/path}` replaced by their values, which are shown nowhere."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from gateway.policy.finding import Wrong

_REFERENCE = re.compile(r"\$\{([^{}]*)\}")
# A key or a signed token is a few kilobytes; a larger file is the wrong one.
_FILE_LENGTH = 64 << 10
# A system's bundle of authorities is a fifth of it.
_DOCUMENT_LENGTH = 1 << 20
# No file's name, which is absolute, begins so.
_WHOLE = "whole "
# The system's calls take none, and Python's do not even call.
_HAS_NUL = Wrong("no file's name has a NUL in it; write the name of one that is there")

# Modification time in nanoseconds, size and inode of a file, as `stamp_of` sees it; None where there is none.
Stamp = tuple[int, int, int] | None


class Secrets:
    """Where credentials come from: the environment as it was handed in, and files, each read once.

    `stamps` has the files that were asked for, readable or not, each as it was just before it was read. `kept`: what
    files held before, for those that hold nothing usable now.
    """

    __slots__ = ("_documents", "_environ", "_files", "_kept", "stamps")

    def __init__(self, environ: Mapping[str, str], kept: Mapping[str, str] = MappingProxyType({})) -> None:
        self._environ = environ
        self._kept = kept
        self._files: dict[str, str | Wrong] = {}
        self._documents: dict[str, str] = {}
        self.stamps: dict[str, Stamp] = {}

    @property
    def contents(self) -> dict[str, str]:
        """What the files hold, as far as it is usable."""
        return {name: text for name, text in self._files.items() if isinstance(text, str)} | self._documents

    def still_hold(self, contents: Mapping[str, str]) -> bool:
        """Whether the files that these `contents` were read of hold the same now; then they count as read."""
        again = Secrets(self._environ)
        if any(again._again(name) != text for name, text in contents.items()):
            return False
        self._files |= again._files
        self._documents |= again._documents
        self.stamps |= again.stamps
        return True

    def expand(self, text: str) -> str | Wrong:
        """`text` with every reference replaced; a literal text passes as it is."""
        expanded: list[str] = []
        for at, piece in enumerate(_REFERENCE.split(text)):
            value = self._value(piece) if at % 2 else piece
            if isinstance(value, Wrong):
                return value
            if at % 2 == 0 and "${" in value:
                return Wrong("`${` is never closed; write `${env:NAME}` or `${file:/path}`")
            expanded.append(value)
        return "".join(expanded)

    def documents(self, names: Sequence[str], fault: Callable[[], Wrong | None]) -> tuple[bytes, ...] | Wrong:
        """What files hold that are of use together or not at all, such as a certificate and its key, byte for byte.

        `fault` says what is wrong with them now, if anything; then it is what they held before, where that is kept.
        """
        found = self._read_all(names, fault)
        if isinstance(found, Wrong):
            kept = [self._kept[_WHOLE + name].encode("latin-1") for name in names if _WHOLE + name in self._kept]
            if len(kept) < len(names):
                return found
            found = tuple(kept)
        self._documents |= {_WHOLE + name: held.decode("latin-1") for name, held in zip(names, found, strict=True)}
        return found

    def _read_all(self, names: Sequence[str], fault: Callable[[], Wrong | None]) -> tuple[bytes, ...] | Wrong:
        if any("\0" in name for name in names):
            return _HAS_NUL
        before = [stamp_of(Path(name)) for name in names]
        for name, stamp in zip(names, before, strict=True):
            # Before they are read: a file that changes meanwhile is another one at the next look.
            self.stamps.setdefault(name, stamp)
        held = []
        for name in names:
            read = _read_document(name)
            if isinstance(read, Wrong):
                return read
            held.append(read)
        wrong = fault()
        if wrong is None and [stamp_of(Path(name)) for name in names] != before:
            wrong = Wrong(f"{' and '.join(names)} changed while they were read; they are read again")
        return tuple(held) if wrong is None else wrong

    def _again(self, name: str) -> str | Wrong:
        """What a file holds by now, under the name that it has in `contents`."""
        if not name.startswith(_WHOLE):
            return self._value(f"file:{name}")
        held = self.documents((name.removeprefix(_WHOLE),), lambda: None)
        return held if isinstance(held, Wrong) else held[0].decode("latin-1")

    def _value(self, reference: str) -> str | Wrong:
        kind, _, name = reference.partition(":")
        if kind == "env" and name:
            value = self._environ.get(name)
            return value or Wrong(f"the environment variable {name} is not set, or empty; set it before the start")
        if kind == "file" and "\0" in name:
            return _HAS_NUL
        if kind == "file" and name:
            if name not in self._files:
                self.stamps[name] = stamp_of(Path(name))
                read = _read_file(name)
                self._files[name] = self._kept.get(name, read) if isinstance(read, Wrong) else read
            return self._files[name]
        return Wrong("only `${env:NAME}` and `${file:/path}` are replaced; write one of them")


def stamp_of(path: Path) -> Stamp:
    """What tells one state of a file from another without reading it.

    A link that is turned to another file, as container platforms do it, changes the inode.
    """
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _read_file(name: str) -> str | Wrong:
    path = Path(name)
    if not path.is_absolute():
        return Wrong(f"`{name}` is not an absolute path; begin it with a slash")
    try:
        with path.open("rb") as file:
            content = file.read(_FILE_LENGTH + 1)
        text = content.decode("utf-8")
    except OSError as error:
        return Wrong(f"{name} cannot be read ({error.strerror}); make it readable for the gateway")
    except UnicodeDecodeError:
        return Wrong(f"{name} is not text; name a file that holds the credential alone")
    text = text.removesuffix("\n").removesuffix("\r")
    if not text or len(content) > _FILE_LENGTH:
        return Wrong(f"{name} is empty or too large; name a file that holds the credential alone")
    return text


def _read_document(name: str) -> bytes | Wrong:
    try:
        with Path(name).open("rb") as file:
            content = file.read(_DOCUMENT_LENGTH + 1)
    except OSError as error:
        return Wrong(f"{name} cannot be read ({error.strerror}); name a file that the gateway can read")
    return content if len(content) <= _DOCUMENT_LENGTH else Wrong(f"{name} is too large; name the right file")
