"""OpenAPI documents from a few words: what the tests of this package begin with."""

import json
from pathlib import Path
from typing import Any

from gateway.policy.finding import Wrong
from gateway.policy.openapi.operation import Document, read_document


def text(paths: Any, **more: Any) -> str:
    """A document as JSON."""
    head = {"openapi": "3.1.0", "info": {"title": "Pet Store"}, "servers": [{"url": "https://api.example/v1"}]}
    return json.dumps({**head, "paths": paths, **more})


def document(directory: Path, paths: Any, *, names_all: bool = False, **more: Any) -> Document:
    """What is read of a document that is right."""
    file = directory / "openapi.json"
    file.write_text(text(paths, **more))
    read = read_document(file, names_all=names_all)
    assert not isinstance(read, Wrong), read
    return read
