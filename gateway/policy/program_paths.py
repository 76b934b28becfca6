"""Where a path is another rule's to a server that runs a program for what stands behind its name, or for its directory.

To it `/cron.php/x` is `/cron.php`, which here falls to `/{page}/{part}`.
"""

from collections.abc import Iterable

from gateway.core.decision import AMBIGUOUS_TARGET, Refused
from gateway.core.target import Target
from gateway.policy.decoded_path import plain_and_decoded
from gateway.policy.lenient_patterns import LenientPatterns
from gateway.policy.pattern import Pattern, by_method
from gateway.policy.program_path import Programs

_OF_A_PROGRAM = Refused(
    AMBIGUOUS_TARGET,
    "Nothing was forwarded: a server that runs a program for what stands behind its name (`/cron.php/x`), or for its "
    "directory (`/admin/` for `/admin/index.php`), finds another rule's here. Send the path of the one that is meant.",
)


class ProgramPaths:
    """Which rule's programs are meant, by method. False where no pattern ends with one."""

    __slots__ = ("_by_method",)

    def __init__(self, patterns: Iterable[Pattern]) -> None:
        named = ((method, own, Programs(own)) for method, own in by_method(patterns).items())
        self._by_method = {method: (programs, LenientPatterns(own)) for method, own, programs in named if programs}

    def __bool__(self) -> bool:
        return bool(self._by_method)

    def refusal(self, method: str, taker: Pattern, target: Target) -> Refused | None:
        """Of a path that `taker` takes, and that is another pattern's program. What the taker itself names there, in
        text, is meant as it is."""
        if method not in self._by_method:
            return None
        programs, patterns = self._by_method[method]
        for segments in plain_and_decoded(target):
            for run in programs.meant_by(segments):
                found = patterns.first(run)
                is_named = found is not None and not found.ends_open and found.shape != taker.lenient.shape
                if is_named and not _is_text(taker, min(len(run), len(segments)) - 1):
                    return _OF_A_PROGRAM
        return None


def _is_text(taker: Pattern, place: int) -> bool:
    """The root, before any segment, counts as text where no rest takes it."""
    return taker.rest is None if place < 0 else taker.names_text(place)
