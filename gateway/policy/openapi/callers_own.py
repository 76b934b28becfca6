"""Paths to what is the caller's own, without its id: `/me/posts`, or `/drive` beside `/drives/{id}`.

They stand elsewhere than the paths by ids do, and write the same: as other resources they would have other holders.
"""

from collections.abc import Iterable, Iterator

from gateway.policy.openapi.operation import Operation
from gateway.policy.openapi.translation import Place, Translation
from gateway.policy.openapi.vocabulary import CALLERS, singular
from gateway.policy.openapi.wording import comment

# Among whose things the caller is one.
_PERSONS = ("user", "member", "person", "people", "account", "customer", "employee", "player", "agent")
_MARKS = "@~$_-"


class CallersOwn:
    """Knows the paths by ids; asks once for all paths that begin alike."""

    def __init__(self, ruled: Iterable[tuple[Operation, Translation]]) -> None:
        self._collections: set[Place] = set()
        # By what stands behind an id, and by what one of a collection is called: the path with that id.
        self._behind: dict[Place, str] = {}
        self._of_many: dict[str, str] = {}
        self._asked: set[Place] = set()
        for operation, path in ruled:
            texts = path.texts
            at = next((at for at, text in enumerate(texts) if text is None), len(texts))
            if at == len(texts):
                continue
            self._collections.add(texts[:at])
            if any(text is not None and _is_caller(text) for text in texts[:at]):
                continue
            self._behind.setdefault(texts[at + 1 :], operation.path)
            many = (texts[at - 1] or "").lower() if at else ""
            if many and (singular(many) != many or many in _PERSONS):
                self._of_many.setdefault(singular(many), "/".join(operation.path.split("/")[: at + 2]))

    def has(self, operation: Operation, path: Translation) -> bool:
        """Whether it begins with what is the caller's own."""
        return self._found(operation, path) is not None

    def asks(self, operation: Operation, path: Translation) -> Iterator[str]:
        found = self._found(operation, path)
        if found is None or found[0] in self._asked:
            return
        begin, example = found
        self._asked.add(begin)
        told = comment("/".join(map(str, begin)))
        yield (
            f"does `/{told}` lead to what paths with an id write, as `{comment(example)}`? "
            "If so close what begins so, or give both one `resource`: they are fenced apart"
        )

    def _found(self, operation: Operation, path: Translation) -> tuple[Place, str] | None:
        """With what it begins, and the path that may write the same."""
        texts = path.texts
        for at, text in enumerate(texts):
            begin, behind = texts[: at + 1], texts[at + 1 :]
            if text is None:
                return None
            if _is_caller(text):
                example = self._behind.get(behind) if None in behind else None
                example = example or next((self._of_many[one] for one in _PERSONS if one in self._of_many), None)
            elif begin in self._collections:
                return None
            else:
                # A POST to a name alone is a create.
                is_alone = behind[0] is not None if behind else operation.method != "POST"
                example = self._of_many.get(text.lower()) if is_alone else None
            if example is not None:
                return begin, example
        return None


def _is_caller(text: str) -> bool:
    return text == "~" or text.lower().strip(_MARKS) in CALLERS
