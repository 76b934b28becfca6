"""The `only` of a proposed rule: all that the document names of its requests, and why that is not all."""

from collections.abc import Iterable, Iterator

from gateway.policy.openapi.media import FORM, MULTIPART
from gateway.policy.openapi.proposal import Proposal
from gateway.policy.openapi.wording import REASON_LENGTH, comment, scalar

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
    lists = {"query": _with(said.query, each.path.query)}
    if said.json is not None:
        lists["json"] = _with(said.json, _read_by(each))
    if said.form is not None:
        lists["form"] = said.form
    lists["header"] = said.header
    texts = [f"{name}: [{', '.join(map(scalar, some))}]" for name, some in lists.items()]
    line = f"{indent}only: {{{', '.join(texts)}}}"
    if len(line) <= _WIDTH:
        yield line
        return
    yield f"{indent}only:"
    for name, some in lists.items():
        yield from _wrapped(f"{indent}  {name}: [", some)


def _with(listed: Iterable[str], more: Iterable[str]) -> tuple[str, ...]:
    """What the rule itself looks at has to be listed."""
    return tuple(dict.fromkeys((*listed, *more)))


def _read_by(each: Proposal) -> tuple[str, ...]:
    """The member of the body that names the resource; its name needs no escapes."""
    _, found, rest = each.resource.partition(_IN_BODY)
    return (rest.partition("}")[0],) if found else ()


def _wrapped(begin: str, listed: Iterable[str]) -> Iterator[str]:
    line, pad = begin, " " * (len(begin) - len(begin.lstrip()) + 2)
    texts = [f"{scalar(one)}," for one in listed]
    for at, text in enumerate(texts):
        last = at == len(texts) - 1
        piece = f"{text[:-1]}]" if last else text
        gap = "" if line.endswith("[") or not line.strip() else " "
        if len(line) + len(gap) + len(piece) > _WIDTH and line.strip():
            yield line
            line, gap = pad, ""
        line += gap + piece
    yield line if texts else f"{line}]"
