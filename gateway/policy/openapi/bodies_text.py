"""`mount.bodies` of a proposed policy: the types of all bodies that the document names."""

from collections.abc import Collection, Iterable

from gateway.policy.compile.json_types import parse_media_type
from gateway.policy.finding import Wrong
from gateway.policy.openapi.media import FORM, JSON, JSON_TOO, MULTIPART
from gateway.policy.openapi.operation import Operation
from gateway.policy.openapi.wording import comment, scalar

# More are no list that anybody reads.
_MOST = 12
_KINDS = {JSON: "json", FORM: "form", MULTIPART: "multipart"}


def listed_bodies(operations: Iterable[Operation], json_types: Collection[str]) -> tuple[str, ...] | str | None:
    """The names of all kinds; or why there is no list. None: the document tells of no body.

    `json_types`: what `json` stands for in the policy, beside its own.
    """
    types: dict[str, None] = {}
    for each in operations:
        if each.body_types is None:
            return f"the document does not say which type of body {each} takes"
        own = [one for one in each.body_types if JSON not in each.body_types or one not in JSON_TOO]
        wild = next((one for one in own if isinstance(parse_media_type(one), Wrong)), None)
        if wild is not None:
            return f"{each} takes bodies of `{wild}`"
        types.update(dict.fromkeys(own))
    kinds = {"json" if one in json_types else _KINDS.get(one, one) for one in types}
    if len(kinds) > _MOST:
        return f"the document names {len(kinds)} types of bodies"
    named = [kind for kind in _KINDS.values() if kind in kinds]
    return (*named, *sorted(kinds.difference(named))) or None


def bodies_option(listed: tuple[str, ...] | str | None) -> tuple[str, tuple[str, ...]]:
    """What stands in `mount`, and the comment before it."""
    if listed is None:
        return "", ()
    if isinstance(listed, str):
        return "", (f"# Any body is taken: {comment(listed)}. Of an API of JSON alone say `bodies: [json]`.",)
    told = "# The types of bodies that the document names: one of another type is refused."
    return f", bodies: [{', '.join(map(scalar, listed))}]", (told,)
