"""`Prefer` (RFC 7240) as hostile callers spell it: any of it may be ignored, none of it is an error."""

from pathlib import Path

from tests.proxy.mail import POLICY, send
from tests.raw import ask
from tests.recording import answering
from tests.stack import stack

QUEUED = POLICY + "    delivery: queued\n"
# Of fields of one request; how long a queued write is waited for, which the answer says. None: not at all.
FORMS: list[tuple[tuple[str, ...], str | None]] = [
    (("wait=20, respond-async",), "wait=20"),
    (("respond-async", "return=minimal, wait=20"), "wait=20"),
    (('wait="20"',), "wait=20"),
    (("WAIT = 20",), "wait=20"),
    (("wait=20; a=b",), "wait=20"),
    (('wait=20; a="b, wait=30"',), "wait=20"),
    (("wait=20", "wait=30"), "wait=20"),
    (("wait=20, wait=30",), "wait=20"),
    (("wait=x, wait=20",), "wait=20"),
    (("wait=56",), "wait=55"),
    (("wait=999999999",), "wait=55"),
    *(((value,), None) for value in ("wait=-1", "wait=+5", "wait=5.5", "wait=1e3", "wait=5s", "wait=0x5", "wait=5 5")),
    *(((value,), None) for value in ("wait", "wait=", 'wait="', "await=5", "", ",,,", ";;;=;,\"'")),
    *(((value,), None) for value in ("wait=\xb2", "wait=\xd9\xa5", "wait=" + "9" * 5000, "a=b," * 1500)),
]
# Readers differ in what these mean; a wait that they ask for has its bound all the same.
DOUBTFUL = ['foo="a, wait=999", bar', 'wait="5', 'wait=5"', "wait=5;", "wait=05", "wait=99999999999999999999"]


async def test_no_preference_is_an_error(store_url: str, tmp_path: Path) -> None:
    """A write that is sent at once and a read are what they are without one."""
    values = [value for fields, _ in FORMS for value in fields] + DOUBTFUL
    async with stack(store_url, tmp_path, POLICY) as gate:
        told = [(await send(gate, f"k-{at}", f"Prefer: {value}")).decision for at, value in enumerate(values)]
        told += [(await ask(gate.port, "GET", "/mail/out", f"Prefer: {value}")).decision for value in values]

        assert told == ["forwarded"] * len(values) + ["passed"] * len(values)
        assert len(gate.upstream.seen) == 2 * len(values)


async def test_a_wait_is_granted_as_it_was_asked_for_or_not_at_all(store_url: str, tmp_path: Path) -> None:
    """The first that can be read, and never more than 55 seconds: the answer says how long it would have been."""
    async with stack(store_url, tmp_path, QUEUED) as gate:
        gate.upstream.answer = answering(b"HTTP/1.1 204 No Content\r\n\r\n")
        for at, (fields, applied) in enumerate(FORMS):
            answer = await send(gate, f"k-{at}", *(f"Prefer: {value}" for value in fields))

            told = (answer.decision, answer.value("Preference-Applied"))
            assert told == (("queued", None) if applied is None else ("replayed", applied)), fields
        for at, value in enumerate(DOUBTFUL):
            answer = await send(gate, f"d-{at}", f"Prefer: {value}")

            assert answer.decision in ("queued", "replayed"), value
            assert int((answer.value("Preference-Applied") or "wait=0").removeprefix("wait=")) <= 55, value
        await gate.upstream.until(lambda: len(gate.upstream.seen) == len(FORMS) + len(DOUBTFUL))


ASKING = [
    *("Prefer: respond-async", "Prefer: Respond-Async", "PREFER: respond-async", "Prefer: respond-async;"),
    *("Prefer: respond-async; x=1", "Prefer: respond-async=true", 'Prefer: "respond-async"', "Prefer: respond-async\t"),
    *("Prefer: return=minimal, respond-async", "Prefer: wait=5,respond-async", "Prefer: ,respond-async,"),
    *('Prefer: foo="a, b", respond-async', 'Prefer: foo="a\\", respond-async', 'Prefer: foo="a\\\\", respond-async'),
    *('Prefer: foo=", respond-async, x="', "Prefer: foo; respond-async", "Prefer: respond-async , wait=1"),
    *("Prefer: respond-async wait=1", "Prefer: return=minimal\r\nPrefer: respond-async", "Prefer: 'respond-async'"),
    *("X-Arango-Async: store", "x_arango_async: true", "X-Amz-Invocation-Type: event", "X_Amz_Invocation_Type: Event"),
]


async def test_no_wish_for_an_answer_before_the_work_reaches_the_api(store_url: str, tmp_path: Path) -> None:
    """With a fenced write, however it is spelled; a read keeps it."""
    async with stack(store_url, tmp_path, POLICY) as gate:
        told = [(await send(gate, f"k-{at}", line)).decision for at, line in enumerate(ASKING)]
        sent = [seen.raw.lower() for seen in gate.upstream.seen]
        read = await ask(gate.port, "GET", "/mail/out", ASKING[0])

        assert told == ["forwarded"] * len(ASKING)
        assert [raw for raw in sent if b"async" in raw or b"invocation" in raw] == []
        assert (read.decision, gate.upstream.seen[-1].values("prefer")) == ("passed", ["respond-async"])
