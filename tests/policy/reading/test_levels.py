"""How deep JSON nests, told from its bytes."""

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.policy.reading.levels import nests_deeper

# A text with each of these would end too early, too late or never, and a bracket in it would count.
TEXTS = st.text('[]{}"\\a\n\u00e9\U0001f600', max_size=6)
JSON = st.recursive(
    st.one_of(st.none(), st.integers(-9, 9), TEXTS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=12,
)


def levels(value: object) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inner is None else 1 + max(map(levels, inner), default=0)


@given(JSON, st.booleans())
@settings(max_examples=100)
def test_it_is_what_a_parser_finds(value: object, plain: bool) -> None:
    """Whatever stands in its texts, escaped or not."""
    body = json.dumps(value, ensure_ascii=plain).encode()

    assert [most for most in range(10) if nests_deeper(body, most)] == list(range(min(levels(value), 10)))


@pytest.mark.parametrize(
    ("body", "deep"),
    [
        (b"[" * 64 + b"]" * 64, False),
        (b"[" * 65 + b"]" * 65, True),
        (b'{"a":' * 65 + b"1" + b"}" * 65, True),
        (b'[{"a":' * 32 + b"1" + b"}]" * 32, False),
        (b"[" + b"[]," * 300_000 + b"[" * 64 + b"]" * 64 + b"]", True),
        (b"[" + b"[]," * 300_000 + b"[" * 63 + b"]" * 63 + b"]", False),
        (b'["' + b"\\\\" * 70 + b'",' + b"[" * 64 + b"]" * 64 + b"]", True),
        (b'["' + b"\\\\" * 70 + b'\\"' + b"[" * 64 + b'"]', False),
    ],
    ids=[
        "64 lists", "65 lists", "65 objects", "both kinds", "behind many", "behind many, in bounds",
        "a text that ends in a backslash", "a text that ends behind an escaped quote",
    ],
)  # fmt: skip
def test_sixty_four_levels_are_told_from_more(body: bytes, deep: bool) -> None:
    """However long it is."""
    assert nests_deeper(body, 64) is deep


@pytest.mark.parametrize(
    "piece",
    [b"[", b"[]", b"]", b'"', b'\\"', b"\\\\", b"\\", b'"["', b'["a"],', b'{"a":""},'],
    ids=[
        "open", "pairs", "closed", "quotes", "escaped quotes", "pairs of backslashes", "backslashes",
        "brackets in texts", "texts in brackets", "objects",
    ],
)  # fmt: skip
def test_it_takes_time_that_grows_with_the_body(piece: bytes) -> None:
    """A MiB of anything takes twenty milliseconds; its square would take hours."""
    body = b"[]" * 70 + piece * ((1 << 20) // len(piece))
    begun = time.process_time()
    nests_deeper(body, 64)

    assert time.process_time() - begun < 1
