"""What may stand beside what. The conflicts themselves are golden cases in `tests/cases`."""

from pathlib import Path

import pytest

from gateway.policy.load import load_policies
from tests.issuer import SECRET
from tests.policy.asking import HEAD, rules

PAIRS = {
    "different values on one pointer": ("PUT /x", "{json: {/k: a}}", "PUT /x", "{json: {/k: [b, c]}}"),
    "the text 1 and the number 1": ("PUT /x", "{json: {/k: '1'}}", "PUT /x", "{json: {/k: 1}}"),
    "true and 1": ("PUT /x", "{json: {/k: true}}", "PUT /x", "{json: {/k: 1}}"),
    "different values on one of two headers": (
        "PUT /x",
        "{header: {a: x, b: y}}",
        "PUT /x",
        "{header: {a: x, B: z}}",
    ),
    "different query values": ("PUT /x", "{query: {k: 1}}", "PUT /x", "{query: {k: 2}}"),
    "different values of one form field": ("POST /x", "{form: {k: a}}", "POST /x", "{form: {k: [b, c]}}"),
    "different fields of GraphQL": (
        "POST /x",
        "{graphql: {mutation: [a, b]}}",
        "POST /x",
        "{graphql: {mutation: c, query: a}}",
    ),
    "different operations of GraphQL": ("POST /x", "{graphql: mutation}", "POST /x", "{graphql: [query]}"),
    "with and without conditions": ("PUT /x", "{query: {k: 1}}", "PUT /x", "{}"),
    "different methods": ("PUT /x", "{}", '"POST,PATCH /x"', "{}"),
    "text and placeholder": ("PUT /x/a", "{}", '"PUT /x/{id}"', "{}"),
    "crossing placeholders": ('"PUT /x/{id}/b"', "{}", '"PUT /x/a/{id}"', "{}"),
    "one segment and the rest": ('"PUT /x/{id}"', "{}", '"PUT /x/{id...}"', "{}"),
    "with and without a slash at the end": ("PUT /x", "{}", "PUT /x/", "{}"),
    "another method in lower case": ("PUT /x", "{}", "put /x", "{}"),
}


@pytest.mark.parametrize(("one", "when", "other", "other_when"), PAIRS.values(), ids=PAIRS.keys())
def test_two_rules_with_an_order_stand_side_by_side(
    tmp_path: Path, one: str, when: str, other: str, other_when: str
) -> None:
    """Rules that no request can meet both, or of which one is more specific, need nothing further."""
    rules(
        tmp_path,
        f"{HEAD}writes:\n"
        f"  - {{name: a, match: {one}, when: {when}, resource: r}}\n"
        f"  - {{name: b, match: {other}, when: {other_when}, resource: r}}\n",
    )


@pytest.mark.parametrize(
    ("one", "other", "meets"),
    [
        ("x/{path.a}", "x/{path.b}", True),
        ("x/{path.a}", "x/{path.a}/y", False),
        ("x/{path.a}", "y/{path.a}", False),
        ("x/{path.a}", "x/7", True),
        ("x/a", "x/b", False),
        ("{path.a}", "x", True),
        ("{path.a}/b", "x/{path.a}", True),
        ("{path.a}/b", "x/c", False),
        ("x:{path.a}", "y:{path.a}", False),
        ("x:{path.a}", "x:y:{path.a}", True),
        ("{path.a}.one", "{path.a}.two", False),
        ("x-{path.a}", "x-", False),
        ("x/{path.r}", "x/{path.a}/y", True),
        ("x/{path.r}", "x/{path.a}/{path.b}", True),
        ("x/{path.r}", "y/{path.a}/y", False),
        ("x/{path.r}", "x", False),
        ("{tenant}/{path.a}", "x/{path.b}", True),
        ("x/{path.a}", "{path.a}/{path.b}", True),
        ("x/{path.a}", "{tenant}/{path.b}", True),
        ("x/{path.a}", "{path.r}", True),
        ("x-{path.a}", "{path.b}", True),
        ("x-{path.a}", "{query.r}", True),
    ],
)
def test_rules_of_two_authorities_never_share_a_resource(tmp_path: Path, one: str, other: str, meets: bool) -> None:
    """Epochs of one resource come from one place; templates that could meet are refused, whichever stands first."""
    shapes = {"lease": (one, other), "header": (other, one)}
    for at, (first, second) in enumerate(shapes.values()):
        directory = tmp_path / str(at)
        directory.mkdir()
        path = "/{a}/{b}/{r...}"
        entries = [
            f"  - {{name: {authority}, match: '{method} {path}', resource: '{text}', authority: {authority}}}\n"
            for method, text, authority in (("PUT", first, "lease"), ("POST", second, "header"))
        ]
        (directory / "policy.yaml").write_text(f"{HEAD}writes:\n{''.join(entries)}")

        assert isinstance(load_policies(directory, {}), tuple) is meets


@pytest.mark.parametrize(
    ("other", "differs"),
    [
        (f"keys: {{secret: {SECRET}}}, algorithms: HS256", False),
        (f"keys: {{secret: {SECRET}}}, algorithms: HS256, audience: fence", True),
        (f"keys: {{secret: {SECRET}0}}, algorithms: HS256", True),
    ],
    ids=["the same terms", "another audience", "another secret"],
)
def test_claims_that_are_verified_in_another_way_are_another_authority(
    tmp_path: Path, other: str, differs: bool
) -> None:
    """Two issuers of epochs for one resource would overtake each other."""
    entries = [
        f"  - {{name: {method}, match: '{method} /x/{{id}}', resource: 'x/{{path.id}}', "
        f"authority: {{signed: {{{terms}}}}}}}\n"
        for method, terms in (("PUT", f"keys: {{secret: {SECRET}}}, algorithms: HS256"), ("POST", other))
    ]
    (tmp_path / "policy.yaml").write_text(f"{HEAD}writes:\n{''.join(entries)}")

    loaded = load_policies(tmp_path, {})

    assert isinstance(loaded, tuple) is differs
    assert not differs or "`authority: signed`, HS256 with a shared secret" in str(loaded)


def test_an_upstream_for_one_host_takes_no_rule_from_the_others(tmp_path: Path) -> None:
    """A deeper mount shadows only rules of the same host: other hosts still reach the shallower one."""
    rules(
        tmp_path,
        HEAD + "writes: [{name: a, match: PUT /x/y, resource: r}]\n",
        "upstream: hosted\nurl: http://x\nmount: {path: /x, host: a.example}\n",
    )


def test_of_many_rules_alike_ten_rivals_are_told_for_each(tmp_path: Path) -> None:
    """Of thousands there would be millions of pairs, and ten say what is wrong."""
    entries = [f"  - {{name: n{at}, match: PUT /x, resource: r}}\n" for at in range(14)]
    (tmp_path / "policy.yaml").write_text(f"{HEAD}writes:\n{''.join(entries)}")

    found = load_policies(tmp_path, {})

    assert isinstance(found, tuple)
    assert len(found) == sum(min(at, 10) for at in range(14))
