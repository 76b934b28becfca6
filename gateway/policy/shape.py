"""A source checked against the schema, with each fault at its place and in words that say what to write."""

import difflib
from collections.abc import Iterator
from typing import TypeVar, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from gateway.policy.finding import Finding
from gateway.policy.source import Path, Source

Model = TypeVar("Model", bound=BaseModel)

_WANTED = {
    "string_type": "text is wanted; put the value in quotes",
    "int_type": "a whole number is wanted, in plain digits",
    "bool_type": "write `true` or `false`",
    "list_type": "a list is wanted; write `[...]`",
    "dict_type": "a mapping is wanted; write `{...}`",
    "model_type": "a mapping is wanted; write `{...}`",
    "string_too_short": "this text must not be empty",
    "too_short": "at least one value is wanted",
}


def check_shape(source: Source, model: type[Model]) -> Model | tuple[Finding, ...]:
    """The model of a source, or a finding for each field that is unknown, missing or of another type."""
    try:
        return model.model_validate(source.value)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)
        found = {_finding(source, model, fault): None for fault in faults}
        return tuple(sorted(found, key=lambda finding: (finding.line, finding.column)))


def _finding(source: Source, model: type[BaseModel], fault: ErrorDetails) -> Finding:
    path: Path = fault["loc"]
    context = fault.get("ctx", {})
    match fault["type"]:
        case "extra_forbidden":
            known = _known_fields(model, path[:-1])
            return source.key_finding(path, f"unknown field `{path[-1]}`; {_advice(str(path[-1]), known)}")
        case "missing":
            return source.finding(path, f"`{path[-1]}` is missing; write `{path[-1]}: ...`")
        case "literal_error":
            wanted = context["expected"].replace(chr(39), "`")
            return source.finding(path, "write `true`" if wanted == "True" else f"write {wanted}")
        case "less_than_equal" | "greater_than_equal":
            bound = "at most" if "le" in context else "at least"
            return source.finding(path, f"this number must be {bound} {context.get('le', context.get('ge'))}")
        case "value_error":
            return source.finding(path, str(context["error"]))
    return source.finding(path, _WANTED.get(fault["type"], fault["msg"]))


def _advice(name: str, known: list[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    return f"write `{close[0]}`" if close else f"known here: {', '.join(known)}"


def _known_fields(model: type[BaseModel], path: Path) -> list[str]:
    for step in path:
        field = next((one for name, one in model.model_fields.items() if (one.alias or name) == step), None)
        if field is not None:
            model = next(_models(field.annotation), model)
    return [field.alias or name for name, field in model.model_fields.items()]


def _models(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models(argument)
