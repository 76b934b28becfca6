"""A path that some server takes for another rule's or another upstream's: of two readings none is guessed.

Upstreams and rules are told apart by paths, and servers differ in case, marks, escapes and in what they cut off.
"""

from collections.abc import Iterable, Sequence

from gateway.core.decision import AMBIGUOUS_TARGET, OF_PATHS, Refused
from gateway.core.rule import Mount, Upstream
from gateway.core.target import Target
from gateway.policy.lenient.bare_plus import has_bare_plus
from gateway.policy.lenient.cut_path import cut_target, is_cut
from gateway.policy.lenient.decoded_path import hides_dots, is_escaped_twice
from gateway.policy.lenient.deeper_mounts import DeeperMounts
from gateway.policy.lenient.encoded_slash import has_half_slash, names_slashes
from gateway.policy.lenient.escaped_twice import EscapedTwice
from gateway.policy.lenient.index_path import IndexPaths
from gateway.policy.lenient.literal import misspelled_literal
from gateway.policy.lenient.path_in_query import has_path_in_query
from gateway.policy.lenient.program_path import ProgramPaths
from gateway.policy.lenient.shortened_path import ShortenedPaths, hides_session
from gateway.policy.pattern import Pattern, split_slash
from gateway.policy.reading.hidden import hidden_in
from gateway.policy.reading.parameters import overrides_method


def _refused(why: str) -> Refused:
    return Refused(AMBIGUOUS_TARGET, f"Nothing was forwarded: {why}.", OF_PATHS)


_OF_A_FORMAT = _refused(
    "the path's last segment ends as a format does, which the API would cut off. Send the path without the ending; say "
    "in `Accept` which format is wanted"
)
_OF_DEEPER = _refused(
    "in another case, or with other marks (`-`, `_`, a blank) or none, this is a path of another upstream. Spell it as "
    "that one's mount does"
)
_SHORTENED_IS_OF_DEEPER = _refused(
    "without what servers drop of a path (`index.php`, `.php`, `(S(x))`) this is one of another upstream. Send it "
    "without that"
)
_DECODED_IS_OF_DEEPER = _refused(
    "with its escapes undone this is a path of another upstream. Send the path without them"
)
_READS_AS_DEEPER = _refused(
    "without escapes, or what servers drop of it (`index.php`, `.json`, `(S(x))`, blanks, all behind `?`, `#` or `&`), "
    "this is a path of another upstream, which takes no reads. Send the path without them"
)
_ESCAPED_TWICE = _refused(
    "the path has an escaped escape, and to a server that undoes both it is another rule's. Escape once"
)
_SHORTENED = _refused(
    "to a server that drops a program's name, its ending or a session from a path (`index.php`, `.php`, `(S(x))`) this "
    "is another rule's. Send the path without it"
)
_HIDES_SESSION = _refused(
    "a segment of the path has a session without a cookie in it (`(S(x))`), without which some servers read on. Send "
    "the path without it"
)
_HIDES_DOTS = _refused("the path has a dot segment in an escaped escape. Send it without")
_NAMES_METHOD = _refused(
    "what follows `?` or `&` in the target would, read as a query, make another request of this one. Send the one that "
    "is meant, without it"
)
_PATH_IN_QUERY = _refused(
    "the query begins with a slash, behind an empty path or a program's name. Some servers take it for the path: send "
    "it as one"
)
_HAS_SLASH = _refused(
    "the path has an encoded slash (%2F), which some servers take for a slash. Use a path without it, or have the "
    "policy say that it is none to the API (`encoded_slash: opaque`)"
)
_HAS_DELIMITER = _refused(
    "the path has a `&`, an escaped `?`, `#` or `&`, or an escaped escape, at which it ends to some servers, or is "
    "another one. Use a path without it"
)
_HAS_PLUS = _refused(
    "the path has a bare `+`, which some servers take for a blank. Write `%2B` for a plus, `%20` for a blank"
)
_HAS_EMPTY_SEGMENT = _refused(
    "an encoded slash (%2F) has nothing beside it, which some servers drop. Send it with text on both sides; where the "
    "API calls something `/`, have the policy name that as text (`match: PUT /queues/%2F/{queue}`)"
)


class DoubtfulPaths:
    """Those of one upstream, told in the order in which more is known of a request."""

    __slots__ = ("_deeper", "_denied_deeper", "_escaped_twice", "_indices", "_mount", "_programs", "_shortened")

    def __init__(
        self, mount: Mount, deeper: Sequence[Upstream], patterns: Sequence[Pattern], opened: Iterable[Pattern]
    ) -> None:
        """`deeper`: the upstreams that are mounted below this one. `patterns`: of all its entries. `opened`: of those
        that close nothing; which closed path goes on behind its end, `closed_writes` tells."""
        opaque = mount.encoded_slash == "opaque"
        denied = [other.mount for other in deeper if other.reads == "deny"]
        self._mount = mount
        self._deeper = DeeperMounts((other.mount for other in deeper), opaque_slash=opaque) if deeper else None
        self._denied_deeper = DeeperMounts(denied, opaque_slash=opaque) if denied else None
        self._escaped_twice = EscapedTwice(patterns, opaque_slash=opaque)
        self._shortened = ShortenedPaths(patterns)
        self._programs = ProgramPaths(patterns)
        self._indices = IndexPaths(opened)

    def of_any(self, target: Target) -> Refused | None:
        """Of reads too: the mount tells whether they pass, and with whose credentials."""
        if has_path_in_query(target, self._mount):
            return _PATH_IN_QUERY
        if hides_session(target):
            return _HIDES_SESSION
        # Without an escape, nothing of a path can be hidden but parameters.
        if "%" not in target.path and "&" not in target.path:
            return None
        misspelled = misspelled_literal(self._mount.segments, target, escapes_plus=self._mount.plus == "refuse")
        if misspelled is not None:
            return misspelled
        if hides_dots(target):
            return _HIDES_DOTS
        cut = cut_target(target)
        if cut is None:
            return None
        return _NAMES_METHOD if overrides_method(cut) or has_path_in_query(cut, self._mount) else None

    def of_read(self, target: Target) -> Refused | None:
        """Only a mount that takes no reads could be read by another spelling."""
        if self._denied_deeper is None:
            return None
        if self._denied_deeper.take(target):
            return _OF_DEEPER
        return _READS_AS_DEEPER if self._denied_deeper.take_read(target) else None

    def of_write(self, target: Target) -> Refused | None:
        """Before any rule is asked."""
        if self._deeper and self._deeper.take(target):
            return _OF_DEEPER
        if self._deeper and self._deeper.take_shortened(target):
            return _SHORTENED_IS_OF_DEEPER
        if has_bare_plus(target, self._mount):
            return _HAS_PLUS
        if "%" not in target.path and "&" not in target.path:
            return None
        if target.has_encoded_slash and self._mount.encoded_slash == "refuse":
            return _HAS_SLASH
        if self._mount.delimiters == "refuse" and is_cut(target):
            return _HAS_DELIMITER
        if target.has_encoded_slash and has_half_slash(target):
            return _HAS_EMPTY_SEGMENT
        if self._deeper and is_escaped_twice(target) and self._deeper.take_decoded(target):
            return _DECODED_IS_OF_DEEPER
        hidden = next(filter(None, map(hidden_in, target.segments)), None)
        if hidden is None:
            return None
        return _refused(f"a segment of the path {hidden}: readers differ in it. Send it without")

    def of_taken(self, method: str, taker: Pattern, target: Target) -> Refused | None:
        """Of a write that a pattern takes."""
        if self.cuts_format(taker, target):
            return _OF_A_FORMAT
        if "%" in target.path:
            if target.has_encoded_slash and not names_slashes(taker, target):
                return _HAS_EMPTY_SEGMENT
            misspelled = misspelled_literal(taker.segments, target, escapes_plus=self._mount.plus == "refuse")
            if misspelled is not None:
                return misspelled
            if self._escaped_twice.leads_astray(taker, target):
                return _ESCAPED_TWICE
        if self._shortened.lead_astray(method, taker, target):
            return _SHORTENED
        return self._programs.refusal(method, taker, target) or self._indices.refusal(method, taker, target)

    def cuts_format(self, taker: Pattern, target: Target) -> bool:
        """Whether the server would find another value in a path's last segment. A pattern's own text is meant as it
        is."""
        formats = self._mount.format_endings
        return formats is not None and taker.ends_open and formats.has(split_slash(target)[0][-1])
