"""Rules that read JSON, through a whole gateway: what names no single resource moves nothing, what does names one."""

import gzip
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.proxy.mail import proof
from tests.raw import RawAnswer, ask
from tests.stack import Stack, stack

POLICY = """
upstream: reports
url: http://localhost:{port}
mount: {{path: /}}
timeouts: {{connect: 1s, total: 5s}}
defaults: {{authority: header}}
writes:
  - {{name: one, match: POST /one, resource: "one/{{json:/r}}"}}
  - {{name: first, match: POST /first, resource: "arr/{{json:/0/r}}"}}
"""
JSON = "Content-Type: application/json"


@pytest.fixture
async def gate(store_url: str, tmp_path: Path) -> AsyncIterator[Stack]:
    async with stack(store_url, tmp_path, POLICY) as gate:
        yield gate


async def post(gate: Stack, target: str, body: bytes, *fields: str, epoch: int = 5) -> RawAnswer:
    return await ask(gate.port, "POST", target, *proof(epoch), JSON, *fields, body=body)


async def test_what_is_no_name_names_no_resource(gate: Stack) -> None:
    """True, null, nothing and a list: never a resource called `True`; an older epoch still writes afterwards."""
    bodies = (b'{"r": true}', b'{"r": null}', b"{}", b'{"r": [7]}', b"true", b"null", b"[7]")
    refused = [await post(gate, "/one", body) for body in bodies]
    written = [await post(gate, "/one", body, epoch=1) for body in (b'{"r": "true"}', b'{"r": "null"}', b'{"r": 7}')]

    assert [(one.status, one.decision) for one in refused] == [(400, "resource-unresolved")] * len(bodies)
    assert [one.decision for one in written] == ["forwarded"] * 3
    assert len(gate.upstream.seen) == 3


@pytest.mark.parametrize(
    "name", ["r\U000e0041", "r\u200b", "\u00a0r", "R"], ids=["tag", "zero width", "no-break space", "capital"]
)
async def test_a_member_with_a_twin_is_ambiguous(gate: Stack, name: str) -> None:
    """Some readers drop what nobody sees, or fold case: to them the member is there twice."""
    twins = await post(gate, "/one", f'{{"r":7,"{name}":8}}'.encode())

    assert (twins.status, twins.decision) == (400, "ambiguous-target")
    assert (await post(gate, "/one", b'{"r":7}', epoch=1)).decision == "forwarded"
    assert [seen.body for seen in gate.upstream.seen] == [b'{"r":7}']


async def test_a_coding_by_another_name_is_ambiguous(gate: Stack) -> None:
    """To servers of the CGI family `Content_Encoding` is the same field: they would read what the rule did not."""
    plain = await post(gate, "/one", b'{"r":7}', "Content_Encoding: gzip")
    coded = await post(gate, "/one", gzip.compress(b'{"r":7}', mtime=0), "Content_Encoding: gzip")

    assert [(one.status, one.decision) for one in (plain, coded)] == [(400, "ambiguous-target")] * 2
    assert gate.upstream.seen == []


async def test_a_pointer_of_a_digit_means_a_place_in_a_list(gate: Stack) -> None:
    """RFC 6901, section 4, has it name an object's member too: to an API that takes one item for a list of one, another
    value stands there."""
    named = await post(gate, "/first", b'{"0":{"r":7},"r":8}', epoch=5)
    listed = await post(gate, "/first", b'[{"r":7}]', epoch=4)

    assert (named.status, named.decision) == (400, "ambiguous-target")
    assert listed.decision == "forwarded"
    assert len(gate.upstream.seen) == 1


async def test_a_number_is_a_name_as_its_digits_alone(gate: Stack) -> None:
    """In any other spelling some readers make another text of it; a text of digits is the same name."""
    others = (b"7.0", b"7e0", b"70e-1", b"7E+0", b"-0", b"7.10", b"9007199254740993")
    refused = [await post(gate, "/one", b'{"r": %b}' % spelled) for spelled in others]
    blanks = [await post(gate, "/one", b'{"r": "%b"}' % text) for text in (b" 7", b"7 ")]
    number = await post(gate, "/one", b'{"r": 7}', epoch=5)
    text = await post(gate, "/one", b'{"r": "7"}', epoch=4)
    else_named = [await post(gate, "/one", body, epoch=3) for body in (b'{"r": "07"}', '{"r": "\uff17"}'.encode())]

    assert [(one.status, one.decision) for one in refused] == [(400, "resource-unresolved")] * len(others)
    assert [(one.status, one.decision) for one in blanks] == [(400, "ambiguous-target")] * 2
    assert (number.decision, text.decision, text.problem["resource"]) == ("forwarded", "stale-epoch", "one/7")
    assert [one.decision for one in else_named] == ["forwarded"] * 2
    assert len(gate.upstream.seen) == 3
