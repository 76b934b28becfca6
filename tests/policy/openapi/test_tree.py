"""A document's text, whoever wrote it, and the references inside it."""

import json
import time
from pathlib import Path

import pytest

from gateway.policy.finding import Wrong
from gateway.policy.openapi.tree import Tree, read_tree
from tests.policy.openapi.documents import text

LAUGHS = "\n".join(
    ["openapi: 3.0.0", "a0: &a0 {x: y}"]
    + [
        f"a{at}: &a{at} {{<<: [{', '.join([f'*a{at - 1}'] * 10)}], list: [{', '.join([f'*a{at - 1}'] * 10)}]}}"
        for at in range(1, 12)
    ]
)


def read(directory: Path, content: str | bytes) -> Tree | Wrong:
    file = directory / "openapi.yaml"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_tree(file)


@pytest.mark.parametrize("content", [text({}), "openapi: 3.0.3\npaths: {}\n", "\ufeff" + text({})])
def test_json_and_yaml_are_read(tmp_path: Path, content: str) -> None:
    """Both forms of a document, with a byte order mark as well."""
    tree = read(tmp_path, content)

    assert isinstance(tree, Tree)
    assert tree.root["paths"] == {}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff\xfe", "is not UTF-8"),
        ("", "is no OpenAPI 3.0 or 3.1 document"),
        ("[]", "is no OpenAPI"),
        ("swagger: '2.0'", "is no OpenAPI"),
        ("openapi: 3.2.0", "is no OpenAPI"),
        ("{", ":1: this is not valid JSON"),
        ('{"openapi": ' + "9" * 5000 + "}", "is no OpenAPI"),
        ('{"a": 1, "a": 2}', "`a` stands twice"),
        ("openapi: 3.0.0\npaths:\n  /a: {}\n  /a: {}\n", "yaml:3: this is not valid YAML (`/a` stands twice)"),
        ("a: [", "this is not valid YAML"),
        ("a: \x00", "control character"),
        ("[" * 100_000, "this is not valid"),
        ('{"a": ' * 100_000, "is nested too deeply"),
        ("a: " + "{b: " * 900 + "c" + "}" * 900, "is nested too deeply"),
        ("openapi: 3.0.0\na: &a {b: *a}\n", "this is not valid YAML"),
        ("? [a]\n: b\n", "this is not valid YAML"),
    ],
    ids=range(16),
)
def test_what_is_no_document_is_told_in_one_line(tmp_path: Path, content: str | bytes, message: str) -> None:
    """Never a traceback, and never half a document."""
    tree = read(tmp_path, content)

    assert isinstance(tree, Wrong)
    assert message in tree.message
    assert "\n" not in tree.message


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    """With the reason that the system gives."""
    tree = read_tree(tmp_path / "none.json")

    assert isinstance(tree, Wrong)
    assert "No such file" in tree.message


def test_aliases_and_merge_keys_do_not_multiply(tmp_path: Path) -> None:
    """A few lines that would be 10^11 mappings stay a few lines."""
    before = time.process_time()

    tree = read(tmp_path, LAUGHS)

    assert isinstance(tree, Tree)
    assert time.process_time() - before < 1


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("#/components/circle", "leads in a circle"),
        ("#/components/none", "a mapping is wanted"),
        ("#/components/word/deeper", "a mapping is wanted"),
        ("https://evil.example/x.json#/a", "lies outside the document and was not followed"),
        ("file:///etc/passwd", "lies outside the document"),
        ("other.yaml", "lies outside the document"),
        (["#/components/good"], "lies outside the document"),
    ],
    ids=["circle", "nowhere", "through text", "remote", "file", "neighbour", "no text"],
)
def test_only_references_inside_the_document_are_followed(reference: object, message: str) -> None:
    """Nothing is fetched and no other file is opened."""
    tree = Tree({"components": {"circle": {"$ref": "#/components/circle"}, "word": "x", "good": {"a": "b"}}})

    found = tree.resolved({"$ref": reference})

    assert isinstance(found, Wrong)
    assert message in found.message


def test_a_reference_is_a_json_pointer() -> None:
    """With a slash and a tilde escaped (RFC 6901)."""
    tree = Tree({"paths": {"/a~b": {"x": "y"}}})

    assert tree.resolved({"$ref": "#/paths/~1a~0b"}) == {"x": "y"}


@pytest.mark.parametrize(
    ("reference", "is_found"),
    [
        ("#/paths/~1a~1%7Bid%7D/parameters/0", True),
        ("#/paths/~1a~1{id}/parameters/0", True),
        ("#/paths/~1a~1{id}/parameters/1", False),
        ("#/paths/~1a~1{id}/parameters/00", False),
        ("#/paths/~1a~1{id}/parameters/-1", False),
        ("#/paths/~1a~1{id}/parameters/" + "9" * 5000, False),
        ("#/paths/~1a~1{id}/parameters", False),
    ],
    ids=["escaped", "plain", "behind the end", "a zero in front", "below zero", "beyond all", "the list itself"],
)
def test_a_reference_leads_to_where_a_bundler_found_it_first(reference: str, is_found: bool) -> None:
    """Escaped as in URLs (RFC 6901, section 6), and in a list."""
    tree = Tree({"paths": {"/a/{id}": {"parameters": [{"name": "id"}]}}})

    found = tree.resolved({"$ref": reference})

    assert found == {"name": "id"} if is_found else isinstance(found, Wrong)


@pytest.mark.parametrize("is_json", [True, False], ids=["JSON", "YAML"])
def test_a_name_that_stands_twice_is_found_among_many(tmp_path: Path, is_json: bool) -> None:
    """It is looked for once, and not once for each name before it."""
    names = [*(f"n{at}" for at in range(40_000)), "n39999"]
    content = json.dumps(names)[1:-1].replace(",", ": 1,") if is_json else ": 1\n".join(names)

    tree = read(tmp_path, "{" + content + ": 1}" if is_json else content + ": 1\n")

    assert isinstance(tree, Wrong)
    assert "`n39999` stands twice" in tree.message
