"""Types: which ones a part admits, and a branch for each where an API takes one at a time."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from sidecheck_server.core.convert.apis.api import Subset
from sidecheck_server.core.convert.fitting.fitting import Fitting, Rule
from sidecheck_server.core.convert.fitting.phrases import phrase_of
from sidecheck_server.core.convert.fitting.telling import describe
from sidecheck_server.core.convert.part import Part
from sidecheck_server.core.convert.words import Action, Direction

__all__ = [
    "ANNOTATIONS",
    "RULES",
    "SPEAKS_OF",
    "common_types",
    "encodes",
    "is_of",
    "or_null",
    "pushed",
    "says_no_type",
    "types_of",
    "types_of_values",
]

_BY_TYPE = {
    "string": "minLength maxLength pattern format contentEncoding contentMediaType contentSchema",
    "number": "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf",
    "array": "items prefixItems minItems maxItems uniqueItems contains minContains maxContains"
    " unevaluatedItems",
    "object": "properties patternProperties additionalProperties propertyNames required"
    " minProperties maxProperties dependentRequired dependentSchemas unevaluatedProperties",
}

SPEAKS_OF: Mapping[str, str] = MappingProxyType(
    {keyword: type_ for type_, keywords in _BY_TYPE.items() for keyword in keywords.split()}
)
"""The type that a keyword says something of; values of other types pass it."""

ANNOTATIONS = frozenset(
    {
        *("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"),
        *("$comment", "format", "contentEncoding", "contentMediaType", "contentSchema"),
    }
)
"""Keywords that admit and refuse nothing (2020-12 Validation, sections 7.2.1, 8 and 9)."""

_TYPING = ("type", "anyOf", "oneOf", "allOf", "enum", "const", "$ref")
_REST = "any other JSON value, as JSON text"


def encodes(subset: Subset) -> bool:
    """Return whether payloads may have another form in *subset* than in the original."""
    return subset.closed or subset.typed or not subset.empty_objects


def says_no_type(part: Part) -> bool:
    """Return whether values of any type may be admitted by *part* for all it says itself."""
    return not part.never and not any(keyword in part.keywords for keyword in _TYPING)


def types_of(part: Part) -> list[str]:
    """Return the types that *part* states itself; none if it states none."""
    stated = part.keywords.get("type", [])
    return [stated] if isinstance(stated, str) else list(stated)


def is_of(value: Any, type_: str) -> bool:
    """Return whether *value* is of *type_* (2020-12 Validation, section 6.1.1)."""
    if isinstance(value, bool):
        return type_ == "boolean"
    if isinstance(value, (int, float)):
        return type_ == "number" or (type_ == "integer" and value == int(value))
    found = {str: "string", list: "array", dict: "object", type(None): "null"}[type(value)]
    return type_ == found


def types_of_values(part: Part) -> list[str]:
    """Return the types of the values that `enum` or `const` list; none if there are none."""
    keywords = part.keywords
    values = keywords.get("enum", [keywords["const"]] if "const" in keywords else [])
    types = list(dict.fromkeys(_type_of(value) for value in values))
    if "number" in types and "integer" in types:
        types.remove("integer")
    return types


def or_null(type_: str, types: list[str]) -> str | list[str]:
    """Return *type_*, beside null if that is one of *types*."""
    return [type_, "null"] if "null" in types else type_


def _type_of(value: Any) -> str:
    names = ("boolean", "integer", "number", "string", "array", "object", "null")
    return next(name for name in names if is_of(value, name))


def _inferred(part: Part, fitting: Fitting) -> None:
    """State the types of the values that `enum` and `const` list, where types are wanted."""
    keywords, subset = part.keywords, fitting.subset
    wanted = encodes(subset) or subset.enum_of_strings
    if not wanted or "type" in keywords:
        return
    types = types_of_values(part)
    if types:
        stated = types[0] if len(types) == 1 else types
        part.keywords = {"type": stated, **keywords}


def _split(part: Part, fitting: Fitting) -> None:
    """Give each type of a list a branch of its own, where that is called for."""
    types, subset = types_of(part), fitting.subset
    if not isinstance(part.keywords.get("type"), list):
        return
    if len(types) == 1:
        part.keywords["type"] = types[0]
    elif _must_split(part, types, subset):
        direction, said = pushed(part, types), "the branches of the union say the types"
        if direction is None:
            _keep_rest(part, _possible([_branch(part, each) for each in _groups(types, subset)]))
            direction, said = Direction.SAME, "each type has a branch of a union"
        fitting.record.tell(part, "type", Action.REWRITTEN, direction, said)


def _possible(branches: list[Part]) -> list[Part]:
    """Return those of *branches* that admit anything by their enum; all if none does."""
    return [each for each in branches if each.keywords.get("enum") != []] or branches


def _must_split(part: Part, types: list[str], subset: Subset) -> bool:
    others = [each for each in types if each != "null"]
    if len(others) == 1:
        return not (subset.type_lists or subset.nullable)
    structured = "object" in others or "array" in others
    listed = subset.enum_of_strings and "enum" in part.keywords
    return not subset.type_lists or listed or (encodes(subset) and structured)


def _groups(types: list[str], subset: Subset) -> list[list[str]]:
    """Return the types of each branch: null goes along where it is only a mark."""
    if not subset.nullable or "null" not in types:
        return [[each] for each in types]
    first, *rest = [each for each in types if each != "null"]
    return [[first, "null"], *([each] for each in rest)]


def _branch(part: Part, types: list[str]) -> Part:
    """Return what *part* says of values of *types*."""
    keywords: dict[str, Any] = {"type": types[0] if len(types) == 1 else types}
    for keyword, value in part.keywords.items():
        if SPEAKS_OF.get(keyword) in _wide(types):
            keywords[keyword] = value
        elif keyword == "enum":
            keywords["enum"] = [each for each in value if any(is_of(each, t) for t in types)]
        elif keyword == "const":
            fits = any(is_of(value, each) for each in types)
            keywords["const" if fits else "enum"] = value if fits else []
    return Part(part.at, keywords)


def _wide(types: Iterable[str]) -> set[str]:
    return {"number" if each == "integer" else each for each in types}


def _keep_rest(part: Part, branches: list[Part]) -> None:
    """Leave in *part* what speaks of all types, with *branches* for the others."""
    stays = {
        keyword: value
        for keyword, value in part.keywords.items()
        if keyword not in SPEAKS_OF and keyword not in ("type", "enum", "const")
    }
    if len(branches) == 1:
        stays.update(branches[0].keywords)
    else:
        stays["anyOf"] = branches
    part.keywords = stays


def pushed(part: Part, types: list[str]) -> Direction | None:
    """State *types* in the branches of a union that stands there already, if one does.

    Return what that means, or None. Branches that have a reference are left as they are.
    """
    union = next((each for each in ("anyOf", "oneOf") if each in part.keywords), None)
    if union is None:
        return None
    typed = [_typed_branch(branch, types) for branch in part.keywords[union]]
    possible = [branch for branch in typed if not branch.never]
    part.keywords[union] = possible or part.keywords[union]
    del part.keywords["type"]
    loose = not possible or any("$ref" in branch.keywords for branch in possible)
    return Direction.WIDER if loose else Direction.SAME


def _typed_branch(branch: Part, types: list[str]) -> Part:
    """Return *branch* for values of *types* only; one that has a reference is left as it is."""
    if branch.never or "$ref" in branch.keywords:
        return branch
    own = types_of(branch)
    stated = common_types(own, types) if own else types
    if not stated:
        return Part(branch.at, never=True)
    keywords = {"type": stated[0] if len(stated) == 1 else list(stated), **branch.keywords}
    keywords["type"] = stated[0] if len(stated) == 1 else list(stated)
    return Part(branch.at, keywords, notes=list(branch.notes), name=branch.name)


def common_types(some: list[str], others: list[str]) -> list[str]:
    """Return the types that are in both lists; an integer is a number too."""
    both = [each for each in some if each in others or (each == "integer" and "number" in others)]
    if "number" in some and "integer" in others and "integer" not in both:
        both.append("integer")
    return both


def _typed(part: Part, fitting: Fitting) -> None:
    """Have a part that admits any type say which form values of each have."""
    subset = fitting.subset
    if not (subset.typed or subset.closed) or not says_no_type(part) or part is fitting.root:
        return
    types = list(dict.fromkeys(SPEAKS_OF[each] for each in part.keywords if each in SPEAKS_OF))
    if "string" in types:
        # A string of its own could not be told from one that is the JSON text of another value.
        types.remove("string")
        for keyword in [each for each in part.keywords if SPEAKS_OF.get(each) == "string"]:
            said = f"if it is a string: {phrase_of(keyword, part.keywords)}"
            direction = Direction.SAME if keyword in ANNOTATIONS else Direction.WIDER
            describe(part, fitting.record, keyword, said, direction=direction)
    if types:
        rest = Part(part.at, {"type": "string"}, notes=[_REST])
        rest.undo.json_text = True
        _keep_rest(part, [*(_branch(part, [each]) for each in types), rest])
        said = "values of types that it does not speak of are given as JSON text"
        fitting.record.tell(part, "type", Action.ENCODED, Direction.SAME, said)


RULES: tuple[Rule, ...] = (_inferred, _split, _typed)
