"""JSON under a closed list: what some reader would find more in, or otherwise, than the list allows."""

from pathlib import Path

import pytest

from gateway.core.caller import NOBODY
from gateway.policy.review.answer import answer
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import HEAD, request, rules

POLICY = f"""{HEAD}mount: {{path: /docs, bodies: [json]}}
writes:
  - name: write
    match: PUT /docs/{{id}}
    resource: doc/{{path.id}}
    values: integer
    only: {{query: [], json: [/title, {{/mode: [soft, hard]}}], header: []}}
"""
PLAIN = b'{"title": "a"}'
DOUBTFUL = {
    "a byte order mark": b"\xef\xbb\xbf" + PLAIN,
    "UTF-16": PLAIN.decode().encode("utf-16"),
    "UTF-16 without its mark": PLAIN.decode().encode("utf-16-le"),
    "a comma more": b'{"title": "a",}',
    "something behind": PLAIN + b" x",
    "two values": PLAIN + b'{"purge": 1}',
    "no number": b'{"title": NaN}',
    "infinity": b'{"title": -Infinity}',
    "a number beyond all": b'{"title": 1e999}',
    "a leading zero": b'{"title": 01}',
    "5,000 digits": b'{"title": ' + b"1" * 5000 + b"}",
    "a comment": b'{/* "purge": 1, */ "title": "a"}',
    "single quotes": b"{'title': 'a'}",
    "a name twice": b'{"title": "a", "title": "b"}',
    "a name twice in an escape": b'{"title": "a", "t\\u0069tle": "b"}',
    "a name twice further down": b'{"title": {"a": 1, "a": 2}}',
    "half a character": b'{"title": "\\ud800"}',
    "half a character as bytes": b'{"title": "\xed\xa0\x80"}',
    "what is not UTF-8": b'{"title": "\xff"}',
    "a line end in a text": b'{"title": "a\nb"}',
    "a NUL in a name": b'{"title\\u0000": "a"}',
    "overlong UTF-8": b'{"title": "\xc1\xa1"}',
    "a control character": b'{"title": "a\x01"}',
    "an escape in a word": b'{"title": tru\\u0065}',
    "blanks alone": b" ",
    **{f"{mark!r} before it": mark + PLAIN for mark in (b"\0", b"\x0b", b"\x0c", b"\xc2\xa0", b"\xe2\x80\xa8")},
    **{f"{mark!r} behind it": PLAIN + mark for mark in (b"\0", b"\x0b", b"\x0c", b"\xc2\xa0")},
    "100,000 brackets": b"[" * 100_000,
    "5,000 objects in each other": b'{"title": ' * 5000 + b"1" + b"}" * 5000,
    "5,000 lists in each other": b'{"title": ' + b"[" * 5000 + b"]" * 5000 + b"}",
}
UNLISTED = [
    *(b'{"title": "a", "\\u0070urge": 1}', b'{"Title": "a"}', b'{"": 1}', b'{"title ": 1}', b'{"/title": 1}'),
    *(b'[{"title": "a"}]', b"null", b'"x"', b"7", b"true"),
    *(b'{"mode": %b}' % value for value in (b'"SOFT"', b'["soft"]', b'"soft\\u0000"', b'"soft "', b'{"soft": 1}')),
]  # fmt: skip


@pytest.fixture
def ruleset(tmp_path: Path) -> RuleSet:
    return rules(tmp_path, POLICY)


@pytest.mark.parametrize("body", DOUBTFUL.values(), ids=DOUBTFUL)
def test_json_that_readers_take_differently_is_ambiguous(ruleset: RuleSet, body: bytes) -> None:
    assert answer(ruleset, request("PUT", "/docs/7", body=body), NOBODY).decision == "ambiguous-target"


@pytest.mark.parametrize("body", UNLISTED)
def test_what_says_more_than_the_list_is_refused(ruleset: RuleSet, body: bytes) -> None:
    """A name, a value or a shape that is not in it."""
    assert answer(ruleset, request("PUT", "/docs/7", body=body), NOBODY).decision == "no-policy"


@pytest.mark.parametrize(
    "title", [b'"a"', b"-0", b"1.0E+2", b'{"a": [1, null]}', b'"\\ud83d\\ude00"', b'"<b>\\"&amp;"']
)
def test_plain_json_is_forwarded(ruleset: RuleSet, title: bytes) -> None:
    """Whatever stands at a listed name."""
    body = b'{"title": %b, "mode": "soft"}' % title

    assert answer(ruleset, request("PUT", "/docs/7", body=body), NOBODY).decision == "forwarded"
