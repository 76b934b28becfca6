"""Credentials: `${env:NAME}` and `${file:/path}` replaced by their values, which are shown nowhere."""

import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from gateway.policy.finding import Wrong

_REFERENCE = re.compile(r"\$\{([^{}]*)\}")
# A key or a signed token is a few kilobytes; a larger file is the wrong one.
_FILE_LENGTH = 64 << 10

# Modification time in nanoseconds, size and inode of a file, as `stamp_of` sees it; None where there is none.
Stamp = tuple[int, int, int] | None


class Secrets:
    """Where credentials come from: the environment as it was handed in, and files, each read once.

    `stamps` has the files that were asked for, readable or not, each as it was just before it was read; those of TLS
    are among them, which are read for each upstream's connections. `kept`: what
    files held before, for those that hold nothing usable now.
    """

    __slots__ = ("_environ", "_files", "_kept", "stamps")

    def __init__(self, environ: Mapping[str, str], kept: Mapping[str, str] = MappingProxyType({})) -> None:
        self._environ = environ
        self._kept = kept
        self._files: dict[str, str | Wrong] = {}
        self.stamps: dict[str, Stamp] = {}

    @property
    def contents(self) -> dict[str, str]:
        """What the files hold, as far as it is usable."""
        return {name: text for name, text in self._files.items() if isinstance(text, str)}

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

    def watch(self, name: str) -> Stamp:
        """The state of a file that is read elsewhere; it changes the policies as one of credentials does."""
        return self.stamps.setdefault(name, stamp_of(Path(name)))

    def _value(self, reference: str) -> str | Wrong:
        kind, _, name = reference.partition(":")
        if kind == "env" and name:
            value = self._environ.get(name)
            return value or Wrong(f"the environment variable {name} is not set, or empty; set it before the start")
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


def readable_file(name: str) -> str | Wrong:
    """The path itself, if it can be read now: an unreadable certificate shows at load and not at the first write."""
    try:
        with Path(name).open("rb"):
            return name
    except OSError as error:
        return Wrong(f"{name} cannot be read ({error.strerror}); name a file that the gateway can read")
