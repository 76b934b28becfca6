"""How safe a record has to be before anything happens because of it."""

import re
from dataclasses import dataclass

from gateway.core.check import Check

DURABILITIES = r"^(process|disk|replica:[1-9][0-9]?)$"

# WAITAOF came with it; every Valkey that is fit has it.
_LEAST_REDIS_WITH_DISK = (7, 2)


@dataclass(frozen=True, slots=True)
class Durability:
    """`disk`: the store's disk has it. `replicas`: so many replicas have it, in memory. Neither: the store has run the
    script, and what happens to its machine may undo that.
    """

    disk: bool = False
    replicas: int = 0

    def __str__(self) -> str:
        return "disk" if self.disk else f"replica:{self.replicas}" if self.replicas else "process"

    def wait(self, within_ms: int) -> tuple[str | int, ...] | None:
        """The command that is answered once all that its connection has written is safe, or the time is over."""
        if self.disk:
            return "WAITAOF", 1, 0, within_ms
        return ("WAIT", self.replicas, within_ms) if self.replicas else None

    def lacks(self, reply: object) -> str | None:
        """What its reply says is missing; None if all is safe."""
        if self.disk:
            return None if isinstance(reply, list) and reply[0] == 1 else "the store's disk does not have it yet"
        has = reply if isinstance(reply, int) else 0
        return None if has >= self.replicas else f"{has} of {self.replicas} replicas have it"


PROCESS = Durability()


def read_durability(text: str) -> Durability:
    """`process`, `disk` or `replica:N`. Raises ValueError."""
    if not re.match(DURABILITIES, text):
        raise ValueError("write process, disk or replica:N")
    kind, _, count = text.partition(":")
    return Durability(kind == "disk", int(count or 0))


def check_durability(wanted: Durability, info: dict[str, str], appendfsync: str) -> Check:
    """Whether a server can give what is wanted of it. `info`: the fields of its INFO.

    `disk` wants `appendfsync always`. Under `everysec` each wait takes up to a second, and Redis 7.4 to 8.0 and Valkey
    up to 9.1 at least answer WAITAOF before anything was flushed (redis/redis pull request 13793).
    """
    if wanted.disk:
        return _check_disk(info, appendfsync)
    if wanted.replicas:
        return _check_replicas(wanted.replicas, info)
    return Check("durability", True, str(wanted))


def online_replicas(info: dict[str, str]) -> list[dict[str, str]]:
    """Those that follow, each with its own fields (ip, port, offset, lag in seconds)."""
    lines = (value for name, value in info.items() if re.fullmatch("slave[0-9]+", name))
    found = [dict(field.partition("=")[::2] for field in line.split(",")) for line in lines]
    return [replica for replica in found if replica.get("state") == "online"]


def _check_disk(info: dict[str, str], appendfsync: str) -> Check:
    version = re.match(r"(\d+)\.(\d+)", info.get("redis_version", ""))
    if "valkey_version" not in info and (
        version is None or (int(version[1]), int(version[2])) < _LEAST_REDIS_WITH_DISK
    ):
        what_to_do = "Use Redis 7.2 or newer, or Valkey; or another --durability."
        return Check("durability", False, "disk, and this server has no WAITAOF", what_to_do)
    if appendfsync != "always":
        what_to_do = "Set appendfsync always: under everysec the server may say that the disk has what it has not."
        return Check("durability", False, f"disk, with appendfsync {appendfsync}", what_to_do)
    return Check("durability", True, "disk, with appendfsync always")


def _check_replicas(wanted: int, info: dict[str, str]) -> Check:
    online = len(online_replicas(info))
    saw = f"replica:{wanted}, with {online} replicas online"
    if online < wanted:
        what_to_do = "Start replicas: without them every write is refused; or lower --durability."
        return Check("durability", False, saw, what_to_do)
    # While one is promoted and the former primary lives, the others may still confirm what is written there.
    what_to_do = f"A failover from a primary that lives may lose what only some replicas have: use replica:{online}."
    return Check("durability", True, saw, what_to_do if online > wanted else "")
