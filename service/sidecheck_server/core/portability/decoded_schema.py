"""Schema of the arguments that a mapping decodes, in terms of the original definition.

A portable schema describes arguments as a model sends them. The schema returned here admits an
original value if and only if some form of it is valid against the portable schema. So both can
be compared with the original schema. Text that holds JSON admits any value, since nothing in the
portable schema restricts it.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from sidecheck_server.core.convert.argument_decoder import ArgumentDecoder
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.payload import MalformedError, decode

__all__ = ["CannotDecodeError", "decode_schema"]

_ANNOTATIONS = frozenset(
    {"$schema", "default", "deprecated", "description", "examples", "format", "title"}
)
_KEPT = frozenset(
    {
        "$defs",
        *("additionalProperties", "items", "maxItems", "maxProperties", "minItems"),
        *("minProperties", "prefixItems", "properties", "required", "type", "uniqueItems"),
    }
)
"""Assertions that hold for a decoded value too if subschemas are decoded."""
_ENTRIES = frozenset({"items", "maxItems", "minItems", "type"})
_BOUNDS = {"minItems": "minProperties", "maxItems": "maxProperties"}
_DEFINITION = "#/$defs/"
_MAX_SCHEMAS = 20_000
"""Maximum number of decoded subschemas: references are replaced by their targets."""
_MAX_DEPTH = 100
"""Maximum depth of decoded subschemas."""


class CannotDecodeError(Exception):
    """The decoded values have no schema that this module can write."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def decode_schema(schema: dict[str, Any], decoder: ArgumentDecoder | None) -> Any:
    """Return the schema of the values that *decoder* makes of those of *schema*.

    Raises:
        CannotDecodeError: there is none, with the reason.
    """
    if decoder is None:
        return schema
    decoded = _Decoding(schema, decoder).decode(schema, decoder, 0)
    if "$defs" in schema and isinstance(decoded, dict):
        # Subschemas without an encoding keep their references.
        return {**decoded, "$defs": schema["$defs"]}
    return decoded


class _Decoding:
    """Decoding of one schema."""

    def __init__(self, root: dict[str, Any], decoder: ArgumentDecoder) -> None:
        self._definitions: Mapping[str, Any] = root.get("$defs", {})
        self._decoders: Mapping[str, ArgumentDecoder] = decoder.get("defs", {})
        self._count = 0

    def decode(self, schema: Any, decoder: ArgumentDecoder | None, depth: int) -> Any:
        """Return the schema of the decoded values of *schema*."""
        if decoder is None or not isinstance(schema, dict):
            return schema
        self._count += 1
        if self._count > _MAX_SCHEMAS or depth > _MAX_DEPTH:
            raise CannotDecodeError("the decoded schema is recursive or too large")
        schema, decoder = self._follow(schema, decoder)
        if "also" in decoder:
            raise CannotDecodeError("a branch of allOf is decoded")
        if "json_text" in decoder:
            return _decode_text(schema)
        if "wrapped" in decoder:
            return self._decode_wrapper(schema, decoder, depth)
        if "entries" in decoder:
            return self._decode_entries(schema, decoder["entries"], depth)
        return self._decode_keywords(schema, decoder, depth)

    def _follow(
        self, schema: dict[str, Any], decoder: ArgumentDecoder
    ) -> tuple[dict[str, Any], ArgumentDecoder]:
        """Return *schema* and *decoder* with their references replaced by the targets."""
        for _ in range(_MAX_DEPTH):
            if "ref" in decoder:
                target = self._decoders[decoder["ref"]]
                rest = {name: value for name, value in decoder.items() if name not in _REFERENCES}
                if rest.keys() & target.keys():
                    raise CannotDecodeError("two encodings apply to one value")
                decoder = {**rest, **target}
            elif "$ref" in schema:
                _require_only(schema, frozenset({"$ref", "$defs"}))
                name = schema["$ref"].removeprefix(_DEFINITION)
                if name not in self._definitions:
                    raise CannotDecodeError("the decoded schema is recursive")
                schema = self._definitions[name]
            else:
                return schema, decoder
        raise CannotDecodeError("a reference leads back to itself")

    def _decode_wrapper(self, schema: dict[str, Any], decoder: ArgumentDecoder, depth: int) -> Any:
        _require_only(schema, _KEPT)
        name = decoder["wrapped"]
        if name not in schema.get("required", ()) or name not in schema.get("properties", {}):
            raise CannotDecodeError("a value may lack its wrapper")
        return self.decode(schema["properties"][name], decoder.get("inner"), depth + 1)

    def _decode_entries(
        self, schema: dict[str, Any], entries: ArgumentDecoder, depth: int
    ) -> dict[str, Any]:
        _require_only(schema, _ENTRIES)
        properties = schema.get("items", {}).get("properties", {})
        if properties.get(entries["name"]) != {"type": "string"}:
            raise CannotDecodeError("the names of properties are restricted")
        values = self.decode(properties.get(entries["value"], {}), entries.get("each"), depth + 1)
        types = schema.get("type")
        listed = types if isinstance(types, list) else [types]
        decoded: dict[str, Any] = {
            "type": ["object" if type_ == "array" else type_ for type_ in listed],
            "additionalProperties": values,
        }
        return decoded | {_BOUNDS[name]: schema[name] for name in _BOUNDS if name in schema}

    def _decode_keywords(
        self, schema: dict[str, Any], decoder: ArgumentDecoder, depth: int
    ) -> dict[str, Any]:
        is_union = "any_of" in decoder
        _require_only(schema, _KEPT | {"anyOf"} if is_union else _KEPT)
        decoded = dict(schema)
        renamed = decoder.get("renamed", {})
        nulls = frozenset(decoder.get("nulls", ()))
        if "properties" in schema:
            nested = decoder.get("properties", {})
            decoded["properties"] = {
                renamed.get(name, name): self._decode_property(
                    child, nested.get(name), depth + 1, without_null=name in nulls
                )
                for name, child in schema["properties"].items()
            }
            if len(decoded["properties"]) < len(schema["properties"]):
                raise CannotDecodeError("two properties get the same name")
        if "required" in schema:
            decoded["required"] = [
                renamed.get(name, name) for name in schema["required"] if name not in nulls
            ]
        for keyword, name in (("additionalProperties", "values"), ("items", "items")):
            if keyword in schema:
                decoded[keyword] = self.decode(schema[keyword], decoder.get(name), depth + 1)
        if "prefixItems" in schema:
            prefix = decoder.get("prefix", ())
            decoded["prefixItems"] = [
                self.decode(child, prefix[index] if index < len(prefix) else None, depth + 1)
                for index, child in enumerate(schema["prefixItems"])
            ]
        if is_union:
            branches = list(_possible_branches(schema))
            if len(branches) != len(decoder["any_of"]):
                raise CannotDecodeError("a union other than anyOf is decoded")
            decoded["anyOf"] = [
                self.decode(child, branch.get("as"), depth + 1)
                for child, branch in zip(branches, decoder["any_of"], strict=True)
            ]
        return decoded

    def _decode_property(
        self, schema: Any, decoder: ArgumentDecoder | None, depth: int, *, without_null: bool
    ) -> Any:
        if not without_null:
            return self.decode(schema, decoder, depth)
        if decoder is not None and "any_of" in decoder:
            # Its branches and those of the decoder correspond.
            return _remove_null(self.decode(schema, decoder, depth))
        return self.decode(_remove_null(schema), decoder, depth)


def _remove_null(schema: Any) -> Any:
    """Return *schema* without null, which stands for an absent property."""
    types = schema.get("type") if isinstance(schema, dict) else None
    if isinstance(types, list) and "null" in types:
        removed = {**schema, "type": [type_ for type_ in types if type_ != "null"]}
    elif isinstance(schema, dict) and _NULL in schema.get("anyOf", ()):
        removed = {**schema, "anyOf": [item for item in schema["anyOf"] if item != _NULL]}
    else:
        raise CannotDecodeError("null stands for an absent property, and is not a type of it")
    if "enum" in removed:
        removed["enum"] = [value for value in removed["enum"] if value is not None]
    return removed


_NULL = {"type": "null"}
_REFERENCES = frozenset({"ref", "defs"})


def _possible_branches(schema: dict[str, Any]) -> Iterator[Any]:
    """Yield the branches of ``anyOf`` that admit a value."""
    for branch in schema.get("anyOf", ()):
        if branch is not False and branch != {"not": {}}:
            yield branch


def _decode_text(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of the values in JSON texts."""
    _require_only(schema, frozenset({"type", "enum"}))
    if "enum" not in schema:
        return {}
    values = []
    for text in schema["enum"]:
        try:
            values.append(decode(text.encode(), max_depth=_MAX_DEPTH))
        except (AttributeError, MalformedError, RequestError):
            raise CannotDecodeError("a value of an enum is not the text of its value") from None
    return {"enum": values}


def _require_only(schema: dict[str, Any], keywords: frozenset[str]) -> None:
    """Check that *schema* asserts nothing but by *keywords*."""
    others = schema.keys() - keywords - _ANNOTATIONS
    if others:
        names = ", ".join(sorted(others))
        raise CannotDecodeError(f"{names} applies to arguments in another form")
