"""Writing: from a graph of parts that was fitted to a schema."""

import re
from collections.abc import Iterator
from typing import Any

from sidecheck_server.core.convert.apis.api import References, Subset
from sidecheck_server.core.convert.part import Part, reachable
from sidecheck_server.core.limits import limit_exceeded_error

__all__ = ["described", "notes_of", "write_schema"]

_MOST = 20_000
"""Subschemas that are written, at most."""

_LONGEST_NAME = 60
_SHORT = 60
"""Characters of a text that may be written twice."""


def write_schema(root: Part, subset: Subset) -> dict[str, Any]:
    """Return *root* as a JSON Schema in the spelling of *subset*.

    Parts that references lead to, and those that stand at several places, become
    definitions of the root.

    Raises:
        Refusal: LIMIT_EXCEEDED if it would have more than 20,000 subschemas.
    """
    return _Writer(root, subset).written()


def described(part: Part) -> str:
    """Return the description of *part*: what its author wrote, then its notes."""
    return f"{part.keywords.get('description', '')} {notes_of(part)}".lstrip()


def notes_of(part: Part) -> str:
    """Return what is told of *part* beside what its author wrote, in brackets, or ""."""
    notes = "; ".join(dict.fromkeys(part.notes))
    return f"({notes})" if notes else ""


class _Writer:
    def __init__(self, root: Part, subset: Subset) -> None:
        self.root = root
        self.subset = subset
        self.names = {} if subset.references is References.NOWHERE else _names(root)
        #: Parts that are still to be written, each into the schema that has its place.
        self.pending: list[tuple[Part, dict[str, Any]]] = []
        self.count = 0

    def written(self) -> dict[str, Any]:
        schema: dict[str, Any] = {}
        self.pending.append((self.root, schema))
        definitions: dict[str, Any] = {}
        for part, name in self.names.values():
            definitions[name] = {}
            self.pending.append((part, definitions[name]))
        while self.pending:
            part, into = self.pending.pop()
            self.write(part, into)
        if definitions:
            schema["$defs"] = definitions
        return schema

    def write(self, part: Part, into: dict[str, Any]) -> None:
        self.count += 1
        if self.count > _MOST:
            raise limit_exceeded_error(
                "subschemas", _MOST, "the converted schema has too many subschemas"
            )
        if part.never:
            into["not"] = {}
            return
        body = self.said_by(part)
        if self.subset.nullable:
            self.say_nullable(body)
            if body.get("nullable") and self.subset.enum_of_strings and "enum" in body:
                body["enum"] = [each for each in body["enum"] if each is not None]
        if "$ref" in body:
            self.refer(body)
        for keyword, value in body.items():
            into[keyword] = self.value(keyword, value)

    def said_by(self, part: Part) -> dict[str, Any]:
        """Return the keywords of *part*, and what is noted of it as its description."""
        body = dict(part.keywords)
        if part.notes and self.describes(part):
            body["description"] = described(part)
        return body

    def say_nullable(self, body: dict[str, Any]) -> None:
        """Say ``nullable: true`` in the place of the type null (OpenAPI 3.0.3, Schema Object)."""
        branches = [each for each in body.get("anyOf", ()) if each.keywords != {"type": "null"}]
        if branches and len(branches) < len(body["anyOf"]):
            body["nullable"] = True
            body["anyOf"] = branches
            only = self.said_by(branches[0])
            alone = len(branches) == 1 and not branches[0].never and "$ref" not in only
            beside = body.keys() - {"anyOf"}
            if alone and beside.isdisjoint(only):
                del body["anyOf"]
                body.update(only)
        # After the union: its only branch may have a list of types.
        stated = body.get("type")
        if isinstance(stated, list) and "null" in stated:
            others = [each for each in stated if each != "null"]
            body["type"] = others[0] if len(others) == 1 else others or "null"
            body["nullable"] = True

    def refer(self, body: dict[str, Any]) -> None:
        """Keep *body*, which has a reference, to how that may stand."""
        if self.subset.references is References.ALONE and len(body) > 1:
            reference = Part((), {"$ref": body["$ref"]})
            if self.takes("anyOf") and "anyOf" not in body:
                del body["$ref"]
                body["anyOf"] = [reference]

    def value(self, keyword: str, value: Any) -> Any:
        if keyword == "type" and self.subset.upper_case_types:
            return [each.upper() for each in value] if isinstance(value, list) else value.upper()
        if isinstance(value, Part):
            if keyword == "$ref":
                return self.reference(value)
            # Everywhere `additionalProperties` may be a boolean, even where schemas are not.
            return False if keyword == "additionalProperties" and value.never else self.at(value)
        if isinstance(value, list):
            return [self.at(each) if isinstance(each, Part) else each for each in value]
        if isinstance(value, dict):
            return {
                name: self.at(each) if isinstance(each, Part) else each
                for name, each in value.items()
            }
        return value

    def at(self, part: Part) -> Any:
        """Return what stands where *part* does."""
        if part is self.root or id(part) in self.names:
            return {"$ref": self.reference(part)}
        if part.never and self.subset.boolean_schemas:
            return False
        schema: dict[str, Any] = {}
        self.pending.append((part, schema))
        return schema

    def reference(self, part: Part) -> str:
        return "#" if part is self.root else f"#/$defs/{self.names[id(part)][1]}"

    def describes(self, part: Part) -> bool:
        """Return whether *part* may have a description."""
        below = part is not self.root or "description" not in self.subset.not_at_root
        return below and self.takes("description")

    def takes(self, keyword: str) -> bool:
        return self.subset.keywords is None or keyword in self.subset.keywords


def _names(root: Part) -> dict[int, tuple[Part, str]]:
    """Return the parts that become definitions, by identity, with the name of each."""
    found: dict[int, Part] = {}
    placed: set[int] = set()
    for part in reachable(root):
        for keyword, below in part.below():
            if below is not root and (
                keyword == "$ref" or (id(below) in placed and not _is_small(below))
            ):
                found[id(below)] = below
            placed.add(id(below))
    taken: set[str] = set()
    return {key: (part, _unique(part, taken)) for key, part in found.items()}


def _is_small(part: Part) -> bool:
    """Return whether *part* may as well be written at each of its places."""
    return part.never or (
        not part.notes
        and all(name == "$ref" or _is_short(value) for name, value in part.keywords.items())
    )


def _is_short(value: Any) -> bool:
    return isinstance(value, int | float) or (isinstance(value, str) and len(value) <= _SHORT)


def _unique(part: Part, taken: set[str]) -> str:
    given = part.name or next(_words(part.at), "") or "definition"
    base = re.sub("[^A-Za-z0-9_]", "_", given)[:_LONGEST_NAME]
    name, count = base, 1
    while name in taken:
        count += 1
        name = f"{base}_{count}"
    taken.add(name)
    return name


def _words(at: tuple[str | int, ...]) -> Iterator[str]:
    return (each for each in reversed(at) if isinstance(each, str))
