"""Translation: one subschema of any dialect in the keywords of 2020-12."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from sidecheck_server.core.convert.part import Part
from sidecheck_server.core.convert.record import Record
from sidecheck_server.core.convert.words import Action, Direction
from sidecheck_server.core.schemas.keywords import KEYWORDS, Draft, Position
from sidecheck_server.core.schemas.references import REFERENCES, Subschema
from sidecheck_server.core.types import JsonValue

__all__ = ["ANNOTATIONS", "Reading", "translate"]

ANNOTATIONS: Mapping[str, type] = MappingProxyType(
    {
        "title": str,
        "description": str,
        "default": object,
        "examples": list,
        "deprecated": bool,
        "readOnly": bool,
        "writeOnly": bool,
        "format": str,
        "contentEncoding": str,
        "contentMediaType": str,
    }
)
"""The annotations of 2020-12, with the types that its meta-schema wants of them."""

_DEFINITIONS = ("$defs", "definitions")
_NEED = MappingProxyType(
    {"then": "if", "else": "if", "minContains": "contains", "maxContains": "contains"}
)
"""Keywords that say nothing without another one."""

_LOOSE = "a $dynamicRef or $recursiveRef depends on the way by which evaluation comes"
_LOOSE_NOTE = "of the form of the whole that this is a part of"
_SAYS_NOTHING = "says nothing about payloads"


class Reading(ABC):
    """A reading under way."""

    def __init__(self, record: Record) -> None:
        self.record = record
        #: Whether there are references whose targets depend on the way of evaluation.
        self.loose = False
        #: Whether ``contains``, which evaluates no items before 2020-12, must hide what it does.
        self.hides_contains = False

    @abstractmethod
    def part(self, schema: JsonValue, at: tuple[str | int, ...]) -> Part:
        """Return the part that *schema* is, which stands *at* a place if it is a boolean."""

    @abstractmethod
    def followed(self, part: Part, here: Subschema, keyword: str) -> Part | None:
        """Return where the reference *keyword* leads; None if that is not always the same."""

    def drop(self, part: Part, keyword: str, why: str) -> None:
        """Tell that *keyword*, which asserts nothing, is left out."""
        self.record.tell(part, keyword, Action.DROPPED, Direction.SAME, why)

    def widen(self, part: Part, keyword: str, why: str, note: str) -> None:
        """Tell that the assertion *keyword* is left out, and note it."""
        part.notes.append(note)
        self.record.tell(part, keyword, Action.DESCRIBED, Direction.WIDER, why)


class _Growing:
    """The keywords of one part while they grow."""

    def __init__(self, part: Part, here: Subschema, reading: Reading) -> None:
        self.part = part
        self.here = here
        self.reading = reading
        self.body: dict[str, Any] = {}

    def child(self, schema: JsonValue, *way: str | int) -> Part:
        return self.reading.part(schema, (*self.part.at, *way))

    def demand(self, extra: Part) -> None:
        """Demand *extra* too."""
        self.body.setdefault("allOf", []).append(extra)


_Rule = Callable[[_Growing, str, Any], None]


def translate(part: Part, here: Subschema, reading: Reading) -> dict[str, Any]:
    """Return the keywords of *part*, which is read from *here*; tell what is left out."""
    growing = _Growing(part, here, reading)
    dialect = here.dialect
    alone = "$ref" in here.schema and dialect.reference_hides_siblings
    for keyword, value in here.schema.items():
        if keyword in _DEFINITIONS and isinstance(value, dict):
            continue  # Read where something refers to them.
        if alone and keyword in dialect.keywords and keyword != "$ref":
            reading.drop(part, keyword, f"has no effect beside $ref in {dialect.name}")
        elif keyword in dialect.keywords and keyword != "format":
            _put(growing, keyword, value)
        elif isinstance(value, ANNOTATIONS.get(keyword, ())):
            growing.body[keyword] = value
        elif keyword in KEYWORDS[Draft.DRAFT_2020_12] or keyword in KEYWORDS[dialect.draft]:
            reading.drop(part, keyword, f"has no meaning in {dialect.name}")
        else:
            reading.drop(part, keyword, _SAYS_NOTHING)
    return growing.body


def _put(growing: _Growing, keyword: str, value: Any) -> None:
    needed = _NEED.get(keyword)
    if needed is not None and not (
        needed in growing.here.schema and needed in growing.here.dialect.keywords
    ):
        growing.reading.drop(growing.part, keyword, f"has no effect without {needed}")
        return
    rule = _RULES.get(keyword)
    if rule is not None:
        rule(growing, keyword, value)
        return
    position = KEYWORDS[growing.here.dialect.draft][keyword].position
    if position is Position.NONE:
        growing.body[keyword] = value
    elif position is Position.SCHEMA:
        growing.body[keyword] = growing.child(value, keyword)
    elif position is Position.SCHEMAS:
        listed = [growing.child(each, keyword, n) for n, each in enumerate(value)]
        # Something may be demanded already.
        growing.body[keyword] = growing.body.get(keyword, []) + listed
    else:
        growing.body[keyword] = {
            name: growing.child(each, keyword, name) for name, each in value.items()
        }


def _reference(growing: _Growing, keyword: str, _value: Any) -> None:
    target = growing.reading.followed(growing.part, growing.here, keyword)
    if target is None:
        growing.reading.widen(growing.part, keyword, _LOOSE, _LOOSE_NOTE)
    elif "$ref" in growing.body:
        growing.demand(Part((*growing.part.at, keyword), {"$ref": target}))
    else:
        growing.body["$ref"] = target


def _type(growing: _Growing, keyword: str, value: Any) -> None:
    growing.body[keyword] = value
    if growing.here.dialect.draft is Draft.DRAFT_04 and (
        value == "integer" or (isinstance(value, list) and "integer" in value)
    ):
        # Draft-04 core, section 3.5.
        said = "numbers written with a fraction of zero, like 1.0, count as integers since draft 6"
        growing.reading.record.tell(growing.part, keyword, Action.REWRITTEN, Direction.WIDER, said)


def _bound(growing: _Growing, keyword: str, value: Any) -> None:
    # In draft 4 the exclusive forms are flags (draft-04 validation, 5.1.2 and 5.1.3).
    exclusive = {"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"}[keyword]
    flagged = growing.here.schema.get(exclusive) is True and exclusive in (
        growing.here.dialect.keywords
    )
    growing.body[exclusive if flagged else keyword] = value


def _exclusive(growing: _Growing, keyword: str, value: Any) -> None:
    if not isinstance(value, bool):
        growing.body[keyword] = value


def _items(growing: _Growing, keyword: str, value: Any) -> None:
    if not isinstance(value, list):
        growing.body["items"] = growing.child(value, keyword)
        return
    growing.body["prefixItems"] = [growing.child(each, keyword, n) for n, each in enumerate(value)]
    rest = growing.here.schema.get("additionalItems")
    if rest is not None and "additionalItems" in growing.here.dialect.keywords:
        growing.body["items"] = growing.child(rest, "additionalItems")


def _additional_items(growing: _Growing, keyword: str, _value: Any) -> None:
    beside = growing.here.schema.get("items")
    if not isinstance(beside, list) or "items" not in growing.here.dialect.keywords:
        growing.reading.drop(growing.part, keyword, "has no effect without a list of items")


def _dependencies(growing: _Growing, keyword: str, value: Any) -> None:
    for name, needed in value.items():
        _depend(growing, name, needed, keyword)


def _depend(growing: _Growing, name: str, needed: Any, keyword: str) -> None:
    body = growing.body
    if isinstance(needed, list):
        names = body.setdefault("dependentRequired", {})
        names[name] = list(dict.fromkeys([*names.get(name, ()), *needed]))
        return
    part = growing.child(needed, keyword, name)
    schemas = body.setdefault("dependentSchemas", {})
    # `dependencies` may stand beside what took its place.
    schemas[name] = Part(part.at, {"allOf": [schemas[name], part]}) if name in schemas else part


def _contains(growing: _Growing, keyword: str, value: Any) -> None:
    schema = growing.here.schema
    in_force = growing.here.dialect.keywords
    found: dict[str, Any] = {keyword: growing.child(value, keyword)}
    if not _hidden(growing):
        growing.body |= found
        return
    for bound in ("minContains", "maxContains"):
        if bound in schema and bound in in_force:
            found[bound] = schema[bound]
    # In 2020-12 items that match count as evaluated (core, section 10.3.1.3), in 2019-09
    # they do not (core, section 9.3.1.3). What stands below `not` evaluates nothing.
    at = (*growing.part.at, keyword)
    growing.demand(Part(at, {"not": Part(at, {"not": Part(at, found)})}))


def _bound_of_contains(growing: _Growing, keyword: str, value: Any) -> None:
    if not _hidden(growing):
        growing.body[keyword] = value


def _hidden(growing: _Growing) -> bool:
    """Return whether ``contains`` must not be seen to evaluate items."""
    early = growing.here.dialect.draft is not Draft.DRAFT_2020_12
    return growing.reading.hides_contains and early


def _unevaluated(growing: _Growing, keyword: str, value: Any) -> None:
    if growing.reading.loose:
        # What is left out evaluates nothing, so that more would be refused.
        said = f"{keyword} cannot be kept: {_LOOSE}"
        growing.reading.widen(growing.part, keyword, said, "other members may be refused")
    else:
        growing.body[keyword] = growing.child(value, keyword)


_RULES: Mapping[str, _Rule] = MappingProxyType(
    {
        **dict.fromkeys(REFERENCES, _reference),
        "type": _type,
        "minimum": _bound,
        "maximum": _bound,
        "exclusiveMinimum": _exclusive,
        "exclusiveMaximum": _exclusive,
        "items": _items,
        "additionalItems": _additional_items,
        "dependencies": _dependencies,
        "dependentRequired": _dependencies,
        "dependentSchemas": _dependencies,
        "contains": _contains,
        "minContains": _bound_of_contains,
        "maxContains": _bound_of_contains,
        "unevaluatedItems": _unevaluated,
        "unevaluatedProperties": _unevaluated,
    }
)
