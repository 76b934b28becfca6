"""Names and comments from a stranger's text."""

import pytest
import yaml

from gateway.policy.openapi.wording import comment, placeholder_name, rule_name, scalar, upstream_name


@pytest.mark.parametrize(
    ("title", "name"),
    [("Pet Store (v2)", "pet-store-v2"), ("", "api"), ("Ünïcode", "n-code"), ("-", "api"), ("a" * 90, "a" * 40)],
)
def test_an_upstreams_name_fits_a_mount(title: str, name: str) -> None:
    """Lower case, digits and dashes, whatever the title."""
    assert upstream_name(title) == name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("createPet", "createPet"),
        ("put-/pets/{id}", "put-pets-id"),
        ("日本", "rule"),
        ("..a", "a"),
        ("a" * 90, "a" * 64),
    ],
)
def test_a_rules_name_is_allowed(text: str, name: str) -> None:
    """As policies demand it."""
    assert rule_name(text, set()) == name


def test_a_name_is_taken_once() -> None:
    """The second gets a number, within the length."""
    taken: set[str] = set()

    assert [rule_name("a" * 90, taken)[-3:] for _ in range(3)] == ["aaa", "a-2", "a-3"]
    assert max(map(len, taken)) == 64
    assert [placeholder_name("petId", taken) for _ in range(2)] == ["pet_id", "pet_id_2"]


@pytest.mark.parametrize(
    ("text", "name"),
    [("petId", "pet_id"), ("pet-id", "pet_id"), ("7", "p_7"), ("", "part"), ("Ω", "part"), ("_x", "x")],
)
def test_a_placeholder_is_lower_case(text: str, name: str) -> None:
    """As patterns demand it."""
    assert placeholder_name(text, set()) == name


@pytest.mark.parametrize(
    ("text", "line"),
    [("a\n  - evil: 1", "a - evil: 1"), ("\u2028\x85\ufeff\x00", ""), ("🐶", "🐶"), ("x" * 200, "x" * 97 + "...")],
    ids=["lines", "controls", "emoji", "long"],
)
def test_a_comment_stays_one_line(text: str, line: str) -> None:
    """Nothing in it ends the comment."""
    assert comment(text) == line


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("/a/b", "/a/b"),
        ("POST /a", "POST /a"),
        ("a.b-c_d", "a.b-c_d"),
        ("No", '"No"'),
        ("7", '"7"'),
        ("a: b", '"a: b"'),
        ("/é", '"/é"'),
        ("😀", '"😀"'),
        ('a"b', '"a\\"b"'),
        ("a\nb", '"a\\nb"'),
        ("", '""'),
    ],
)
def test_a_value_is_the_same_text_to_yaml(text: str, written: str) -> None:
    """Quoted where it would be something else; a pair of escapes would be two characters."""
    assert scalar(text) == written
    assert yaml.safe_load(written) == text
