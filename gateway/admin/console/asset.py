"""The console's files, as they are served: read once, and named by a table, so that no path leads anywhere else."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources

PAGE = "index.html"

# A browser runs a module and applies a sheet only under these, where it may not guess (`nosniff`).
_MEDIA = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
# Enough that two releases never share one.
_TAG_BYTES = 12


@dataclass(frozen=True, slots=True)
class Asset:
    """`tag` is the strong entity tag of RFC 9110, section 8.8.3, without its quotes."""

    media: str
    tag: str
    body: bytes = field(repr=False)


def load_assets() -> Mapping[str, Asset]:
    """Every file of the console by its name."""
    files = resources.files("gateway.admin.console").joinpath("static")
    return {file.name: _asset(file.name, file.read_bytes()) for file in files.iterdir() if _ending(file.name) in _MEDIA}


def _asset(name: str, body: bytes) -> Asset:
    return Asset(_MEDIA[_ending(name)], hashlib.blake2b(body, digest_size=_TAG_BYTES).hexdigest(), body)


def _ending(name: str) -> str:
    return name[name.rfind(".") :]
