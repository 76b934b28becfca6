"""The query of a call that lists something. A slip in it is refused: passed over, it would answer another question."""

from collections.abc import Mapping

from aiohttp import web

from gateway.core.decision import BAD_REQUEST, Refused


def read_query(request: web.Request, *known: str) -> Mapping[str, str] | Refused:
    """Each parameter once, and none but `known`. An empty value is no value."""
    given = request.query
    unknown = sorted(given.keys() - set(known))
    if unknown:
        listed = ", ".join(f"`{name}`" for name in known)
        return Refused(BAD_REQUEST, f"The list does not know {unknown[0]!r}: it takes {listed}.")
    doubled = sorted(name for name in set(given) if len(given.getall(name)) > 1)
    if doubled:
        return Refused(BAD_REQUEST, f"`{doubled[0]}` is given more than once: give it once.")
    return {name: value for name, value in given.items() if value}
