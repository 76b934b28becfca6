"""Targets reach the upstream byte for byte or are refused; none of their spellings gets around the fence."""

from pathlib import Path

import pytest

from tests.raw import ask
from tests.recording import RecordingUpstream
from tests.stack import POLICY, stack

# A report's name may have any character.
ANY = POLICY + "    values: any\n"
OPAQUE = POLICY.replace("path: /reports", "path: /reports, encoded_slash: opaque")
STRIPPED = ANY.replace("path: /reports", "path: /reports, strip: true").replace("{port}", "{port}/base")


@pytest.mark.parametrize("method", ["GET", "PUT"])
@pytest.mark.parametrize(
    ("target", "resource"),
    [
        ("/reports/a%3Ab", "report/a:b"),
        ("/reports/%41", "report/A"),
        ("/reports/a%20b", "report/a b"),
        ("/reports/%C3%A9", "report/é"),
        ("/reports/~a!$'()*,=@:b", "report/~a!$'()*,=@:b"),
        ("/reports/a%2Bb", "report/a+b"),
        ("/reports/7?b=2&a=1&b=3&uploads&sig=%E9%FF&s=1;2&q=a%20b+c%2B", "report/7"),
        ("/reports/7?", "report/7"),
        ("/reports/7?a?b=//x/../y", "report/7"),
        ("/reports/...", "report/..."),
    ],
)
async def test_a_target_is_forwarded_as_it_came(
    store_url: str, tmp_path: Path, method: str, target: str, resource: str
) -> None:
    """Neither decoded nor sorted nor spelled anew."""
    async with stack(store_url, tmp_path, ANY) as gate:
        assert (await gate.lease(resource)).status == 201
        answer = await gate.write(target, method=method)

        assert answer.status == 200
        assert [seen.line for seen in gate.upstream.seen] == [f"{method} {target} HTTP/1.1"]


@pytest.mark.parametrize("method", ["GET", "PUT"])
@pytest.mark.parametrize(
    "target",
    [
        "/x/../reports/7",
        "/reports//7",
        "//reports/7",
        "/reports/./7",
        "/reports/x/../7",
        "/reports/%2e%2e/reports/7",
        "/reports/.%2E/reports/7",
        "/reports/7;v=1",
        "/reports/7%3Bv=1",
        "/reports/7%5C",
        "/reports/7%00",
        "/reports/7%0A",
        "/reports/7%FF",
        "/reports/7%",
        "/reports/7%2",
        "/reports/7%zz",
        "/reports/7#part",
        "/reports\\7",
        "\\reports\\7",
        "reports/7",
        "*",
        "http://other/reports/7",
        "http://gateway/reports/7",
    ],
)
async def test_a_target_with_two_readings_is_refused(store_url: str, tmp_path: Path, method: str, target: str) -> None:
    """Dot or empty segments, parameters, backslashes, bad escapes, other forms: a 400, also with a good token."""
    async with stack(store_url, tmp_path) as gate:
        await gate.lease("report/7")
        before = await gate.highest("report/7")
        answer = await gate.write(target, method=method)

        assert answer.status == 400
        assert answer.decision in ("ambiguous-target", "bad-request")
        assert answer.problem["action"] == "fix-request"
        assert gate.upstream.seen == []
        assert await gate.highest("report/7") == before


@pytest.mark.parametrize(
    ("method", "target"),
    [("OPTIONS", "*"), ("PUT", "HTTP://LOCALHOST:80/reports/7"), ("PUT", "http://localhost/reports/7")],
    ids=["the whole server", "in capitals", "absolute"],
)
async def test_a_target_in_another_form_than_a_path_is_refused(
    store_url: str, tmp_path: Path, method: str, target: str
) -> None:
    """Even if it names this very host (RFC 9112, section 3.2): the API might route by it, and not by `Host`."""
    async with stack(store_url, tmp_path) as gate:
        await gate.lease("report/7")
        answer = await gate.write(target, method=method)

        assert (answer.status, answer.decision) == (400, "ambiguous-target")
        assert gate.upstream.seen == []


ADMIN = """
  - name: admin
    match: PUT /reports/admin
    resource: admin
    approval: required
    intent: {{mode: required}}
"""


@pytest.mark.parametrize("target", ["/reports/Admin", "/reports/ADMIN", "/reports/%61dmiN"])
async def test_another_case_leads_around_no_rule(store_url: str, tmp_path: Path, target: str) -> None:
    """A server that tells no case would do at once what has to be approved; nothing is sent, and no epoch moves."""
    async with stack(store_url, tmp_path, POLICY + ADMIN) as gate:
        resource = f"report/{target.rpartition('/')[2].replace('%61', 'a')}"
        await gate.lease(resource)
        before = await gate.highest(resource)
        answer = await gate.write(target, "Idempotency-Key: k")
        plain = await gate.write("/reports/administrators")
        read = await ask(gate.port, "GET", target)

        assert (answer.status, answer.decision) == (400, "ambiguous-target")
        assert (plain.decision, await gate.highest(resource)) == ("token-invalid", before)
        assert (read.status, [seen.line for seen in gate.upstream.seen]) == (200, [f"GET {target} HTTP/1.1"])


async def test_an_escape_that_text_does_not_need_leads_around_no_rule(store_url: str, tmp_path: Path) -> None:
    """A server that compares paths as they come would take `%61dmin` for a report: nothing is sent, no epoch moves."""
    async with stack(store_url, tmp_path, POLICY + ADMIN) as gate:
        held = {resource: (await gate.lease(resource)).status for resource in ("admin", "report/admin", "report/7")}
        before = [await gate.highest(resource) for resource in held]
        answers = [
            await gate.write(target, "Idempotency-Key: k")
            for target in ("/reports/%61dmin", "/%72eports/admin", "/%72eports/7")
        ]

        assert [(answer.status, answer.decision) for answer in answers] == [(400, "ambiguous-target")] * 3
        assert "Send `admin`." in answers[0].problem["detail"]
        assert [await gate.highest(resource) for resource in held] == before
        assert gate.upstream.seen == []


API = """
upstream: api
url: http://localhost:{port}
mount: {{path: /api}}
writes:
  - {{name: rest, match: "PUT /api/{{rest...}}", resource: "x/{{path.rest}}"}}
"""
INNER = """
upstream: inner
url: http://localhost:{port}
mount: {{path: /api/a-b}}
reads: deny
writes: []
"""


@pytest.mark.parametrize("method", ["GET", "PUT"])
async def test_an_escape_leads_around_no_mount(store_url: str, tmp_path: Path, method: str) -> None:
    """`a%2Db` is `a-b` to a server that decodes it: neither its own API sees it nor the one around it."""
    (tmp_path / "policies").mkdir()
    async with RecordingUpstream() as inner:
        (tmp_path / "policies" / "inner.yaml").write_text(INNER.format(port=inner.port))
        async with stack(store_url, tmp_path, API) as gate:
            assert (await gate.lease("x/a-b/x")).status == 201
            escaped = await gate.write("/api/a%2Db/x", method=method)
            plain = await gate.write("/api/a-b/x", method=method)

            assert (escaped.status, escaped.decision) == (400, "ambiguous-target")
            assert plain.decision == ("reads-denied" if method == "GET" else "no-policy")
            assert gate.upstream.seen == inner.seen == []


@pytest.mark.parametrize("target", ["/reports/7", "/reports/%37", "/reports/7?x", "/reports/%37?x=%2F"])
async def test_a_stale_write_is_stale_in_every_spelling(store_url: str, tmp_path: Path, target: str) -> None:
    """What the upstream takes for the same path is the same resource here."""
    async with stack(store_url, tmp_path) as gate:
        await gate.lease("report/7", "a")
        await gate.lease("report/7", "b", takeover=True)
        before = await gate.highest("report/7")
        answer = await gate.write(target, holder="a")

        assert (answer.status, answer.decision) == (412, "stale-epoch")
        assert gate.upstream.seen == []
        assert await gate.highest("report/7") == before


@pytest.mark.parametrize(
    ("target", "status", "decision"),
    [
        ("/reports/7/", 403, "no-policy"),
        ("/reports", 403, "no-policy"),
        ("/reports/", 403, "no-policy"),
        ("/Reports/7", 404, "no-upstream"),
        ("/reportsx/7", 404, "no-upstream"),
        ("/administrator", 404, "no-upstream"),
        ("/-/fence/reports/7", 404, "not-found"),
        ("/%2D/fence/reports/7", 404, "not-found"),
    ],
)
async def test_a_write_that_no_rule_matches_is_not_forwarded(
    store_url: str, tmp_path: Path, target: str, status: int, decision: str
) -> None:
    """A mount takes whole segments, in their own case; a trailing slash is another path."""
    async with stack(store_url, tmp_path) as gate:
        await gate.lease("report/7")
        answer = await gate.write(target)

        assert (answer.status, answer.decision) == (status, decision)
        assert gate.upstream.seen == []


async def test_an_encoded_slash_is_refused_or_a_resource_of_its_own(store_url: str, tmp_path: Path) -> None:
    """By default refused; where the mount says `opaque`, one segment, distinct from the path with a slash."""
    async with stack(store_url, tmp_path) as gate:
        answer = await ask(gate.port, "PUT", "/reports/a%2Fb", body=b"{}")
        assert (answer.status, answer.decision, gate.upstream.seen) == (400, "ambiguous-target", [])

    async with stack(store_url, tmp_path, OPAQUE) as gate:
        assert (await gate.lease("report/a%2Fb")).status == 201
        opaque = await gate.write("/reports/a%2Fb")
        plain = await gate.write("/reports/a/b")

        assert (opaque.status, plain.status, plain.decision) == (200, 403, "no-policy")
        assert [seen.line for seen in gate.upstream.seen] == ["PUT /reports/a%2Fb HTTP/1.1"]


async def test_a_bare_plus_is_refused_or_a_character(store_url: str, tmp_path: Path) -> None:
    """To a server that decodes paths as forms the document with a blank, whose holder is another."""
    async with stack(store_url, tmp_path, ANY) as gate:
        for name in ("the plan", "the+plan"):
            assert (await gate.lease(f"report/{name}", holder=name)).status == 201
        blank = await gate.write("/reports/the%20plan", holder="the plan")
        bare = await gate.write("/reports/the+plan", holder="the+plan")
        escaped = await gate.write("/reports/the%2Bplan", holder="the+plan")

        assert [blank.status, bare.status, bare.decision, escaped.status] == [200, 400, "ambiguous-target", 200]
        assert "Write `%2B` for a plus, `%20` for a blank" in str(bare.problem["detail"])
        lines = ["PUT /reports/the%20plan HTTP/1.1", "PUT /reports/the%2Bplan HTTP/1.1"]
        assert [seen.line for seen in gate.upstream.seen] == lines

    async with stack(store_url, tmp_path, POLICY.replace("path: /reports", "path: /reports, plus: opaque")) as gate:
        assert (await gate.lease("report/c++")).status == 201
        assert (await gate.write("/reports/c++")).status == 200
        assert [seen.line for seen in gate.upstream.seen] == ["PUT /reports/c++ HTTP/1.1"]


async def test_an_escaped_escape_leads_to_no_other_rule(store_url: str, tmp_path: Path) -> None:
    """What a server behind one that undoes it would run is that rule's, whose epoch the sender need not have."""
    publish = "  - {{name: publish, match: 'PUT /reports/{{id}}/publish', resource: 'published/{{path.id}}'}}\n"
    async with stack(store_url, tmp_path, ANY + publish) as gate:
        for resource in ("report/7%252Fpublish", "report/100%25"):
            assert (await gate.lease(resource, holder=resource)).status == 201
        refused = await gate.write("/reports/7%252Fpublish", holder="report/7%252Fpublish")
        passed = await gate.write("/reports/100%25", holder="report/100%25")

        assert (refused.status, refused.decision) == (400, "ambiguous-target")
        assert (passed.status, passed.decision) == (200, "forwarded")
        assert [seen.line for seen in gate.upstream.seen] == ["PUT /reports/100%25 HTTP/1.1"]


@pytest.mark.parametrize("end", ["", "/"])
async def test_a_mount_is_stripped_without_touching_the_rest(store_url: str, tmp_path: Path, end: str) -> None:
    """`strip` drops the mount's segments, and the URL's own path comes before what is left; a slash at its end is not
    doubled, and none is added where nothing is left."""
    async with stack(store_url, tmp_path, STRIPPED.replace("/base", f"/base{end}"), RecordingUpstream()) as gate:
        await gate.lease("report/a:b")
        written = await gate.write("/reports/a%3Ab?x=%2F")
        read = [await ask(gate.port, "GET", target) for target in ("/reports?y", "/reports", "/reports/")]

        assert [answer.status for answer in (written, *read)] == [200] * 4
        assert [seen.line for seen in gate.upstream.seen] == [
            "PUT /base/a%3Ab?x=%2F HTTP/1.1",
            "GET /base?y HTTP/1.1",
            "GET /base HTTP/1.1",
            "GET /base/ HTTP/1.1",
        ]
