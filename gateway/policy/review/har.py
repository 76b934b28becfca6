"""HTTP archives (HAR 1.2), as browsers and proxies record them: the requests in them, and nothing of the answers."""

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gateway.core.request import Headers
from gateway.policy.finding import Wrong

# Answers with their bodies are in the file too; the bound keeps it from filling the memory.
_FILE_LENGTH = 256 << 20


@dataclass(frozen=True, slots=True)
class Recorded:
    """One request. `url` as recorded, without a fragment. `body` is None where there was one and it was not kept."""

    method: str
    url: str
    headers: Headers
    body: bytes | None


def read_har(path: Path) -> tuple[Recorded, ...] | Wrong:
    """Every request of an archive, in its order. Wrong: unreadable, too large, malformed, or no archive."""
    try:
        with path.open("rb") as file:
            content = file.read(_FILE_LENGTH + 1)
        if len(content) > _FILE_LENGTH:
            return Wrong(f"{path} is larger than {_FILE_LENGTH >> 20} MiB; record without the answers' bodies")
        archive = json.loads(content.decode("utf-8-sig"))
    except OSError as error:
        return Wrong(f"{path} cannot be read ({error.strerror}); make it readable")
    except UnicodeDecodeError:
        return Wrong(f"{path} is not UTF-8; name a HAR file")
    except ValueError as error:
        return Wrong(f"{path} is not valid JSON ({error}); was it cut off? Record it again")
    except RecursionError:
        return Wrong(f"{path} is nested too deeply; name a HAR file")
    log = archive.get("log") if isinstance(archive, Mapping) else None
    entries = log.get("entries") if isinstance(log, Mapping) else None
    if not isinstance(entries, list):
        return Wrong(f"{path} has no `log.entries`; name a HAR file")
    return _recorded(path, entries)


def _recorded(path: Path, entries: list[object]) -> tuple[Recorded, ...] | Wrong:
    every: list[Recorded] = []
    for at, entry in enumerate(entries):
        recorded = _one(entry)
        if recorded is None:
            return Wrong(f"{path}: entry {at} of `log.entries` has no request with a method and a URL; remove it")
        every.append(recorded)
    return tuple(every)


def _one(entry: object) -> Recorded | None:
    request = entry.get("request") if isinstance(entry, Mapping) else None
    if not isinstance(request, Mapping):
        return None
    method, url = request.get("method"), request.get("url")
    if not isinstance(method, str) or not isinstance(url, str) or not method or "://" not in url:
        return None
    return Recorded(method, url.partition("#")[0], _headers(request.get("headers")), _body(request))


def _headers(listed: object) -> Headers:
    """As sent; the fields of HTTP/2 that begin with a colon are its request line."""
    pairs = []
    for header in listed if isinstance(listed, list) else ():
        name, value = (header.get("name"), header.get("value")) if isinstance(header, Mapping) else (None, None)
        if isinstance(name, str) and isinstance(value, str) and not name.startswith(":"):
            pairs.append((name.encode("utf-8", "replace"), value.encode("utf-8", "replace")))
    return Headers(pairs)


def _body(request: Mapping[str, object]) -> bytes | None:
    data = request.get("postData")
    text = data.get("text") if isinstance(data, Mapping) else None
    if not isinstance(data, Mapping) or not isinstance(text, str):
        size = request.get("bodySize")
        return None if data is not None or (isinstance(size, int) and size > 0) else b""
    if data.get("encoding") != "base64":
        return text.encode("utf-8", "replace")
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
