"""What a policy closes of writes: chosen as a rule is, and protected from other spellings likewise."""

import json

import pytest

from gateway.core.caller import Caller
from gateway.core.decision import NO_POLICY, Refused
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import HEAD, name_of, request, rules

POLICY = """\
mount: {path: /m, delimiters: opaque}
read_only: [{match: "POST /m/issue/{id}/preview"}]
closed:
  - match: PUT,DELETE /m/issue/archive
  - match: "PUT /m/issue/{id}"
    when: {json: {/update/links: {present: true}}}
  - match: "PUT /m/issue/{id}"
    when: {header: {x-kind: bulk}}
  - match: "POST /m/form/{id}"
    when: {form: {sudo: {present: true}}}
  - match: "POST /m/form/{id}"
    when: {form: {field: {present: true}}}
  - match: "POST /m/open/{id}"
  - when: {query: {sudo: {present: true}}}
writes:
  - {name: edit, match: "PUT,DELETE /m/issue/{id}", resource: "issue/{path.id}"}
  - {name: own, match: "PUT /m/issue/{id}", resource: "issue/{path.id}", when: {header: {x-kind: [own, bulk]}}}
  - {name: form, match: "POST /m/form/{id}", resource: "form/{path.id}"}
  - {name: fixed, match: "POST /m/open/fixed", resource: open}
  - {name: asked, match: "POST /m/open/{id}", resource: open, when: {header: {x-kind: own}}}
"""
FORM = ("Content-Type", "application/x-www-form-urlencoded")
TEXT = ("Content-Type", "text/plain")
PARTS = ("Content-Type", "multipart/form-data; boundary=b")


@pytest.fixture(scope="module")
def ruleset(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    return rules(tmp_path_factory.mktemp("closed"), HEAD + POLICY)


@pytest.mark.parametrize(
    ("method", "target", "found"),
    [
        ("PUT", "/m/issue/archive", "no-policy"),
        ("DELETE", "/m/issue/archive", "no-policy"),
        ("PATCH", "/m/issue/archive", "no-policy"),
        ("PUT", "/m/issue/7", "edit"),
        ("PUT", "/m/issue/Archive", "ambiguous-target"),
        ("PUT", "/m/issue/%61rchive", "no-policy"),
        ("PUT", "/m/issue/%2561rchive", "ambiguous-target"),
        ("PUT", "/m/issue/archive%20", "ambiguous-target"),
        ("PUT", "/m/issue/arch%20ive", "ambiguous-target"),
        ("PUT", "/m/issue/arch%2Bive", "ambiguous-target"),
        ("PUT", "/m/issue/arch%20ives", "edit"),
        ("GET", "/m/issue/archive", "read"),
        ("POST", "/m/open/7", "no-policy"),
        ("POST", "/m/open/fixed", "fixed"),
        ("POST", "/m/issue/7/preview", "read"),
        ("POST", "/m/issue/7/preview?sudo=1", "no-policy"),
        ("PUT", "/m/issue/7?sudo", "no-policy"),
        ("PUT", "/m/issue/7?Sudo=1", "ambiguous-target"),
        ("PUT", "/m/issue/7?sudo=1;", "ambiguous-target"),
        ("PUT", "/m/issue/7??sudo=1", "ambiguous-target"),
        ("PUT", "/m/issue/7?sudo%2B=1", "ambiguous-target"),
        ("PUT", "/m/issue/7?__checkbox_sudo=1", "ambiguous-target"),
        ("PUT", "/m/issue/7?sudoer=1", "edit"),
        ("PUT", "/m/issue/7?su=do", "edit"),
        ("PUT", "/m/issue/archive.data", "ambiguous-target"),
        ("DELETE", "/m/issue/archive.json", "ambiguous-target"),
        ("PUT", "/m/issue/Archive%2Edata", "ambiguous-target"),
        ("PATCH", "/m/issue/archive.data", "no-policy"),
        ("PUT", "/m/issue/7.data", "edit"),
        ("PUT", "/m/issue/archives.data", "edit"),
        ("PUT", "/m/issue/.data", "edit"),
        ("PUT", "/m/issue/archive%3Fx", "ambiguous-target"),
        ("PUT", "/m/issue/archive%23", "ambiguous-target"),
        ("PUT", "/m/issue/archive%2520x", "ambiguous-target"),
        ("PUT", "/m/issue/7%3Fx%20sudo=1", "edit"),
        ("PUT", "/m/issue/7%3Fsudo%20HTTP", "ambiguous-target"),
        ("PUT", "/m/issue/Archive%26x", "ambiguous-target"),
        ("PUT", "/m/issue/7%26sudo=1", "ambiguous-target"),
        ("PUT", "/m/issue/7&sudo", "ambiguous-target"),
        ("PUT", "/m/issue/7%3Farchive", "edit"),
        ("PUT", "/m/issue/R%26D", "edit"),
        ("POST", "/m/issue/7%26a/preview", "read"),
        ("POST", "/m/issue/7%26sudo=1/preview", "ambiguous-target"),
        ("PUT", "/m/issue/7%252F8", "edit"),
        ("PUT", "/m/issue/7%252F8?sudo=1", "no-policy"),
    ],
)
def test_what_is_closed_is_chosen_as_a_rule_is(ruleset: RuleSet, method: str, target: str, found: str) -> None:
    """The more specific one wins; another spelling of a closed path falls to no looser rule."""
    assert name_of(ruleset.match(request(method, target), Caller())) == found


def test_a_condition_that_closes_comes_before_one_that_opens(ruleset: RuleSet) -> None:
    """Of entries with the same path; one without a condition leaves to a rule what that names."""
    bulk, own = (request("PUT", "/m/issue/7", ("x-kind", kind)) for kind in ("bulk", "own"))
    asked = request("POST", "/m/open/7", ("x-kind", "own"))

    assert [name_of(ruleset.match(one, Caller())) for one in (bulk, own, asked)] == ["no-policy", "own", "asked"]


@pytest.mark.parametrize(
    ("target", "found"),
    [("/m/a.php/b?sudo=1", "no-policy"), ("/m/issue/7?sudo", "no-policy"), ("/m/issue/7", "bad-request")],
)
def test_a_handshake_is_closed_as_a_read_is(ruleset: RuleSet, target: str, found: str) -> None:
    """Though no rule lets it switch: what is refused is the request."""
    asked = request("GET", target, ("Upgrade", "websocket"), ("Connection", "Upgrade"))

    assert name_of(ruleset.match(asked, Caller())) == found


def test_the_log_names_what_closes_a_write(ruleset: RuleSet) -> None:
    """The caller is told that the policy does, and not where."""
    found = ruleset.match(request("PUT", "/m/issue/archive"), Caller())

    assert isinstance(found, Refused)
    assert found.decision is NO_POLICY
    assert "closes this write" in found.detail
    assert "policy0.yaml" not in found.detail
    assert found.why is not None
    assert found.why.endswith(" at policy0.yaml:6")


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ({"fields": {"links": 1}}, "edit"),
        ({"update": {}}, "edit"),
        ({"update": "links"}, "edit"),
        ({"update": {"links": None}}, "no-policy"),
        ({"update": {"links": []}}, "no-policy"),
        ({"update": {"links": [{"add": {}}]}}, "no-policy"),
        ({"update": {"links": "x\0"}}, "no-policy"),
        ({"update": {"Links": []}}, "ambiguous-target"),
        ({"Update": {"links": []}}, "ambiguous-target"),
        ({"update.links": []}, "ambiguous-target"),
        ({"update+": {"links": []}}, "ambiguous-target"),
        ({"update": {"links@odata.bind": []}}, "ambiguous-target"),
        ({"$set": {"update": {"links": []}}}, "ambiguous-target"),
        ({"$set": {"update.fields": []}}, "edit"),
        ({"a": {"links": []}, "update": {"$ref": "$.a"}}, "ambiguous-target"),
        ({"a": {"links": []}, "b": {"$ref": "$.a"}}, "edit"),
        ({"update": [{"links": []}]}, "ambiguous-target"),
        ({"update": []}, "ambiguous-target"),
        ({"update": ' {"links": []}'}, "ambiguous-target"),
        ({"update": "[1]"}, "ambiguous-target"),
        ({"update": None}, "edit"),
        ([], "ambiguous-target"),
        ([{"update": {"links": []}}], "ambiguous-target"),
        ('{"update": {"links": []}}', "ambiguous-target"),
        ("x", "edit"),
        (None, "edit"),
    ],
    ids=repr,
)
def test_a_member_is_there_whatever_its_value(ruleset: RuleSet, body: object, found: str) -> None:
    """Null, empty, a list or an object; another spelling of a name on the way is refused, as with values."""
    assert name_of(ruleset.match(request("PUT", "/m/issue/7", body=json.dumps(body)), Caller())) == found


@pytest.mark.parametrize(
    ("header", "body", "found"),
    [
        (FORM, "fields=1", "edit"),
        (FORM, "update=1", "ambiguous-target"),
        (FORM, "update[links][]=1", "ambiguous-target"),
        (PARTS, '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\nx\r\n--b--\r\n', "edit"),
        (PARTS, '--b\r\nContent-Disposition: form-data; name="update"\r\n\r\nx\r\n--b--\r\n', "ambiguous-target"),
        (TEXT, '{"a": 1}', "ambiguous-target"),
        (("Content-Type", "application/vnd.api+json"), "{}", "ambiguous-target"),
        (("Content-Type", "application/xml"), "<update><links/></update>", "ambiguous-target"),
        (("Content-Type", "application/x-yaml"), "update: {links: []}\n", "ambiguous-target"),
        (("Content-Type", "application/yaml"), "update: {links: []}\n", "ambiguous-target"),
        (("Content-Type", "application/json"), "{", "ambiguous-target"),
        (("Content-Type", "application/json"), None, "needs body"),
        (FORM, None, "needs body"),
        (("Content-Length", "0"), None, "edit"),
    ],
)
def test_a_body_of_another_type_has_no_member(
    ruleset: RuleSet, header: tuple[str, str], body: str | None, found: str
) -> None:
    """A form may not have the name at its top; what is neither JSON nor a form could be either. No body has none."""
    assert name_of(ruleset.match(request("PUT", "/m/issue/7", header, body=body), Caller())) == found


@pytest.mark.parametrize(
    ("header", "body", "found"),
    [
        (FORM, "a=1", "form"),
        (FORM, "sudo=", "no-policy"),
        (FORM, "sudo", "ambiguous-target"),
        (FORM, "!sudo=1", "ambiguous-target"),
        (FORM, "sudo:int=1", "ambiguous-target"),
        (FORM, "sudo%2B=1", "ambiguous-target"),
        (FORM, "__checkbox_sudo=1", "ambiguous-target"),
        (FORM, "$set[sudo]=1", "ambiguous-target"),
        (FORM, "$set[title]=1", "form"),
        (FORM, "Sudo=1", "ambiguous-target"),
        (PARTS, '--b\r\nContent-Disposition: form-data; name="sudo"\r\n\r\nx\r\n--b--\r\n', "ambiguous-target"),
        (("Content-Type", "application/json"), '{"a": 1}', "form"),
        (("Content-Type", "application/json"), '{"sudo": 1}', "ambiguous-target"),
        (("Content-Type", "application/json"), '{"$sudo": 1}', "ambiguous-target"),
        (("Content-Type", "application/json"), '{"$set": {"sudo": 1}}', "ambiguous-target"),
        (("Content-Type", "application/json"), '{"a": "sudo & x", "b": "y & sudo!"}', "form"),
        (("Content-Type", "application/json"), "[", "ambiguous-target"),
        (TEXT, "a=1", "ambiguous-target"),
        (("Content-Length", "0"), None, "form"),
    ],
)
def test_a_field_is_there_whatever_its_value(
    ruleset: RuleSet, header: tuple[str, str], body: str | None, found: str
) -> None:
    """JSON may not have the name at its top, nor a part of a multipart body."""
    assert name_of(ruleset.match(request("POST", "/m/form/7", header, body=body), Caller())) == found


@pytest.mark.parametrize(
    ("header", "body"),
    [
        (("Content-Length", "0"), None),
        (FORM, ""),
        (FORM, "a=1"),
        (PARTS, '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\nx\r\n--b--\r\n'),
        (("Content-Type", "application/json"), "{}"),
    ],
    ids=["no body", "an empty form", "a form", "parts", "json"],
)
@pytest.mark.parametrize(
    ("method", "target", "more"),
    [
        ("POST", "/m/form/7?field=1", ()),
        ("POST", "/m/form/7?Field[]=1", ()),
        ("POST", "/m/form/7", (("Cookie", "field=1"),)),
        ("PUT", "/m/issue/7?update=1", ()),
        ("PUT", "/m/issue/7?update[links]=1", ()),
    ],
)
def test_what_a_body_may_not_have_no_query_has(
    ruleset: RuleSet, method: str, target: str, more: tuple[tuple[str, str], ...], header: tuple[str, str], body: str
) -> None:
    """Whatever body comes, or none: PHP, Tomcat and Rails keep the names of both in one map."""
    found = ruleset.match(request(method, target, header, *more, body=body), Caller())
    plain = ruleset.match(request(method, f"{target.partition('?')[0]}?x=1", header, body=body), Caller())

    assert (name_of(found), name_of(plain)) == ("ambiguous-target", "form" if method == "POST" else "edit")
