"""Requests as common clients send them: the fields that each sends by itself, and the bodies that it makes.

Written down from what they sent, with their own boundaries. `Host` and the token are left out.
"""

from dataclasses import dataclass

JSON = b'{"title":"x"}'
FORM = b"title=x"
CHUNKED = b"3\r\nabc\r\n0\r\n\r\n"
TITLE = 'Content-Disposition: form-data; name="title"'
FILE = 'Content-Disposition: form-data; name="file"; filename="{}"'
BYTES = "Content-Type: application/octet-stream"
TEXT = "Content-Type: text/plain"


@dataclass(frozen=True, slots=True)
class Sent:
    """One request beside what its client always sends."""

    line: str
    fields: tuple[str, ...]
    body: bytes = b""
    is_chunked: bool = False


def json(kind: str = "Content-Type: application/json", method: str = "PUT", *more: str) -> Sent:
    return Sent(f"{method} /docs/7", (kind, *more), JSON)


def form(kind: str = "Content-Type: application/x-www-form-urlencoded") -> Sent:
    return Sent("POST /docs/7", (kind,), FORM)


def multipart(boundary: str, *heads: str, said: str | None = None, end: str = "\r\n", kind: str = "") -> Sent:
    """With a title and a file, unless other parts are named."""
    parts = heads or (TITLE, f"{FILE.format('a.txt')}\r\n{BYTES}")
    body = "".join(f"--{boundary}\r\n{head}\r\n\r\nx\r\n" for head in parts) + f"--{boundary}--{end}"
    named = kind or f"Content-Type: multipart/form-data; boundary={said or boundary}"
    return Sent("POST /docs/7", (named,), body.encode())


def stream(*fields: str) -> Sent:
    return Sent("PUT /files/7", (*fields, "Content-Type: application/octet-stream"), CHUNKED, is_chunked=True)


def nothing(line: str = "POST /docs/7", *fields: str) -> Sent:
    return Sent(line, fields)


_PLAIN_FILE = f"{FILE.format('u.txt')}\r\n{TEXT}"
_NAMED_FILE = FILE.format("\u00e4 b.txt")
_NODE = ("accept: */*", "accept-language: *", "sec-fetch-mode: cors", "accept-encoding: gzip, deflate")
_FETCH = ("connection: keep-alive", *_NODE, "user-agent: node")
_AXIOS = (
    *("Accept: application/json, text/plain, */*", "User-Agent: axios/1.21.1", "Connection: keep-alive"),
    "Accept-Encoding: gzip, compress, deflate, br",
)
_GOT = ("user-agent: got (https://github.com/sindresorhus/got)", "accept-encoding: gzip, deflate, br")
_STAINLESS = (
    *("accept: application/json", "user-agent: OpenAI/JS 6.49.0", "x-stainless-retry-count: 0", "x-stainless-lang: js"),
    *("x-stainless-package-version: 6.49.0", "x-stainless-os: Linux", "x-stainless-arch: x64"),
    *("x-stainless-runtime: node", "x-stainless-runtime-version: v20.20.2", "authorization: Bearer key"),
    *("accept-language: *", "sec-fetch-mode: cors", "accept-encoding: gzip, deflate", "connection: keep-alive"),
)
_RUBY = ("Accept-Encoding: gzip;q=1.0,deflate;q=0.6,identity;q=0.3", "Accept: */*", "User-Agent: Ruby")
_REST_CLIENT = (*_RUBY[:2], "User-Agent: rest-client/2.1.0 (linux-gnu x86_64) ruby/3.1.2p20")
_LWP = ("TE: deflate,gzip;q=0.3", "Connection: TE, close", "User-Agent: libwww-perl/6.68")
_CURL = ("User-Agent: curl/7.88.1", "Accept: */*")
_GO = ("User-Agent: Go-http-client/1.1", "Accept-Encoding: gzip")
_JAVA = (
    *("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "User-Agent: Java-http-client/17.0.15"),
    "HTTP2-Settings: AAEAAEAAAAIAAAAAAAMAAAAAAAQBAAAAAAUAAEAAAAYABgAA",
)
_REQUESTS = ("User-Agent: python-requests/2.34.2", "Accept-Encoding: gzip, deflate", "Accept: */*")
_KEPT = "Connection: keep-alive"
_CHROMIUM = (
    *("Connection: keep-alive", 'sec-ch-ua: "Chromium";v="140", "Not=A?Brand";v="24"', "sec-ch-ua-mobile: ?0"),
    *('sec-ch-ua-platform: "Linux"', "User-Agent: Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0.0.0", "Accept: */*"),
    *("Origin: http://localhost", "Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: cors", "Sec-Fetch-Dest: empty"),
    *("Referer: http://localhost/page", "Accept-Encoding: gzip, deflate, br, zstd", "Accept-Language: en-US,en;q=0.9"),
)
_TRACED = (
    "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    *("tracestate: a=b", "baggage: a=b", "sentry-trace: x", "Request-Context: appId=cid-v1:x", "Postman-Token: 7"),
    *("X-Instana-T: 7", "X-Dynatrace: FW1;1", "ot-tracer-traceid: 7", "X-Datadog-Trace-Id: 7", "b3: 1-1-1"),
)
_MUTATION = "mutation U($id: ID!, $t: String!) {{{0}updateDoc(id: $id, text: $t) {{{0}id text{0}}}{0}}}"


def _graphql(spaces: str, more: str) -> Sent:
    asked = _MUTATION.format(spaces)
    body = f'{{"operationName":"U","variables":{{"id":"7","t":"x"}},{more}"query":"{asked}"}}'
    return Sent("POST /graphql", ("content-type: application/json",), body.encode())


_APOLLO = _graphql("\\n  ", '"extensions":{"clientLibrary":{"name":"@apollo/client","version":"4.3.8"}},')

CLIENTS: dict[str, tuple[tuple[str, ...], tuple[Sent, ...]]] = {
    "fetch of Node": (
        _FETCH,
        (
            *(
                json("Content-Type: application/json"),
                form("content-type: application/x-www-form-urlencoded;charset=UTF-8"),
            ),
            *(multipart("----formdata-undici-027247141392"), stream(), nothing("DELETE /docs/7")),
        ),
    ),
    "undici": (("connection: keep-alive",), (multipart("----formdata-undici-065403654736"),)),
    "ky": (_FETCH, (multipart("----formdata-undici-020675454282"), json())),
    "axios": (
        _AXIOS,
        (
            *(json(), form("Content-Type: application/x-www-form-urlencoded;charset=utf-8")),
            multipart("axios-1.21.1-boundary-4LZia7GId9lmUGBOAIrCbdQGI"),
            multipart("--------------------------6c5aabf9ae1be86cc8fd11c8"),
            nothing("POST /docs/7", "Content-Type: application/x-www-form-urlencoded", "Content-Length: 0"),
            *(Sent("DELETE /docs/7", ("Content-Type: application/json",), b"{}"), stream()),
        ),
    ),
    "got": (_GOT, (json(method="POST"), form(), multipart("form-data-encoder-7akn9pjuqozse6i8", end="\r\n\r\n"))),
    "superagent": (
        ("Accept-Encoding: gzip, deflate", "Connection: close"),
        (json(), multipart("--------------------------c72a0d09b177f8c5e654d36e", TITLE, _PLAIN_FILE)),
    ),
    "node-fetch": (
        ("accept: */*", "accept-encoding: gzip, deflate, br", "user-agent: node-fetch", _KEPT),
        (multipart("----4511186018707409581248449031", end=""),),
    ),
    "an SDK with fields of its own": (_STAINLESS, (json(method="POST"), multipart("openai-ebdlj5atkuv"))),
    "graphql-request": (
        (*_FETCH, "Accept: application/graphql-response+json, application/json"),
        (_graphql(" ", ""),),
    ),
    "Apollo Client": ((*_NODE, "user-agent: node"), (_APOLLO,)),
    "urql": (
        (*_FETCH[1:], "accept: application/graphql-response+json, application/graphql+json, text/event-stream"),
        (_graphql("\\n  ", ""),),
    ),
    "Net::HTTP": (
        _RUBY,
        (json(), form(), multipart("VDirwOtk5wTsp4k2gQOlSryLBx8KR2b7vqBiCWPkHFd7KORjjKXgIw")),
    ),
    "rest-client": (_REST_CLIENT, (json(), multipart("----RubyFormBoundarypA2EExf17oqJYXHn", TITLE, _PLAIN_FILE))),
    "HTTParty": (
        (*_RUBY, "Connection: close"),
        (json(), multipart("------------------------OmxCHJmmDVwjfUGM", TITLE, _PLAIN_FILE)),
    ),
    "Faraday": (("User-Agent: Faraday v1.1.0", *_RUBY[:2]), (form(),)),
    "LWP": (_LWP, (json(), form(), multipart("xYzZY", TITLE, _PLAIN_FILE))),
    "curl of PHP": (
        ("Accept: */*",),
        (
            *(json(), Sent("PATCH /docs/7", form().fields, FORM)),
            multipart("------------------------f6421c3297780d41", TITLE, f"{FILE.format('/tmp/a/u.txt')}\r\n{BYTES}"),
        ),
    ),
    "streams of PHP": (("Connection: close",), (json(),)),
    "curl": (
        _CURL,
        (
            *(json(), form(), multipart("------------------------c0714a3df95ced21", TITLE, _PLAIN_FILE)),
            Sent("PUT /files/7", ("Expect: 100-continue",), b"hello"),
            json(
                "Content-Type: application/json", "PUT", _JAVA[0], _JAVA[1], "HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA"
            ),
        ),
    ),
    "wget": (
        ("User-Agent: Wget/1.21.3", "Accept: */*", "Accept-Encoding: identity", "Connection: Keep-Alive"),
        (json(),),
    ),
    "Go": (
        _GO,
        (
            *(json(), json("Content-Type: application/json", "PATCH", "Expect: 100-continue"), form()),
            multipart("31a3b8e540d9c7dfa8940a326d5e6e152b257879875c13f5277ef9c5fa44"),
            *(
                stream(),
                nothing("DELETE /docs/7"),
                nothing("POST /docs/7", "Content-Length: 0", 'Idempotency-Key: "go-1"'),
            ),
        ),
    ),
    "HttpClient of Java": (
        _JAVA,
        (
            *(json(), json("Content-Type: application/json", "PATCH", "Expect: 100-Continue"), stream()),
            *(nothing("DELETE /docs/7", "Content-Length: 0"), nothing("POST /docs/7", "Content-Length: 0")),
        ),
    ),
    "Apache HttpClient, OkHttp and Spring": (
        (_KEPT,),
        (
            multipart(
                "abcdefXYZ_-0123",
                TITLE,
                kind="Content-Type: multipart/form-data; boundary=abcdefXYZ_-0123; charset=UTF-8",
            ),
            multipart("9f8d1e2c-aaaa-bbbb-cccc-0123456789ab"),
            multipart("abcDEF123", TITLE, kind="Content-Type: multipart/form-data;boundary=abcDEF123"),
            *(
                json("Content-Type: application/json;charset=UTF-8"),
                json("Content-Type: application/json; charset=utf-8"),
            ),
        ),
    ),
    "HttpClient of .NET": (
        (),
        (multipart("3f2504e0-4f89-11d3-9a0c-0305e82c3301", said='"3f2504e0-4f89-11d3-9a0c-0305e82c3301"'), json()),
    ),
    "urllib": (("Accept-Encoding: identity", "User-Agent: Python-urllib/3.11", "Connection: close"), (json(), form())),
    "requests": (
        (*_REQUESTS, _KEPT),
        (
            *(json(), form(), multipart("93dc5fab47f924680fd7c8b4b4cd0529", TITLE, _NAMED_FILE), stream()),
            *(nothing("DELETE /docs/7", "Content-Length: 0"), nothing("POST /docs/7", "Content-Length: 0")),
        ),
    ),
    "httpx": (
        ("Accept: */*", "Accept-Encoding: gzip, deflate", _KEPT, "User-Agent: python-httpx/0.29"),
        (
            *(json(), form(), stream()),
            multipart("7902f91828591064fab8709336ae9574", TITLE, f"{_NAMED_FILE}\r\n{TEXT}"),
        ),
    ),
    "aiohttp": (
        ("Accept: */*", "Accept-Encoding: gzip, deflate", "User-Agent: Python/3.11 aiohttp/3.14.5"),
        (
            *(json(), form(), stream()),
            multipart(
                "0342f40aa4e24113a1976fc1b1f54b21",
                f"{TEXT}; charset=utf-8\r\n{TITLE}",
                f"{BYTES}\r\n{FILE.format('a')}",
            ),
        ),
    ),
    "a page of the same site": (
        _CHROMIUM,
        (
            *(json(), form("Content-Type: application/x-www-form-urlencoded;charset=UTF-8")),
            multipart("----WebKitFormBoundary7MA4YWxkTrZu0gW"),
        ),
    ),
    "one that is traced": (_TRACED, (json(),)),
}
