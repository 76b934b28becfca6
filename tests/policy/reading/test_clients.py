"""Forms as clients themselves write them are taken, under the names that were given: drawn forms, encoded by each."""

import asyncio
import secrets
from collections.abc import Callable

import httpx2
import pytest
import requests
import urllib3
from aiohttp import FormData
from hypothesis import example, given
from hypothesis import settings as of_hypothesis
from hypothesis import strategies as st

from gateway.core.decision import Refused
from gateway.core.request import Headers, Request
from gateway.core.target import Target, read_target
from gateway.policy.bodies import Bodies
from gateway.policy.reading.formbody import Form, read_form
from gateway.policy.reading.formparts import FormParts, read_form_parts
from gateway.policy.reading.multipart import multipart_of
from tests.policy.reading.servers import READERS

Fields = list[tuple[str, str]]
Files = list[tuple[str, str]]
URL = "http://127.0.0.1/docs"


def by_urllib3(fields: Fields, files: Files) -> tuple[str, bytes]:
    """Its encoder, which requests uses too."""
    parts = [*fields, *((name, (file, b"x", "text/plain")) for name, file in files)]
    body, kind = urllib3.encode_multipart_formdata(parts)
    return kind, body


def by_requests(fields: Fields, files: Files) -> tuple[str, bytes]:
    """A form is multipart as soon as there is a file."""
    parts = [(name, (file, b"x")) for name, file in files] or None
    sent = requests.Request("POST", URL, data=fields, files=parts).prepare()
    body = sent.body or b""
    return sent.headers.get("Content-Type", ""), body.encode() if isinstance(body, str) else body


def by_httpx(fields: Fields, files: Files) -> tuple[str, bytes]:
    """As httpx."""
    parts = [(name, (file, b"x")) for name, file in files] or None
    sent = httpx2.Request("POST", URL, data=_lists(fields), files=parts)
    return sent.headers.get("Content-Type", ""), sent.read()


def by_aiohttp(fields: Fields, files: Files) -> tuple[str, bytes]:
    """Told to spell names as browsers do: else it puts a backslash before a blank, and other letters into `name*`,
    which not all servers read."""

    async def written() -> tuple[str, bytes]:
        form = FormData(quote_fields=False)
        for name, value in fields:
            form.add_field(name, value)
        for name, file in files:
            form.add_field(name, b"x", filename=file)
        payload = form()
        return str(payload.headers["Content-Type"]), await payload.as_bytes()

    return asyncio.run(written())


def by_form_data_encoder(fields: Fields, files: Files) -> tuple[str, bytes]:
    """As got sends forms, and SDKs of Node that do without the platform's: an empty line stands behind the end."""
    boundary = f"form-data-encoder-{secrets.token_hex(8)}"
    heads = [(f'name="{name}"', value) for name, value in fields]
    kind = "Content-Type: application/octet-stream"
    heads += [(f'name="{name}"; filename="{file}"\r\n{kind}', "x") for name, file in files]
    parts = (f"--{boundary}\r\nContent-Disposition: form-data; {head}\r\n\r\n{value}\r\n" for head, value in heads)
    return f"multipart/form-data; boundary={boundary}", f"{''.join(parts)}--{boundary}--\r\n\r\n".encode()


CLIENTS = [by_urllib3, by_requests, by_httpx, by_aiohttp, by_form_data_encoder]
LETTERS = "abcxyzABC019_-.äéß日 "
NAMES = st.builds("n{}n{}".format, st.text(LETTERS, max_size=8), st.sampled_from(["", "", "[]", "[a]", "[0][b]", ".c"]))
FILES = st.text(f"{LETTERS}[](),;'&+@#!~", min_size=1, max_size=12).map(lambda name: f"{name}.txt")
FIELDS = st.lists(st.tuples(NAMES, st.text(max_size=12)), min_size=1, max_size=3)


def refused_type(kind: bytes) -> Refused | None:
    """Where the mount lists forms of both kinds."""
    target = read_target("/docs")
    assert isinstance(target, Target)
    sent = Request("POST", target, Headers(((b"Content-Type", kind),)), b"x")
    return Bodies((b"application/x-www-form-urlencoded", b"multipart/form-data")).refusal(sent)


def _lists(fields: Fields) -> dict[str, list[str]]:
    return {name: [value for other, value in fields if other == name] for name, _ in fields}


@pytest.mark.parametrize("written", CLIENTS)
@given(FIELDS, st.lists(st.tuples(NAMES, FILES), max_size=2))
@of_hypothesis(max_examples=40)
@example([("title", "a")], [("file", "a; b, (c).txt")])
def test_a_clients_form_is_taken_by_its_names(
    written: Callable[[Fields, Files], tuple[str, bytes]], fields: Fields, files: Files
) -> None:
    """In the type that it says, and servers read the same ones."""
    kind, body = written(fields, files)
    told = read_form_parts(kind.encode(), body) if kind.startswith("multipart/") else read_form(body)

    assert refused_type(kind.encode()) is None
    assert isinstance(told, FormParts | Form), told
    given = {name for name, _ in (*fields, *files)}
    assert set(told.names) == given
    assert [{name for name, _ in reader(kind, body)} for reader in READERS[:4]] == [given] * 4


@pytest.mark.parametrize("written", CLIENTS)
def test_a_form_that_is_sent_again_is_the_same_request(
    written: Callable[[Fields, Files], tuple[str, bytes]],
) -> None:
    """Though a client draws another boundary for it; with another file it is another."""
    sent = [written([("title", "a")], [("file", name)]) for name in ("a.txt", "a.txt", "b.txt")]
    digests = []
    for kind, body in sent:
        reading = multipart_of(kind.encode())
        assert reading is not None
        reading.feed(body)
        digests.append(reading.digest())

    assert sent[0] != sent[1]
    assert None not in digests and digests[0] == digests[1] != digests[2]


@pytest.mark.parametrize(
    "boundary",
    [
        "----WebKitFormBoundary7MA4YWxkTrZu0gW",
        "----geckoformboundary5e1d0c7f2b9a4c3d8e6f",
        "---------------------------9051914041544843365972754266",
        "------------------------d74496d66958873e",
        "--------------------------735323031399963166993862",
        "axios-1.21.1-boundary-Exu93E5d0Gq-_aB",
        "form-data-encoder-qo6ot78mld400niq",
        "----formdata-undici-012345678901",
        "9c9d1b7c2f5e4a6b8d0f1e2a3c4b5d6e7f8091a2b3c4d5e6f70819202a3b",
        "0f1d2c3b-4a59-4687-9a0b-c1d2e3f40007",
        '"0f1d2c3b-4a59-4687-9a0b-c1d2e3f40007"',
        "dart-http-boundary-8Kq.Zx+a_B1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV",
        "-----------RubyMultipartPost-5ae7e8f3b9f64d1e",
        "----RubyFormBoundaryK4qZxT1dG8mP2vLs",
        "alamofire.boundary.1f2e3d4c5b6a7988",
        "xYzZY",
        "-_Qz3b9dK1mXv7RtYp4sWcH2gL8nJ0f",
    ],
)
@pytest.mark.parametrize(("before", "behind"), [("; ", ""), ("; ", "; charset=UTF-8"), (";charset=UTF-8;", "")])
def test_a_clients_boundary_is_taken(boundary: str, before: str, behind: str) -> None:
    """As browsers, curl, Node, Go, Java, .NET, Dart, Ruby, Swift and Perl draw theirs, with the word in it or not.
    Spring's RestTemplate said the charset first."""
    kind, plain = f"multipart/form-data{before}boundary={boundary}{behind}".encode(), boundary.strip('"')
    part = 'Content-Disposition: form-data; name="title"\r\n\r\nx\r\n'
    told = read_form_parts(kind, f"--{plain}\r\n{part}--{plain}--\r\n".encode())

    assert refused_type(kind) is None
    assert isinstance(told, FormParts) and told.names == ("title", "title")
