"""The `only` of a proposed rule: all that the document names of its requests, and why that is not all."""

from collections.abc import Container, Iterable, Iterator

from gateway.policy.openapi.documented import Documented, Part, Values
from gateway.policy.openapi.media import FORM, MULTIPART
from gateway.policy.openapi.operation import Operation
from gateway.policy.openapi.proposal import Proposal
from gateway.policy.openapi.wording import REASON_LENGTH, comment, scalar, some_of

_WIDTH = 118
_IN_BODY = "{json:"
_FORMS = frozenset((FORM, MULTIPART))


def only_lines(each: Proposal, indent: str, *, of_read: bool = False) -> Iterator[str]:
    """Nothing where nobody asked for it. `of_read`: of a `read_only` entry, where what is left out allows nothing."""
    said = each.operation.documented
    if said is None:
        return
    if said.query is None or (said.why and of_read):
        yield f"{indent}# Without `only`: {comment(said.why, REASON_LENGTH)}."
        return
    if said.why:
        yield f"{indent}# Its body is not listed: {comment(said.why, REASON_LENGTH)}."
        if not _FORMS.isdisjoint(each.operation.body_types or _FORMS):
            told = "A field `_method` in it is another method to Rails, Laravel and Symfony: there list `form`."
            yield f"{indent}# {told}"
    answered = _called(said)
    if answered:
        # Who changes a member of an answer and sends it back whole sends these, too.
        told = f"Not listed, as the document calls them read-only: {some_of(answered)}"
        yield f"{indent}# {comment(told, REASON_LENGTH)}."
    if said.whole:
        told = (
            "Listed with whatever is below, where a null, a text, a list in a list or other names may be, or too many"
        )
        yield f"{indent}# {comment(f'{told}: {some_of(said.whole)}', REASON_LENGTH)}."
    lists: dict[Part, tuple[str, ...]] = {"query": _with(said.query, each.path.query)}
    if said.json is not None:
        lists["json"] = _with(said.json, _read_by(each))
    if said.form is not None:
        lists["form"] = said.form
    lists["header"] = said.header
    words = {part: [*_words(some, said.values.get(part, {}), each.path.query)] for part, some in lists.items()}
    texts = [f"{part}: [{', '.join(some)}]" for part, some in words.items()]
    line = f"{indent}only: {{{', '.join(texts)}}}"
    if len(line) <= _WIDTH:
        yield line
        return
    yield f"{indent}only:"
    for part, some in words.items():
        yield from _wrapped(f"{indent}  {part}: [", some)


def _words(names: Iterable[str], values: Values, asked: Container[str]) -> Iterator[str]:
    """With commas in between they are a list. `asked`: what the rule looks for itself, which may be another value."""
    for name in names:
        listed = None if name in asked else values.get(name)
        if listed is None:
            yield scalar(name)
            continue
        words = list(listed.words)
        words[0] = f"{{{scalar(name)}: [{words[0]}"
        words[-1] += "]}"
        yield from words


def _called(said: Documented) -> list[str]:
    """As the list would have them; of a form's no more than is sure."""
    if said.json is not None:
        return list(said.left_out)
    return [pointer[1:] for pointer in said.left_out if pointer.count("/") == 1]


def is_whole(operation: Operation) -> bool:
    """Whether all that its requests say is listed, or nobody asked for that."""
    said = operation.documented
    return said is None or not (said.query is None or said.why)


def _with(listed: Iterable[str], more: Iterable[str]) -> tuple[str, ...]:
    """What the rule itself looks at has to be listed."""
    return tuple(dict.fromkeys((*listed, *more)))


def _read_by(each: Proposal) -> tuple[str, ...]:
    """The member of the body that names the resource; its name needs no escapes."""
    _, found, rest = each.resource.partition(_IN_BODY)
    return (rest.partition("}")[0],) if found else ()


def _wrapped(begin: str, listed: Iterable[str]) -> Iterator[str]:
    line, pad = begin, " " * (len(begin) - len(begin.lstrip()) + 2)
    texts = [f"{one}," for one in listed]
    for at, text in enumerate(texts):
        last = at == len(texts) - 1
        piece = f"{text[:-1]}]" if last else text
        gap = "" if line.endswith("[") or not line.strip() else " "
        if len(line) + len(gap) + len(piece) > _WIDTH and line.strip():
            yield line
            line, gap = pad, ""
        line += gap + piece
    yield line if texts else f"{line}]"
