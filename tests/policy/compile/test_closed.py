"""Which requests the entries of `closed` take."""

from pathlib import Path

import pytest

from tests.policy.asking import HEAD, rules

OPEN = """\
mount: {path: /m}
read_only: [{match: POST /m/search}]
writes:
  - {name: edit, match: ["PUT /m/docs/{id}", "DELETE /m/docs/{id}"], resource: doc}
  - {name: same, match: "PUT /m/docs/{other}", when: {header: {x-a: a}}, resource: doc}
  - {name: talk, match: "GET /m/rooms/{id}", upgrade: websocket, resource: room}
"""


@pytest.mark.parametrize(
    ("when", "reads"),
    [("{query: {a: {present: true}}}", True), ("{header: {x-b: b}}", True), ("{json: {/a: {present: true}}}", False)],
)
def test_without_a_match_it_takes_what_the_others_take(tmp_path: Path, when: str, reads: bool) -> None:
    """Each path once; reads too, unless it looks at a body, which is none of a read's."""
    (closed,) = rules(tmp_path, HEAD + OPEN + f"closed: [{{when: {when}}}]\n").closed
    taken = [(pattern.methods, pattern.text.partition(" ")[2]) for pattern in closed.matcher.patterns]

    assert closed.anywhere
    assert closed.closes_reads is reads
    of_reads = [(("GET", "HEAD", "OPTIONS"), path) for path in ("/m", "/m/{rest...}")]
    assert taken == [
        (("PUT",), "/m/docs/{other}"),
        (("DELETE",), "/m/docs/{id}"),
        *([(("GET",), "/m/rooms/{id}")] if reads else []),
        (("POST",), "/m/search"),
        *(of_reads if reads else []),
    ]


@pytest.mark.parametrize(
    ("match", "methods"),
    [
        ("GET /m/a", ("GET", "HEAD", "OPTIONS")),
        ("GET,HEAD,PUT /m/a", ("GET", "HEAD", "PUT", "OPTIONS")),
        ("HEAD /m/a", ("HEAD",)),
        ("OPTIONS,POST /m/a", ("OPTIONS", "POST")),
    ],
)
def test_who_closes_a_get_closes_what_servers_take_for_it(tmp_path: Path, match: str, methods: tuple[str, ...]) -> None:
    """HEAD is routed as GET (RFC 9110, section 9.3.2), and PHP and CGI run a program at OPTIONS, too."""
    (closed,) = rules(tmp_path, HEAD + OPEN + f"closed: [{{match: '{match}'}}]\n").closed

    assert [pattern.methods for pattern in closed.matcher.patterns] == [methods]
