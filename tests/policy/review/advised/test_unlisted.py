"""What passes without a token on a condition, and lists nothing of what else it may say."""

from pathlib import Path

import pytest

from gateway.policy.review.advised.unlisted import unlisted_reads
from tests.policy.asking import HEAD, rules

MCP = "protocol: mcp\nmount: {path: /mcp}\n"


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ("{match: POST /x, when: {query: {dry: '1'}}}", "only: {query: [dry], json: []}"),
        ("{match: POST /x, when: {json: {/dry: true, /a: 1}}}", "only: {query: [], json: [/dry, /a]}"),
        ("{match: POST /x, when: {form: {dry: '1'}, query: {a: b}}}", "only: {query: [a], form: [dry]}"),
        ("{match: DELETE /x, when: {header: {x-dry: '1'}}}", "only: {query: [], json: []}"),
        ("{match: 'QUERY,POST /x', when: {query: {dry: '1'}}}", "only: {query: [dry], json: []}"),
        ("{match: POST /x, when: {query: {dry: '1'}}, only: {header: []}}", "only: {query: [dry], json: []}"),
        ("{match: POST /x, when: {query: {dry: '1'}}, only: {query: [dry]}}", None),
        ("{match: POST /x, when: {json: {/dry: true}}, only: {json: [/dry]}}", None),
        ("{match: POST /x}", None),
        ("{match: QUERY /x, when: {query: {dry: '1'}}}", None),
        ("{match: 'PROPFIND,SEARCH,REPORT /x', when: {header: {depth: '0'}}}", None),
        ("{match: POST /x, when: {graphql: query}}", None),
        ("{match: POST /x, when: {graphql: query, header: {x-a: '1'}}}", None),
    ],
)
def test_a_condition_without_a_list(tmp_path: Path, entry: str, told: str | None) -> None:
    """The warning shows the list to begin with. What is safe by its method, or GraphQL, needs none."""
    found = list(unlisted_reads(rules(tmp_path, f"{HEAD}read_only:\n  - {entry}\nwrites: []\n")))

    assert [one.message.partition("beginning with `")[2].removesuffix("`") for one in found] == ([told] if told else [])
    assert all((one.line, one.severity) == (4, "warning") for one in found)


def test_a_call_of_mcp_names_its_tool_in_one_place(tmp_path: Path) -> None:
    """No server reads another one beside it."""
    entries = "read_only:\n  - {match: POST /mcp, when: {tool: look}}\n  - {match: POST /mcp, when: {answer: true}}\n"

    assert list(unlisted_reads(rules(tmp_path, f"{HEAD}{MCP}{entries}writes: []\n"))) == []


@pytest.mark.parametrize("only", ["", ", only: {json: [/jsonrpc, /id, /result/action]}"])
def test_an_answer_may_say_more_than_is_looked_at(tmp_path: Path, only: str) -> None:
    """It does not say what it answers: one with a message in it is that to who asked for a message."""
    entry = f"{{match: POST /mcp, when: {{answer: true, json: {{/result/action: decline}}}}{only}}}"
    found = list(unlisted_reads(rules(tmp_path, f"{HEAD}{MCP}read_only:\n  - {entry}\nwrites: []\n")))

    assert [one.message.partition("beginning with `")[2] for one in found] == (
        [] if only else ["only: {json: [/jsonrpc, /id, /result/action]}`"]
    )
