"""Two upstreams of one server, of which one's paths lead to what the other is for."""

from pathlib import Path

import pytest

from gateway.policy.review.advised.one_server import one_server
from tests.policy.asking import rules

SERVER = "http://app.internal:8000"


def upstream(name: str, mount: str, match: str, resource: str, *, base: str = "", more: str = "") -> str:
    """A policy with one rule; `more` are further lines at its top."""
    return (
        f"upstream: {name}\nurl: {SERVER}{base}\nmount: {mount}\n{more}"
        f"writes: [{{name: {name}-write, match: '{match}', resource: '{resource}'}}]\n"
    )


SHOP = "{path: /shop, strip: true}"
ADMIN = "{path: /shop-admin, strip: true}"
DENIES = "reads: deny\n"
CLOSES = "closed: [{match: '%s /shop/admin/{rest...}'}]\n"


def told(directory: Path, *files: str) -> list[str]:
    """Of each warning the rule, and what it is about."""
    found = [finding.message for finding in one_server(rules(directory, *files))]
    return [f"{message.split('`')[1]} {'reads' if 'lets reads' in message else 'takes'}" for message in found]


@pytest.mark.parametrize(
    ("match", "resource", "more", "wanted"),
    [
        ("POST /shop/{kind}/{id}", "s/{path.kind}/{path.id}", "", ["shop-write takes", "shop reads"]),
        ("POST /shop/{path...}", "s", "", ["shop-write takes", "shop reads"]),
        ("POST /shop/admin/{id}", "s", "", ["shop-write takes", "shop reads"]),
        ("POST /shop/{kind}/{id}", "s/{path.kind}", "reads: deny\n", ["shop-write takes"]),
        ("POST /shop/{kind}/{id}", "s/{path.kind}", CLOSES % "POST", ["shop reads"]),
        ("POST /shop/{kind}/{id}", "s/{path.kind}", CLOSES % "POST,GET", []),
        ("POST /shop/docs/{id}", "s/{path.id}", "", ["shop reads"]),
        ("PUT /shop/{kind}/{id}", "s/{path.kind}", "", ["shop-write takes", "shop reads"]),
        ("POST /shop/{kind}", "s", DENIES, ["shop-write takes"]),
        ("POST /shop/docs", "s", DENIES, []),
    ],
    ids=[
        *("by its placeholders", "by a rest", "by text", "without reads", "closed", "closed with reads", "reads alone"),
        *("what the other closes", "the path itself", "another path"),
    ],
)
def test_a_path_that_leads_to_anothers_api_is_told(
    tmp_path: Path, match: str, resource: str, more: str, wanted: list[str]
) -> None:
    """`/shop/admin/7` is forwarded as `/shop-admin/7` is: one write, and two fences, or none."""
    shop = upstream("shop", SHOP, match, resource, more=more)
    admin = upstream("adm", ADMIN, "POST /shop-admin/{id}", "adm/{path.id}", base="/admin", more=DENIES)

    assert told(tmp_path, shop, admin) == wanted


@pytest.mark.parametrize(
    ("one", "other", "wanted"),
    [
        (
            upstream("a", "{path: /a}", "PUT /a/{id}", "a/{path.id}"),
            upstream("b", "{path: /b}", "PUT /b/{id}", "b/{path.id}"),
            [],
        ),
        (
            upstream("a", "{path: /}", "PUT /{path...}", "a"),
            upstream("b", "{path: /b}", "PUT /b/{id}", "b/{path.id}"),
            [],
        ),
        (
            upstream("a", "{path: /a, strip: true}", "PUT /a/docs/{id}", "a/{path.id}"),
            upstream("b", "{path: /b, strip: true}", "PUT /b/docs/{id}", "b/{path.id}"),
            ["a-write takes", "b-write takes"],
        ),
        (
            upstream("a", "{path: /a, strip: true}", "PUT /a/docs/{id}", "doc/{path.id}"),
            upstream("b", "{path: /b, strip: true}", "PUT /b/docs/{number}", "doc/{path.number}"),
            [],
        ),
        (
            upstream("a", "{path: /a, strip: true}", "PUT /a/docs/{id}", "a/{path.id}"),
            upstream("b", "{path: /b, strip: true}", "PUT /b/notes/{id}", "b/{path.id}"),
            [],
        ),
        (
            upstream("a", "{path: /, host: a.example}", "PUT /docs/{id}", "a/{path.id}", more="host: preserve\n"),
            upstream("b", "{path: /, host: b.example}", "PUT /docs/{id}", "b/{path.id}", more="host: preserve\n"),
            [],
        ),
        (
            upstream("a", "{path: /, host: a.example}", "PUT /docs/{id}", "a/{path.id}"),
            upstream("b", "{path: /, host: b.example}", "PUT /docs/{id}", "b/{path.id}"),
            ["a-write takes", "b-write takes"],
        ),
        (
            upstream("a", "{path: /a}", "PUT /a/{path...}", "a", base="/x"),
            upstream("b", "{path: /b, strip: true}", "PUT /b/{id}", "b/{path.id}", base="/x/a/c"),
            ["a-write takes"],
        ),
    ],
    ids=[
        *("beside each other", "one below the other", "one API twice", "one resource", "parts of one API"),
        *("sites of a server", "one site by two names", "mounts that are not dropped"),
    ],
)
def test_upstreams_that_are_told_apart_are_fine(tmp_path: Path, one: str, other: str, wanted: list[str]) -> None:
    """By the server's own paths or sites, or because both give a thing one resource."""
    assert told(tmp_path, one, other) == wanted
