"""Forms as web frameworks read them: what is forwarded names to each of them what it names to the rules.

The rows were sent to Flask, Bottle, Django, Starlette, Tornado, aiohttp, Falcon, Litestar, Express, Koa, Fastify, Hono,
h3, PHP, Rack and ASP.NET MVC: of what is forwarded they found the same id. (Bottle reads UTF-8 as Latin-1.)
"""

import pytest

from gateway.core.caller import NOBODY
from gateway.policy.review.answer import answer
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import HEAD, request, rules

RULES = f"""{HEAD}writes:
  - {{name: doc, match: POST /docs, resource: "doc/{{form.id}}"}}
  - {{name: update, match: POST /docs/update, resource: "doc/{{form.Id}}"}}
"""
FORM = ("Content-Type", "application/x-www-form-urlencoded")
UTF8 = ("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")


@pytest.fixture(scope="module")
def ruleset(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    return rules(tmp_path_factory.mktemp("framework-forms"), RULES)


@pytest.mark.parametrize(
    ("body", "name"),
    [
        *((body, "7") for body in ("id=7", "id=7&=8", "=8&id=7", "id=7&&", "&id=7", "id=7&x", "id=7&id2=8", "i%64=7")),
        ("id==7", "=7"),
        ("id=7=8", "7=8"),
        ("id=7,8", "7,8"),
        ("id=7#id=8", "7#id=8"),
        ("id=7?id=8", "7?id=8"),
        ("id=a+b", "a b"),
        ("id=a%2Bb", "a+b"),
        ('id="7"', '"7"'),
        ("id=07", "07"),
        ("id=%26%2355%3B", "&#55;"),
        ("id=%EF%BC%97", "\uff17"),
        ("id=%5B7%5D", "[7]"),
        ("id=@/etc/passwd", "@%2Fetc%2Fpasswd"),
        # Members of other objects, and of every object in JavaScript.
        ("id=7&a[id]=8", "7"),
        ("id=7&a%5Bid%5D=8", "7"),
        ("a[0]=1&id=7", "7"),
        ("id=7&__proto__[id]=8", "7"),
        ("__proto__%5Bid%5D=8&id=7", "7"),
        ("id=7&constructor.id=8", "7"),
        ("hasOwnProperty=1&id=7&length=0", "7"),
        # A line does not end a field, and Rails' mark of UTF-8 is one like any other.
        ("x=1\nid=8&id=7", "7"),
        ("x=1\r\n&id=7", "7"),
        ("utf8=%26%2310003%3B&id=7", "7"),
        # Of many fields, and large ones, all count.
        ("".join(f"a{number}=&" for number in range(999)) + "id=7", "7"),
        ("id=7&" + "a" * 100_000 + "=1", "7"),
        ("x=" + "a" * 1_100_000 + "&id=7", "7"),
    ],
    ids=lambda value: ascii(value)[:40],
)
def test_a_form_names_one_thing(ruleset: RuleSet, body: str, name: str) -> None:
    """With and without a charset."""
    for field in (FORM, UTF8):
        told = answer(ruleset, request("POST", "/docs", field, body=body), NOBODY)

        assert (told.decision, told.resource) == ("forwarded", f"doc/{name}")


@pytest.mark.parametrize(
    "body",
    [
        *("id=7&id", "id=7&i%64=8", "id=7&%69%64=7", "id=7&id%5B%5D=8", "id=7&id.x=8", "id=7&[id]=8", "id=7&ID=8"),
        *("id=7&%20id=8", "id=7&id%20=8", " id=7", "+id=8&id=7", "id+=8&id=7", "i+d=8&id=7", "id=7&i%2Bd=8"),
        *("id%09=8&id=7", "id=7&\tid=8", "id=7&id%0A=8", "\nid=7", "id=7&id%00=8", "id=7&\0id=8"),
        *("?id=7", "&?id=8&id=7", "id=7&#id=8", "id=7&id%3D8", "id%3D8&id=7", "id=7&id%26=8"),
        *("id=7&id%C2%AD=8", "id=7&%EF%BB%BFid=8", "%EF%BB%BFid=7", "id=7&id%E2%80%8B=8"),
        *("id=7\n", "id=7\r\n", "id=7 ", "id=7%00", "id=7%0A", "id=7%20", "id=%207", "id=7%C2%A0", "id=&#55;"),
        *('{"id":8}', 'id=7&{"id":8}', '{"id":8,"x":"&id=7"}', "id=7&<id>8</id>", "id=7&_charset_=x"),
    ],
    ids=ascii,
)
def test_what_one_of_them_reads_otherwise_is_refused(ruleset: RuleSet, body: str) -> None:
    """Another spelling of the name, a value that some of them trim, and what begins as JSON does."""
    told = answer(ruleset, request("POST", "/docs", FORM, body=body), NOBODY)

    assert (told.decision, told.resource) == ("ambiguous-target", None)


@pytest.mark.parametrize(
    ("body", "decision"),
    [
        *((f"Id=7{more}", "forwarded") for more in ("", "&=8", "&8", "&Id2=8", "&IDX=1", "&a=%26Id=8", "&a\nId=8")),
        ("Id=7&Id%EF%BC%9D8", "forwarded"),
        *((f"Id=7{more}", "ambiguous-target") for more in ("&D%u006fc.Id=8", "&a=%u0026Id=8", "&__Id=8", "&id=8")),
        *((body, "ambiguous-target") for body in ("Id=7\r\n", "Id=7%u0000", "%u0049d=7", "id=7")),
    ],
    ids=ascii,
)
def test_asp_net_finds_no_second_name(ruleset: RuleSet, body: str, decision: str) -> None:
    """Its decoder reads `%u0026` as `&`, and its names know no case."""
    told = answer(ruleset, request("POST", "/docs/update", FORM, body=body), NOBODY)

    assert (told.decision, told.resource) == (decision, "doc/7" if decision == "forwarded" else None)
