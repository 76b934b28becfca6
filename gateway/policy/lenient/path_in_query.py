"""Queries from which a server takes its path.

CodeIgniter does so where the path is empty, or its own program, and the query begins with a slash: to it `/?/docs/7`
and `/index.php?/docs/7` are `/docs/7`.
"""

from gateway.core.rule import Mount
from gateway.core.target import Target
from gateway.policy.lenient.index_path import names_index
from gateway.policy.lenient.program_name import is_program
from gateway.policy.pattern import split_slash

_SLASHES = ("/", "%2F", "%2f")
# Nothing stands before the first name.
_EMPTY = "&?"


def has_path_in_query(target: Target, mount: Mount) -> bool:
    if not target.query or not target.query.lstrip(_EMPTY).startswith(_SLASHES):
        return False
    segments, _ = split_slash(target)
    return segments in ((), mount.segments) or names_index(segments[-1]) or is_program(segments[-1])
