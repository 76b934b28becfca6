"""A GraphQL document: the selected operation, its root fields, and their arguments.

This module alone needs the parser, which takes 0.1 s to import: `graphql.py` imports it where the first policy does.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from graphql import (
    BooleanValueNode,
    DocumentNode,
    EnumValueNode,
    FieldNode,
    FloatValueNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLSyntaxError,
    InlineFragmentNode,
    IntValueNode,
    ListValueNode,
    ObjectValueNode,
    OperationDefinitionNode,
    StringValueNode,
    ValueNode,
    VariableNode,
    parse,
)

from gateway.core.decision import Refused
from gateway.policy.reading.graphql import ambiguous_graphql
from gateway.policy.reading.jsonbody import MISSING, JsonValue, Missing, Number
from gateway.policy.reading.operation import Operation
from gateway.policy.reading.twin import Names, first_piece

# Texts belong into variables.
_LONGEST = 64 << 10
# Lexers differ in where a comment or a text ends, and so in what the next field is: at a bare carriage return
# (graphql-ruby), behind what is not ASCII (graphql-go/graphql counts bytes for characters), in a block string (several
# texts to graph-gophers), behind a backslash (graphql-erlang).
_DISPUTED = re.compile(r'[^\t\n\r -~]|\r(?!\n)|"""|\\')
# It names a type and reads nothing; clients add it everywhere.
_TYPENAME = "__typename"


@dataclass(frozen=True, slots=True)
class _Roots:
    """The root fields of an operation, and what its variables stand for."""

    fields: tuple[FieldNode, ...]
    defaults: Mapping[str, ValueNode | None]
    variables: Mapping[str, JsonValue]
    _names: Names
    # By what they begin with: callers make up their names, and to look for one's twins takes a pattern of its own.
    _alike: Mapping[str, int]
    # What was found in them already: a thousand root fields may name one.
    _known: dict[tuple[str, tuple[str, ...]], JsonValue | Missing | Refused] = field(default_factory=dict)

    def argument(self, path: tuple[str, ...]) -> JsonValue | Missing | Refused:
        """What the argument `path[0]` has at the rest of the path, in all root fields alike.

        A literal or a variable's value counts the same. Refused if two root fields have two values.
        """
        found = [self._argument_of(root, path) for root in self.fields if root.name.value != _TYPENAME]
        refused = next((one for one in found if isinstance(one, Refused)), None)
        if refused is not None or not found:
            return refused or MISSING
        if any(one != found[0] for one in found):
            why = f"its root fields have different values at {'.'.join(path)}"
            return ambiguous_graphql(why, "Send them one by one.")
        return found[0]

    def _argument_of(self, root: FieldNode, path: tuple[str, ...]) -> JsonValue | Missing | Refused:
        arguments = root.arguments or ()
        values = [argument.value for argument in arguments if argument.name.value == path[0]]
        if twin := Names(argument.name.value for argument in arguments).twin(path):
            return _in_another_spelling(path[0], twin)
        if len(values) > 1:
            return ambiguous_graphql(f"argument {path[0]} is there twice")
        return self._follow(values[0], path[1:]) if values else MISSING

    def _of_variable(self, name: str, path: tuple[str, ...]) -> JsonValue | Missing | Refused:
        if (name, path) not in self._known:
            self._known[name, path] = _member(self.variables[name], path)
        return self._known[name, path]

    def _follow(self, node: ValueNode, path: tuple[str, ...]) -> JsonValue | Missing | Refused:
        while True:
            if isinstance(node, VariableNode):
                name = node.name.value
                if name not in self.defaults:
                    return ambiguous_graphql(f"variable ${name} is not defined")
                if self._alike[first_piece(name)] > 1 and (twin := self._names.twin((name,))):
                    return _in_another_spelling(f"variable ${name}", twin)
                if name in self.variables:
                    return self._of_variable(name, path)
                default = self.defaults[name]
                if default is None:
                    return MISSING
                node = default
            if not path or not isinstance(node, ObjectValueNode):
                return MISSING if path else _literal(node)
            inner = [member.value for member in node.fields if member.name.value == path[0]]
            if twin := Names(member.name.value for member in node.fields).twin(path):
                return _in_another_spelling(path[0], twin)
            if len(inner) != 1:
                return ambiguous_graphql(f"an input object has {path[0]} twice") if inner else MISSING
            node, path = inner[0], path[1:]


def _in_another_spelling(name: str, twin: str) -> Refused:
    """Absinthe takes `ID` for `id` in an argument, an input object and a variable, and of both the last one."""
    return ambiguous_graphql(f"{name} is there in another spelling: some readers take {twin[:64]!r} for it")


def _member(value: JsonValue, path: tuple[str, ...]) -> JsonValue | Missing | Refused:
    """As `_literal` has it: a thousand root fields may name one variable, and each is compared with the first."""
    for at, name in enumerate(path):
        if not isinstance(value, dict):
            return MISSING
        if twin := Names(value).twin(path[at:]):
            return _in_another_spelling(name, twin)
        if name not in value:
            return MISSING
        value = value[name]
    if isinstance(value, dict):
        return None
    return [] if isinstance(value, list) else value


def _literal(node: ValueNode) -> JsonValue:
    """The value as JSON would have it. What is neither text nor a number names nothing, whatever is in it."""
    match node:
        case StringValueNode() | EnumValueNode():
            return node.value
        case IntValueNode() | FloatValueNode():
            return Number(node.value)
        case BooleanValueNode():
            return node.value
        case ListValueNode():
            return []
    return None


def parse_operation(
    text: str, name: str | None, variables: Mapping[str, JsonValue], most_tokens: int
) -> Operation | Refused:
    """The only operation of a document, which is called `name` if that is said. Refused: `ambiguous-target`."""
    document = _parsed(text, most_tokens)
    return document if isinstance(document, Refused) else _selected(document, name, variables)


def _parsed(text: str, most_tokens: int) -> DocumentNode | Refused:
    if len(text) > _LONGEST:
        return ambiguous_graphql(f"the document has more than {_LONGEST} characters", "Send long texts as variables.")
    if _DISPUTED.search(text):
        why = "the document has a character beyond ASCII or that is not printed, three quotes in a row or a backslash"
        return ambiguous_graphql(f"{why}: readers differ in where a text ends", "Send such a text as a variable.")
    try:
        return parse(text, no_location=True, max_tokens=most_tokens)
    except GraphQLSyntaxError as error:
        return ambiguous_graphql(f"the document cannot be read ({error.message[:120].rstrip('.')})")
    except RecursionError:
        return ambiguous_graphql("the document nests too deeply")


def _selected(document: DocumentNode, name: str | None, variables: Mapping[str, JsonValue]) -> Operation | Refused:
    operations = [one for one in document.definitions if isinstance(one, OperationDefinitionNode)]
    fragments = [one for one in document.definitions if isinstance(one, FragmentDefinitionNode)]
    if len(operations) + len(fragments) < len(document.definitions):
        return ambiguous_graphql("the document defines more than operations and fragments")
    if any(count > 1 for count in Counter(one.name.value for one in fragments).values()):
        return ambiguous_graphql("two fragments have one name")
    if len(operations) != 1:
        # Gato runs those on which the named one depends (`@depends`); lexers differ in where one ends.
        return ambiguous_graphql("the document has several operations, or none", "Send it with the one to run alone.")
    (chosen,) = operations
    if name is not None and (chosen.name is None or chosen.name.value != name):
        return ambiguous_graphql("operationName is not the operation's name", "Send its name, or none.")
    return _operation(chosen, {one.name.value: one for one in fragments}, variables)


def _operation(
    chosen: OperationDefinitionNode, fragments: Mapping[str, FragmentDefinitionNode], values: Mapping[str, JsonValue]
) -> Operation | Refused:
    roots: list[FieldNode] = []
    for root in _roots(chosen, fragments):
        if isinstance(root, str):
            return ambiguous_graphql(f"fragment {root[:64]} is not defined")
        roots.append(root)
    names = frozenset(root.name.value for root in roots)
    if not names:
        return ambiguous_graphql("the operation selects nothing")
    definitions = chosen.variable_definitions or ()
    defaults = {one.variable.name.value: one.default_value for one in definitions}
    if len(defaults) < len(definitions):
        return ambiguous_graphql("a variable is defined twice")
    variables = {**defaults, **values}
    alike = Counter(map(first_piece, variables))
    argument = _Roots(tuple(roots), defaults, values, Names(variables), alike).argument
    return Operation(chosen.operation.value, (names - {_TYPENAME}) or names, argument)


def _roots(
    chosen: OperationDefinitionNode, fragments: Mapping[str, FragmentDefinitionNode]
) -> Iterator[FieldNode | str]:
    """The root fields, fragments followed; as text, the name of a fragment that is not there."""
    pending = [chosen.selection_set]
    seen: set[str] = set()
    while pending:
        for selection in pending.pop().selections:
            match selection:
                case FieldNode():
                    yield selection
                case InlineFragmentNode():
                    pending.append(selection.selection_set)
                case FragmentSpreadNode():
                    name = selection.name.value
                    if name not in fragments:
                        yield name
                    elif name not in seen:
                        seen.add(name)
                        pending.append(fragments[name].selection_set)
