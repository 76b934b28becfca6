"""`defaults:` laid under every rule of its file: mappings member by member, all else as a whole."""

from gateway.policy.source import Path, Position, Source, YamlValue


def apply_defaults(source: Source) -> Source:
    """The same source with the defaults written into each rule; what came from there keeps its place.

    A file whose `defaults` or `writes` has the wrong shape is returned as it is, for the schema to refuse.
    """
    top = source.value
    if not isinstance(top, dict):
        return source
    defaults, writes = top.get("defaults"), top.get("writes")
    if not isinstance(defaults, dict) or not isinstance(writes, list) or not defaults:
        return source
    merged: list[YamlValue] = [_merged(defaults, rule) if isinstance(rule, dict) else rule for rule in writes]
    indices = [at for at, rule in enumerate(writes) if isinstance(rule, dict)]
    return Source(
        source.file,
        {**top, "writes": merged},
        {**_copied(dict(source.values), indices), **source.values},
        {**_copied(dict(source.keys), indices), **source.keys},
    )


def _merged(under: dict[str, YamlValue], over: dict[str, YamlValue]) -> dict[str, YamlValue]:
    result = {**under, **over}
    for key, value in over.items():
        below = under.get(key)
        if isinstance(value, dict) and isinstance(below, dict):
            result[key] = _merged(below, value)
    return result


def _copied(places: dict[Path, Position], rules: list[int]) -> dict[Path, Position]:
    below = [(path[1:], position) for path, position in places.items() if path[:1] == ("defaults",) and len(path) > 1]
    return {("writes", rule, *path): position for rule in rules for path, position in below}
