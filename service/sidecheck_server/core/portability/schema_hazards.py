"""Hazards of schemas: keywords, types, roots, patterns and dialects."""

from collections.abc import Callable, Iterator
from typing import Any

from sidecheck_server.core.convert.providers.subset import Patterns
from sidecheck_server.core.convert.transforms.values import has_look_around, supports_pattern
from sidecheck_server.core.limits import Budget, spend
from sidecheck_server.core.portability.facts import Hazard, Occurrence, Path, ToolView
from sidecheck_server.core.schemas.keywords import KEYWORDS, subschemas
from sidecheck_server.core.schemas.walker import declared_draft
from sidecheck_server.core.types import Draft

__all__ = [
    "ARRAY_WITHOUT_ITEMS",
    "BOOLEAN_PROPERTY_SCHEMA",
    "BOOLEAN_SCHEMA",
    "ENUM_NOT_OF_STRINGS",
    "KEYWORD_BESIDE_ANY_OF",
    "LOOK_AROUND",
    "OBJECT_NOT_CLOSED",
    "OBJECT_WITHOUT_PROPERTIES",
    "OPTIONAL_PROPERTY",
    "OUTPUT_DIALECT",
    "OUTPUT_ROOT_NOT_OBJECT",
    "PATTERN_NEEDS_UNICODE_FLAG",
    "PATTERN_NOT_ANCHORED",
    "PATTERN_NOT_PYTHON",
    "PATTERN_SHORTHAND_CLASS",
    "REFERENCE",
    "ROOT_WITHOUT_OBJECT_TYPE",
    "ROOT_WITHOUT_PROPERTIES",
    "SCHEMA_WITHOUT_TYPE",
    "TYPE_LIST",
    "format_outside",
    "ignored_keyword",
    "root_keyword",
    "unsupported_keyword",
]

_INPUT, _OUTPUT = "inputSchema", "outputSchema"
_SUBSCHEMA = 40
"""Steps of looking at one subschema."""


def _in_inputs(
    find: Callable[[dict[str, Any]], Iterator[tuple[Path, str]]], keyword: str
) -> Callable[[ToolView, Budget], Iterator[Occurrence]]:
    """Return a function that applies *find* to each subschema of the input schema.

    *find* yields paths within the subschema and subjects.
    """

    def find_all(view: ToolView, budget: Budget) -> Iterator[Occurrence]:
        for location in view.inputs:
            spend(budget, _SUBSCHEMA)
            for path, subject in find(location.schema):
                yield Occurrence((_INPUT, *location.path, *path), subject, keyword)

    return find_all


def _has_type(schema: dict[str, Any], name: str) -> bool:
    types = schema.get("type")
    return types == name or (isinstance(types, list) and name in types)


def root_keyword(keywords: frozenset[str]) -> Hazard:
    """Return the hazard of *keywords* at the root of the input schema."""

    def find(view: ToolView, _budget: Budget) -> Iterator[Occurrence]:
        for keyword in view.root:
            if keyword in keywords:
                yield Occurrence((_INPUT, keyword), f'"{keyword}" at the root', keyword)

    return Hazard(
        "ROOT_COMBINATOR",
        "The root of an input schema has no union, condition or list of values.",
        "declare all properties at the root, and say in the description which belong together",
        find,
    )


def _find_untyped_root(view: ToolView, _budget: Budget) -> Iterator[Occurrence]:
    if view.inputs and view.root.get("type") != "object":
        yield Occurrence((_INPUT,), 'the root of the input schema has no "type": "object"', "type")


ROOT_WITHOUT_OBJECT_TYPE = Hazard(
    "ROOT_WITHOUT_OBJECT_TYPE",
    'The root of an input schema has "type": "object".',
    'write "type": "object" at the root',
    _find_untyped_root,
)


def _find_root_without_properties(view: ToolView, _budget: Budget) -> Iterator[Occurrence]:
    if view.inputs and not isinstance(view.root.get("properties"), dict):
        yield Occurrence((_INPUT,), 'the root has no "properties"', "properties")


ROOT_WITHOUT_PROPERTIES = Hazard(
    "ROOT_WITHOUT_PROPERTIES",
    'The root of an input schema has "properties", even if there are none.',
    'write "properties": {}',
    _find_root_without_properties,
)


def _find_empty_objects(view: ToolView, budget: Budget) -> Iterator[Occurrence]:
    for location in view.inputs:
        spend(budget, _SUBSCHEMA)
        schema = location.schema
        if location.path and _has_type(schema, "object") and not schema.get("properties"):
            subject = "an object below the root that declares no properties"
            yield Occurrence((_INPUT, *location.path), subject, "properties")


OBJECT_WITHOUT_PROPERTIES = Hazard(
    "OBJECT_WITHOUT_PROPERTIES",
    "Every object below the root declares properties.",
    "declare its properties, or pass it as JSON text (`sidecheck convert`)",
    _find_empty_objects,
)


def _find_array_without_items(schema: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    if _has_type(schema, "array") and "items" not in schema:
        yield (), 'an array without "items"'


ARRAY_WITHOUT_ITEMS = Hazard(
    "ARRAY_WITHOUT_ITEMS",
    'Every array has "items".',
    'write "items" with the schema of an item',
    _in_inputs(_find_array_without_items, "items"),
)


def unsupported_keyword(supported: frozenset[str]) -> Hazard:
    """Return the hazard of any keyword that is not *supported*."""

    def find(schema: dict[str, Any]) -> Iterator[tuple[Path, str]]:
        for keyword in schema:
            if keyword not in supported and keyword not in _REFERENCES:
                yield (keyword,), f'the keyword "{keyword[:64]}"'

    return Hazard(_UNSUPPORTED, _SUPPORTED_ONLY, _DESCRIBE, _in_inputs(find, ""))


def ignored_keyword(supported: frozenset[str]) -> Hazard:
    """Return the hazard of an assertion of JSON Schema that is not *supported*."""
    ignored = frozenset(KEYWORDS[Draft.DRAFT_2020_12]) - supported - _REFERENCES

    def find(schema: dict[str, Any]) -> Iterator[tuple[Path, str]]:
        for keyword in schema:
            if keyword in ignored:
                yield (keyword,), f'the keyword "{keyword}"'

    return Hazard(_UNSUPPORTED, _SUPPORTED_ONLY, _DESCRIBE, _in_inputs(find, ""))


_UNSUPPORTED = "KEYWORD_NOT_SUPPORTED"
_SUPPORTED_ONLY = "A schema has only keywords that the target supports."
_DESCRIBE = "move what it says to the description"
# The hazard `REFERENCE` covers these.
_REFERENCES = frozenset({"$defs", "definitions", "$ref"})


def _find_reference(schema: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    if "$ref" in schema:
        yield ("$ref",), "a reference"


REFERENCE = Hazard(
    "REFERENCE_NOT_SUPPORTED",
    'An input schema has no "$ref".',
    "write the target of the reference in its place",
    _in_inputs(_find_reference, "$ref"),
)


def _find_type_list(schema: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    if isinstance(schema.get("type"), list):
        yield ("type",), "a list of types"


TYPE_LIST = Hazard(
    "TYPE_LIST",
    '"type" is one type.',
    'write "anyOf" with one branch for each type',
    _in_inputs(_find_type_list, "type"),
)


def _find_untyped(schema: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    if schema.keys().isdisjoint(("type", "anyOf", "oneOf", "allOf", "enum", "const", "$ref")):
        yield (), "a schema without a type"


SCHEMA_WITHOUT_TYPE = Hazard(
    "SCHEMA_WITHOUT_TYPE",
    "Every schema says what type its values have.",
    'write "type"',
    _in_inputs(_find_untyped, "type"),
)


def _find_boolean_schemas(schema: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    for path, value in subschemas(schema, Draft.DRAFT_2020_12):
        # `additionalProperties: false` is supported everywhere.
        if isinstance(value, bool) and path[0] != "additionalProperties":
            yield path, f"the schema {str(value).lower()}"


BOOLEAN_SCHEMA = Hazard(
    "BOOLEAN_SCHEMA",
    "Every schema is an object.",
    "write {} for true",
    _in_inputs(_find_boolean_schemas, ""),
)


def _find_boolean_properties(view: ToolView, _budget: Budget) -> Iterator[Occurrence]:
    for name in (_INPUT, _OUTPUT):
        schema = view.tool.get(name)
        properties = schema.get("properties") if isinstance(schema, dict) else None
        for property_, value in properties.items() if isinstance(properties, dict) else ():
            if isinstance(value, bool):
                path = (name, "properties", property_)
                yield Occurrence(path, f"the schema {str(value).lower()} of a property")


BOOLEAN_PROPERTY_SCHEMA = Hazard(
    "BOOLEAN_PROPERTY_SCHEMA",
    "The schema of a property is an object.",
    "write {} for true",
    _find_boolean_properties,
)


def _find_invalid_enum_values(schema: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    values = schema.get("enum")
    if isinstance(values, list) and not all(isinstance(v, str) and v for v in values):
        yield ("enum",), "an enum with values other than non-empty strings"


ENUM_NOT_OF_STRINGS = Hazard(
    "ENUM_NOT_OF_STRINGS",
    "The values of an enum are strings that are not empty.",
    "list strings only, and say in the description what they stand for",
    _in_inputs(_find_invalid_enum_values, "enum"),
)


def _find_any_of_siblings(schema: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    if "anyOf" in schema and len(schema) > 1:
        sibling = next(keyword for keyword in schema if keyword != "anyOf")
        yield ("anyOf",), f'"{sibling[:64]}" beside "anyOf"'


KEYWORD_BESIDE_ANY_OF = Hazard(
    "KEYWORD_BESIDE_ANY_OF",
    'A schema with "anyOf" has no other keyword.',
    "move the other keywords into each branch",
    _in_inputs(_find_any_of_siblings, "anyOf"),
)


def format_outside(formats: frozenset[str]) -> Hazard:
    """Return the hazard of a format that is not one of *formats*."""

    def find(schema: dict[str, Any]) -> Iterator[tuple[Path, str]]:
        name = schema.get("format")
        if isinstance(name, str) and name not in formats:
            yield ("format",), f'the format "{name[:64]}"'

    return Hazard(
        "FORMAT_NOT_SUPPORTED",
        "A schema has only formats that the target supports.",
        "move the format to the description",
        _in_inputs(find, "format"),
    )


def _find_open_object(schema: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    if _has_type(schema, "object") and schema.get("additionalProperties") is not False:
        yield (), "an object that allows undeclared properties"


OBJECT_NOT_CLOSED = Hazard(
    "OBJECT_NOT_CLOSED",
    'Every object has "additionalProperties": false.',
    'write "additionalProperties": false, or convert the tool',
    _in_inputs(_find_open_object, "additionalProperties"),
)


def _find_optional_property(schema: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    properties, required = schema.get("properties"), schema.get("required", [])
    if not isinstance(properties, dict) or not isinstance(required, list):
        return
    for name in properties:
        if name not in required:
            yield ("properties", name), "an optional property"


OPTIONAL_PROPERTY = Hazard(
    "PROPERTY_NOT_REQUIRED",
    "Every property is required.",
    "require it and admit null, or convert the tool",
    _in_inputs(_find_optional_property, "required"),
)


def _patterns(schema: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    """Yield the regular expressions of *schema*, each with its path."""
    pattern = schema.get("pattern")
    if isinstance(pattern, str):
        yield ("pattern",), pattern
    keys = schema.get("patternProperties")
    if isinstance(keys, dict):
        for key in keys:
            yield ("patternProperties", key), key


def _pattern_hazard(
    code: str, requirement: str, remedy: str, subject: str, is_hazard: Callable[[str, Budget], bool]
) -> Hazard:
    def find(view: ToolView, budget: Budget) -> Iterator[Occurrence]:
        for location in view.inputs:
            spend(budget, _SUBSCHEMA)
            for path, pattern in _patterns(location.schema):
                if is_hazard(pattern, budget):
                    yield Occurrence((_INPUT, *location.path, *path), subject, str(path[0]))

    return Hazard(code, requirement, remedy, find)


def needs_unicode_flag(pattern: str) -> bool:
    """Return whether *pattern* has an escape that needs the u flag of ECMA-262."""
    unescaped = pattern.replace("\\\\", "")
    return any(escape in unescaped for escape in ("\\p{", "\\P{", "\\u{"))


LOOK_AROUND = _pattern_hazard(
    "PATTERN_LOOK_AROUND",
    "A pattern has no look-ahead and no look-behind.",
    "write the pattern without (?=, (?!, (?<= and (?<!, or move it to the description",
    "look-around in a pattern",
    lambda pattern, _budget: has_look_around(pattern),
)

PATTERN_NOT_PYTHON = _pattern_hazard(
    "PATTERN_NOT_PYTHON",
    "A pattern compiles with Python's re.",
    "write a class of characters in place of \\p{…} and \\u{…}",
    "a pattern that Python's re does not compile",
    lambda pattern, budget: (
        not needs_unicode_flag(pattern) and not supports_pattern(pattern, Patterns.PYTHON, budget)
    ),
)

PATTERN_NEEDS_UNICODE_FLAG = _pattern_hazard(
    "PATTERN_NEEDS_UNICODE_FLAG",
    "A pattern means the same with and without the u flag of ECMA-262.",
    "write a class of characters in place of \\p{…} and \\u{…}",
    "a pattern that needs the u flag",
    lambda pattern, _budget: needs_unicode_flag(pattern),
)

PATTERN_NOT_ANCHORED = _pattern_hazard(
    "PATTERN_NOT_ANCHORED",
    "A pattern starts with ^ and ends with $.",
    "write ^ and $ around the pattern, with .* where anything may stand",
    "a pattern without ^ and $",
    lambda pattern, _budget: not (pattern.startswith("^") and pattern.endswith("$")),
)

PATTERN_SHORTHAND_CLASS = _pattern_hazard(
    "PATTERN_SHORTHAND_CLASS",
    "A pattern has no \\d, \\w, \\s, \\D, \\W or \\S.",
    "write the class of characters, for example [0-9]",
    "a shorthand class in a pattern",
    lambda pattern, _budget: any(
        f"\\{letter}" in pattern.replace("\\\\", "") for letter in "dwsDWS"
    ),
)


def _find_output_dialect(view: ToolView, _budget: Budget) -> Iterator[Occurrence]:
    schema = view.tool.get("outputSchema")
    if not isinstance(schema, dict) or "$schema" not in schema:
        return
    if declared_draft(schema) is not Draft.DRAFT_2020_12:
        subject = "an output schema of another dialect than 2020-12"
        yield Occurrence((_OUTPUT, "$schema"), subject, "$schema")


OUTPUT_DIALECT = Hazard(
    "OUTPUT_SCHEMA_DIALECT",
    "An output schema declares no dialect but 2020-12.",
    "generate 2020-12 (zod-to-json-schema: target jsonSchema2020-12), or leave out $schema if "
    "the schema means the same in 2020-12",
    _find_output_dialect,
)


def _find_output_root(view: ToolView, _budget: Budget) -> Iterator[Occurrence]:
    schema = view.tool.get("outputSchema")
    if isinstance(schema, dict) and schema.get("type") != "object":
        subject = 'the root of the output schema has no "type": "object"'
        yield Occurrence((_OUTPUT,), subject, "type")


OUTPUT_ROOT_NOT_OBJECT = Hazard(
    "OUTPUT_ROOT_NOT_OBJECT",
    'The root of an output schema has "type": "object".',
    "wrap the result in an object (`sidecheck adapt`)",
    _find_output_root,
)
