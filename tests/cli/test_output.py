"""What the commands print for people."""

import json

import pytest

from gateway.cli.output import (
    Item,
    columns,
    heads_of,
    plain,
    print_json,
    print_list,
    print_members,
    print_table,
    with_something,
)

HOSTILE = "evil\x1b[2J\r\nname\x00\x9b31m\u202e\u200b"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("report/7", "report/7"),
        ("Bericht é 7 日本", "Bericht é 7 日本"),
        (HOSTILE, r"evil\x1b[2J\r\nname\x00\x9b31m\u202e\u200b"),
        ("\udcff", r"\udcff"),
        (None, "-"),
        ("", "-"),
        (0, "0"),
    ],
    ids=["a name", "any language", "control characters", "half a character", "nothing", "empty", "zero"],
)
def test_a_value_cannot_command_a_terminal(value: object, shown: str) -> None:
    """What would move the cursor, hide text or turn it around is shown as its escape."""
    assert plain(value) == shown


def test_json_cannot_command_a_terminal_either(capsys: pytest.CaptureFixture[str]) -> None:
    """Its own escapes are for less than half of what a terminal obeys, and it is the same document."""
    document = {"note": "\x1b[2J\x9b2J\u202e\u2028\U000e0001 caf\u00e9", "list": [1, {}]}

    print_json(document)

    shown = capsys.readouterr().out
    assert json.loads(shown) == document
    assert "caf\u00e9" in shown
    assert all(char.isprintable() for line in shown.splitlines() for char in line)


def test_columns_are_aligned(capsys: pytest.CaptureFixture[str]) -> None:
    """By their widest cell, a hostile one's escape included; no line ends in blanks."""
    print_table(("ID", "RESOURCE", "REASON"), [("1", "r\n", "x"), ("22", "report/7", None), ("3", "a", "long " * 9)])

    assert capsys.readouterr().out == (
        "ID  RESOURCE  REASON\n"
        "1   r\\n       x\n"
        "22  report/7  -\n"
        "3   a         long long long long long long long long long\n"
    )  # fmt: skip


def test_on_a_terminal_empty_columns_are_left_out() -> None:
    """There is no room for them; a zero is something."""
    cells = [("ID", "KEY", "ATTEMPTS"), ("1", "-", "0"), ("2", "-", "-")]

    assert with_something(cells) == [["ID", "ATTEMPTS"], ["1", "0"], ["2", "-"]]
    assert with_something([("ID", "KEY")]) == [["ID", "KEY"]]


def test_members_are_lines(capsys: pytest.CaptureFixture[str]) -> None:
    """One each, whatever is in it."""
    nested = {"ttl_s": 5, "é": "\x1b", "by": None, "holder": "a, ttl_s 6", "live": True}
    print_members({
        "id": "1", "holder": "a\nb", "lease": nested, "evidence": {"id": 7}, "tickets": [], "since": False, "key": None,
    })  # fmt: skip

    assert capsys.readouterr().out == (
        "id        1\n"
        "holder    a\\nb\n"
        'lease     ttl_s 5, é "\\u001b", holder "a, ttl_s 6", live yes\n'
        'evidence  {"id": 7}\n'
        "tickets   []\n"
        "since     no\n"
        "key       -\n"
    )  # fmt: skip


ITEMS = [{"id": "a", "created_at": "today"}, {"id": "b"}]


@pytest.mark.parametrize(
    ("items", "as_json", "shown"),
    [
        (ITEMS, False, "ID  CREATED\na   today\nb   -\n"),
        ([], False, "Nothing is here.\n"),
        ([], True, "[]\n"),
        (ITEMS[1:], True, '[\n  {\n    "id": "b"\n  }\n]\n'),
    ],
    ids=["a table", "nothing", "nothing in JSON", "JSON"],
)
def test_a_list_is_a_table_or_a_document(
    items: list[Item], as_json: bool, shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """People are told that it is empty; a script reads an empty list."""
    members = ("id", "created_at")

    print_list(items, heads_of(members), columns(members), "Nothing is here.", as_json=as_json)

    assert capsys.readouterr().out == shown
