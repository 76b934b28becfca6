"""Keys from a URL: when it is asked, and what holds while it is away."""

import asyncio
from dataclasses import replace

import pytest

from gateway.claims.keys import KeyFault
from gateway.claims.keyurl import UrlKeys
from gateway.core.rule import KeyUrl, Origin, Pem, Tls
from tests.issuer import P256, jwk, jwks

URL = KeyUrl(Origin("https", "issuer.internal", 443), "/keys")
AWAY = KeyFault("it is away")


def served(*ids: str) -> bytes:
    return jwks(*(jwk(P256, kid=id) for id in ids))


class Issuer:
    """Answers one line after the other; the clock is turned by hand."""

    def __init__(self, *answers: bytes | KeyFault) -> None:
        self.answers, self.now, self.told, self.fetched = list(answers), 1000.0, list[str](), 0
        self.url = URL
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        self.keys = UrlKeys(URL, self._fetch, lambda: self.now, self.told.append)

    async def _fetch(self, url: KeyUrl) -> bytes | KeyFault:
        assert url is self.url
        self.fetched += 1
        await self.may_answer.wait()
        return self.answers.pop(0)

    async def knows(self, id: str | None, *, after: float = 0.0) -> bool | None:
        """Whether there is such a key, so many seconds later; None if keys cannot be had."""
        self.now += after
        found = await self.keys.find("ES256", id)
        return None if found is None else bool(found)


async def test_keys_are_fetched_once_and_kept() -> None:
    """However many claims come."""
    issuer = Issuer(served("one"))

    assert [await issuer.knows("one", after=1.0) for _ in range(9)] == [True] * 9
    assert issuer.fetched == 1


async def test_claims_that_come_together_wait_for_one_fetch() -> None:
    """One of their callers leaving takes it from nobody."""
    issuer = Issuer(served("one"))
    issuer.may_answer.clear()
    leaving, *staying = [asyncio.ensure_future(issuer.knows("one")) for _ in range(3)]
    await asyncio.sleep(0)
    leaving.cancel()
    await asyncio.sleep(0)
    issuer.may_answer.set()

    assert await asyncio.gather(*staying) == [True, True]
    assert issuer.fetched == 1


async def test_a_fetch_that_outlasts_whoever_waited_for_it_counts() -> None:
    """A withdrawal is heard though nobody had the patience for it, and though no other fetch begins."""
    issuer = Issuer(served("one"), served("two"))
    assert await issuer.knows("one")
    issuer.may_answer.clear()
    waiting = asyncio.ensure_future(issuer.knows("one", after=300.0))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait((waiting,))

    issuer.may_answer.set()

    assert not await issuer.knows("one")
    assert issuer.fetched == 2


async def test_an_unknown_kid_asks_again_at_most_every_30_seconds() -> None:
    """A new key is found; whoever invents ids does not have the issuer asked for each."""
    issuer = Issuer(served("one"), served("one", "two"), served("two"))
    assert await issuer.knows("one")

    assert not await issuer.knows("two", after=29.0)
    assert await issuer.knows("two", after=1.0)
    for id in map(str, range(9)):
        assert not await issuer.knows(id)
    assert issuer.fetched == 2


@pytest.mark.parametrize("answer", [AWAY, b"<html>", b"", b'{"keys": [', b'{"keys": 1}', b'{"keys": [1]}'])
async def test_the_last_keys_stay_while_the_url_has_none(answer: bytes | KeyFault) -> None:
    """An issuer that fails must not stop everybody who holds a claim of it."""
    issuer = Issuer(served("one"), answer)
    assert await issuer.knows("one")

    assert not await issuer.knows("two", after=30.0)
    assert await issuer.knows("one")
    assert len(issuer.told) == 1


@pytest.mark.parametrize("answer", [b'{"keys": []}', b'{"keys": [{"kty": "oct", "k": "AA"}]}'], ids=["empty", "unfit"])
async def test_a_set_without_a_key_withdraws_all(answer: bytes) -> None:
    """It is the issuer's word, heard as soon as that of any other set; the next keys are, too."""
    issuer = Issuer(served("one"), answer, AWAY, served("two"))
    assert await issuer.knows("one")

    assert await issuer.knows("one", after=300.0) is None
    assert await issuer.knows("one", after=2.0) is None
    assert await issuer.knows("two", after=2.0) is True
    assert len(issuer.told) == 2


async def test_without_any_keys_the_url_is_asked_every_two_seconds() -> None:
    """Nobody waits for a fetch that has just failed."""
    issuer = Issuer(AWAY, served("one"))

    assert await issuer.knows("one") is None
    assert await issuer.knows("one", after=1.9) is None
    assert issuer.fetched == 1
    assert await issuer.knows("one", after=0.1) is True


async def test_a_withdrawn_key_goes_within_five_minutes() -> None:
    """The first claim after a silence waits for the keys as they are now."""
    issuer = Issuer(served("one", "two"), served("two"))
    assert await issuer.knows("one")

    assert await issuer.knows("one", after=239.0)
    assert issuer.fetched == 1
    assert not await issuer.knows("one", after=61.0)
    assert issuer.fetched == 2


async def test_keys_in_use_are_renewed_beside_their_claims() -> None:
    """None of which waits, while there is a minute left."""
    issuer = Issuer(served("one", "two"), served("two"))
    assert await issuer.knows("one")
    issuer.may_answer.clear()

    assert await issuer.knows("one", after=240.0)
    issuer.may_answer.set()
    while issuer.answers:
        await asyncio.sleep(0)
    await asyncio.sleep(0)

    assert not await issuer.knows("one")
    assert issuer.fetched == 2


async def test_claims_wait_for_a_url_that_is_away_once_a_minute_at_most() -> None:
    """The last keys stay meanwhile, and it is asked again beside the claims."""
    issuer = Issuer(served("one"), AWAY, AWAY, served("two"))
    assert await issuer.knows("one")
    assert await issuer.knows("one", after=300.0)

    issuer.may_answer.clear()
    assert await issuer.knows("one", after=30.0)
    await asyncio.sleep(0)
    assert issuer.fetched == 3
    issuer.may_answer.set()
    while len(issuer.answers) > 1:
        await asyncio.sleep(0)

    assert not await issuer.knows("one", after=60.0)


async def test_another_authority_for_the_url_takes_no_keys_away() -> None:
    """They stay until the URL has answered under it, however long that takes."""
    issuer = Issuer(served("one"), AWAY, served("two"))
    assert await issuer.knows("one")

    issuer.url = replace(URL, tls=Tls(ca="/etc/ca.pem", pem=Pem(ca=b"another")))
    issuer.keys.reach(issuer.url)

    assert await issuer.knows("one")
    assert issuer.fetched == 2
    assert not await issuer.knows("one", after=60.0)


async def test_a_fetch_under_way_ends_with_the_gateway() -> None:
    """Nothing is left behind."""
    issuer = Issuer(served("one"))
    issuer.may_answer.clear()
    waiting = asyncio.ensure_future(issuer.knows("one"))
    await asyncio.sleep(0)

    issuer.keys.close()

    with pytest.raises(asyncio.CancelledError):
        await waiting
