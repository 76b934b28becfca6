"""Keys from a file: read again when it changes, kept when it cannot be read."""

from pathlib import Path

from gateway.claims.keyfile import LONGEST, FileKeys, read_key_file
from gateway.claims.keys import KeyFault, KeySet
from tests.issuer import ED25519, P256, pem


class File:
    """A file of keys, a clock that is turned by hand, and what was told."""

    def __init__(self, path: Path) -> None:
        self.path, self.now, self.told = path, 0.0, list[str]()
        self.keys = FileKeys(str(path), lambda: self.now, self.told.append)

    async def found(self) -> list[str] | None:
        self.now += 1.0
        fitting = [await self.keys.find(algorithm, None) for algorithm in ("ES256", "EdDSA")]
        return None if None in fitting else [name for keys in fitting for key in keys or () for name in key.algorithms]


async def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    """Old keys go, new ones come, at the next look."""
    file = File(tmp_path / "keys")
    file.path.write_bytes(pem(P256))
    assert await file.found() == ["ES256"]

    file.path.write_bytes(pem(P256) + pem(ED25519))
    assert await file.found() == ["ES256", "EdDSA"]
    file.path.write_bytes(pem(ED25519))
    assert await file.found() == ["EdDSA"]


async def test_a_file_is_not_looked_at_for_every_claim(tmp_path: Path) -> None:
    """Once a second is enough."""
    file = File(tmp_path / "keys")
    file.path.write_bytes(pem(P256))
    await file.found()
    file.path.write_bytes(pem(ED25519))

    assert await file.keys.find("EdDSA", None) == ()


async def test_the_last_good_keys_stay(tmp_path: Path) -> None:
    """While the file is broken or gone; each fault is told once."""
    file = File(tmp_path / "keys")
    file.path.write_bytes(pem(P256))
    await file.found()

    for change in (lambda: file.path.write_bytes(b"half"), file.path.unlink):
        change()
        assert [await file.found() for _ in range(3)] == [["ES256"]] * 3
    assert [line.rpartition(":")[2].split("(")[0].strip() for line in file.told] == [
        "it holds neither `-----BEGIN PUBLIC KEY-----` nor a JWKS",
        "it cannot be read",
    ]


async def test_a_file_that_never_was_has_no_keys(tmp_path: Path) -> None:
    """And is looked for again: it may come."""
    file = File(tmp_path / "keys")
    assert await file.found() is None

    file.path.write_bytes(pem(P256))
    assert await file.found() == ["ES256"]


def test_a_file_that_is_too_large_is_the_wrong_one(tmp_path: Path) -> None:
    """It is not read into memory."""
    small, large = tmp_path / "small", tmp_path / "large"
    small.write_bytes(pem(P256))
    large.write_bytes(pem(P256) + b"\n" * LONGEST)

    assert isinstance(read_key_file(str(small)), KeySet)
    assert read_key_file(str(large)) == KeyFault("it is too large for a file of keys")


async def test_a_file_that_is_broken_from_the_start_has_the_keys_that_it_had(tmp_path: Path) -> None:
    """A worker that is started while the file is half written knows them from the policies in force."""
    file = File(tmp_path / "keys")
    file.path.write_bytes(pem(ED25519)[:40])
    file.keys = FileKeys(str(file.path), lambda: file.now, file.told.append, pem(P256))

    assert await file.found() == ["ES256"]
    assert len(file.told) == 1
    file.path.write_bytes(pem(ED25519))
    assert await file.found() == ["EdDSA"]
