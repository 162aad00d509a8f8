"""Conversion of one tool definition for a provider."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import msgspec

from sidecheck_server.core.convert.argument_decoder import ArgumentDecoder, build_decoder
from sidecheck_server.core.convert.converted_tool import ToolForm
from sidecheck_server.core.convert.names import assign_property_names
from sidecheck_server.core.convert.providers.provider import Provider
from sidecheck_server.core.convert.providers.subset import References, Subset
from sidecheck_server.core.convert.schema_graph import (
    NODE_KEYWORDS,
    SchemaNode,
    copy_graph,
    property_names,
)
from sidecheck_server.core.convert.schema_reader import read_schema
from sidecheck_server.core.convert.schema_size import SchemaSize, describe_excess, measure_schema
from sidecheck_server.core.convert.transforms.descriptions import shorten
from sidecheck_server.core.convert.transforms.pipeline import transform_schema
from sidecheck_server.core.convert.types import (
    Action,
    ConversionOptions,
    Effect,
    Loss,
    LossLog,
    Mode,
)
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Exhausted, Limits, limit_exceeded_error
from sidecheck_server.core.mcp.tool_definitions import ToolDefinition, decode_tool
from sidecheck_server.core.mcp.wrapping.definitions import adapted_output_schema
from sidecheck_server.core.payload import encode_json
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.core.schemas.walker import declared_draft
from sidecheck_server.core.types import Draft, as_pointer

__all__ = [
    "convert_definition",
    "describe_node",
    "format_notes",
    "write_schema",
]

_MAX_SUBSCHEMAS = 20_000

_MAX_NAME = 60
_MAX_REPEATED = 60
"""Maximum characters of a string that may be written several times."""


def write_schema(root: SchemaNode, subset: Subset) -> dict[str, Any]:
    """Return *root* as a JSON Schema in the spelling of *subset*.

    Targets of references and nodes that occur at several places become definitions of the
    root.

    Raises:
        RequestError: LIMIT_EXCEEDED if it would have more than 20,000 subschemas.
    """
    return _Writer(root, subset).write()


def describe_node(node: SchemaNode) -> str:
    """Return the description of *node*: the author's description, then the notes."""
    return f"{node.keywords.get('description', '')} {format_notes(node)}".lstrip()


def format_notes(node: SchemaNode) -> str:
    """Return the notes of *node* in parentheses, or ""."""
    notes = "; ".join(dict.fromkeys(node.notes))
    return f"({notes})" if notes else ""


class _Writer:
    def __init__(self, root: SchemaNode, subset: Subset) -> None:
        self.root = root
        self.subset = subset
        references = subset.references is not References.NOWHERE
        self.definitions = _name_definitions(root) if references else {}
        #: Schemas that still contain nodes.
        self.pending: list[dict[str, Any]] = []
        self.count = 0

    def write(self) -> dict[str, Any]:
        schema = self.write_node(self.root)
        definitions = {name: self.write_node(node) for node, name in self.definitions.items()}
        while self.pending:
            body = self.pending.pop()
            for keyword in NODE_KEYWORDS & body.keys():
                body[keyword] = self.write_nodes(keyword, body[keyword])
        if definitions:
            schema["$defs"] = definitions
        return schema

    def write_node(self, node: SchemaNode) -> dict[str, Any]:
        """Return the schema of *node*, in which `write` later replaces the nodes."""
        self.count += 1
        if self.count > _MAX_SUBSCHEMAS:
            message = "the converted schema has too many subschemas"
            raise limit_exceeded_error("subschemas", _MAX_SUBSCHEMAS, message)
        if node.never:
            return {"not": {}}
        subset = self.subset
        body = self.described_keywords(node)
        if subset.nullable:
            self.replace_null_type(body)
            if body.get("nullable") and subset.enum_of_strings and "enum" in body:
                body["enum"] = [value for value in body["enum"] if value is not None]
        if subset.upper_case_types and "type" in body:
            types = body["type"]
            body["type"] = types.upper() if isinstance(types, str) else [*map(str.upper, types)]
        if not NODE_KEYWORDS.isdisjoint(body):
            self.isolate_reference(body)
            self.pending.append(body)
        return body

    def described_keywords(self, node: SchemaNode) -> dict[str, Any]:
        """Return the keywords of *node*, with its notes in the description."""
        body = dict(node.keywords)
        if node.notes and self.allows_description(node):
            body["description"] = describe_node(node)
        return body

    def replace_null_type(self, body: dict[str, Any]) -> None:
        """Replace the type null by ``nullable: true`` (OpenAPI 3.0.3, Schema Object)."""
        types = body.get("type")
        if isinstance(types, list) and "null" in types:
            others = [type_ for type_ in types if type_ != "null"]
            body["type"] = others[0] if len(others) == 1 else others or "null"
            body["nullable"] = True

    def isolate_reference(self, body: dict[str, Any]) -> None:
        """Move the reference in *body* below ``anyOf`` if it may have no siblings."""
        is_isolated = self.subset.references is References.ALONE
        if "$ref" in body and is_isolated and len(body) > 1:
            reference = SchemaNode((), {"$ref": body["$ref"]})
            if self.subset.supports("anyOf") and "anyOf" not in body:
                del body["$ref"]
                body["anyOf"] = [reference]

    def write_nodes(self, keyword: str, value: Any) -> Any:
        """Return the *value* of a keyword with schemas, or references, in place of nodes."""
        if isinstance(value, SchemaNode):
            if keyword == "$ref":
                return self.reference_to(value)
            # `additionalProperties` may be a boolean even where schemas may not.
            closes = keyword == "additionalProperties" and value.never
            return False if closes else self.write_child(value)
        if isinstance(value, dict):
            return {name: self.write_child(node) for name, node in value.items()}
        return [self.write_child(node) for node in value]

    def write_child(self, node: SchemaNode) -> Any:
        """Return the schema of *node*, or a reference to its definition."""
        if node is self.root or node in self.definitions:
            return {"$ref": self.reference_to(node)}
        if node.never and self.subset.boolean_schemas:
            return False
        return self.write_node(node)

    def reference_to(self, node: SchemaNode) -> str:
        return "#" if node is self.root else f"#/$defs/{self.definitions[node]}"

    def allows_description(self, node: SchemaNode) -> bool:
        """Return whether *node* may have a description."""
        allowed = node is not self.root or "description" not in self.subset.not_at_root
        return allowed and self.subset.supports("description")


def _name_definitions(root: SchemaNode) -> dict[SchemaNode, str]:
    """Return the nodes that become definitions, each with its name."""
    shared: dict[SchemaNode, None] = {}
    seen: set[SchemaNode] = set()
    pending, visited = [root], set[SchemaNode]()
    while pending:
        node = pending.pop()
        if node in visited:
            continue
        visited.add(node)
        parents: list[SchemaNode] = []
        for keyword, child in node.children_by_keyword():
            is_repeated = child in seen and not _is_small(child)
            if (keyword == "$ref" or is_repeated) and child is not root:
                shared[child] = None
            seen.add(child)
            if not NODE_KEYWORDS.isdisjoint(child.keywords):
                parents.append(child)
        pending += reversed(parents)
    used_names: set[str] = set()
    return {node: _assign_unique_name(node, used_names) for node in shared}


def _is_small(node: SchemaNode) -> bool:
    """Return whether *node* is small enough to be written at each of its places."""
    return node.never or (
        not node.notes
        and all(name == "$ref" or _is_short(value) for name, value in node.keywords.items())
    )


def _is_short(value: Any) -> bool:
    return isinstance(value, int | float) or (
        isinstance(value, str) and len(value) <= _MAX_REPEATED
    )


def _assign_unique_name(node: SchemaNode, used_names: set[str]) -> str:
    preferred = node.name or next(_reversed_names(node.path), "") or "definition"
    base = re.sub("[^A-Za-z0-9_]", "_", preferred)[:_MAX_NAME]
    name, count = base, 1
    while name in used_names:
        count += 1
        name = f"{base}_{count}"
    used_names.add(name)
    return name


def _reversed_names(path: tuple[str | int, ...]) -> Iterator[str]:
    return (step for step in reversed(path) if isinstance(step, str))


def convert_definition(
    definition: ToolDefinition, provider: Provider, options: ConversionOptions, limits: Limits
) -> ToolForm:
    """Return *definition* in the form of *provider*.

    Raises:
        RequestError: NOT_CONVERTIBLE if there is no such form in the requested mode;
            LIMIT_EXCEEDED if the steps are spent or the form is larger than a message may be;
            as `admit_schema` for the input schema.
    """
    try:
        log = LossLog([limits.steps])
        root = read_schema(definition.input, ("inputSchema",), log, limits)
        metadata = _read_metadata(definition, provider, options, limits)
        original = _OriginalSchema(root, log.losses, log.budget[0])
        schema, not_strict_reason = _convert_schema(original, provider, options)
    except (Exhausted, RecursionError):
        raise limit_exceeded_error(
            "steps", limits.steps, "converting the tool takes too many steps"
        ) from None
    omits_schema = provider.omits_empty_parameters and _is_empty(schema.schema)
    note = schema.description if omits_schema else schema.root_notes
    metadata = _add_note(metadata, note, "inputSchema", provider, options)
    if not definition.name.isascii():
        # No provider accepts the name.
        name_note = f"(original name: {shorten(definition.name)})"
        metadata = _add_note(metadata, name_note, "name", provider, options)
    omission_losses = _losses_of_omission(schema.schema) if omits_schema else ()
    form = ToolForm(
        tool=definition.name,
        definition_digest=definition.digest,
        description=metadata.description,
        parameters=None if omits_schema else encode_json(schema.schema),
        output_schema=metadata.output_schema,
        kept=metadata.kept,
        strict=None if provider.strict is None else schema.strict,
        decoder=schema.decoder,
        losses=(*metadata.losses, *schema.losses, *omission_losses),
        not_strict_reason=not_strict_reason,
        size=schema.size,
    )
    if form.length > limits.message_bytes:
        # Targets of references may be repeated many times.
        raise limit_exceeded_error(
            "message_bytes", limits.message_bytes, "the converted tool", form.length
        )
    return form


_CONVERTED_PROPERTIES = ("name", "inputSchema", "description")
"""Properties of a definition that have a counterpart at every provider."""

_MAX_NOTE = 200
"""Characters of a note in a loss."""


@dataclass(frozen=True, slots=True)
class _Metadata:
    """Converted parts of a definition other than its input schema."""

    description: str
    #: As JSON text, or None.
    output_schema: bytes | None
    #: Kept properties, as the JSON text of an object.
    kept: bytes
    losses: tuple[Loss, ...]


_Properties: TypeAlias = dict[str, msgspec.Raw]
_DECODE_PROPERTIES = msgspec.json.Decoder(_Properties).decode


def _read_metadata(
    definition: ToolDefinition, provider: Provider, options: ConversionOptions, limits: Limits
) -> _Metadata:
    """Convert the parts of *definition* other than its input schema.

    The title replaces a missing description, or else the title of the annotations does (MCP
    2025-06-18, server/tools, "Tool": both are for display).
    """
    tool = _DECODE_PROPERTIES(definition.json)
    losses: list[Loss] = []
    description, replacement_path = _find_description(tool)
    if replacement_path:
        message = "replaces the description, which is missing"
        losses.append(_metadata_loss(replacement_path, Action.REWRITTEN, message))
    maximum = _max_description_length(provider, options)
    if maximum is not None and len(description) > maximum:
        message = f"cut from {len(description):,} to {maximum:,} characters"
        losses.append(_metadata_loss(("description",), Action.DROPPED, message))
        description = description[: maximum - 1] + "…"
    output = None
    kept = {name: value for name, value in tool.items() if name in provider.kept_properties}
    kept_output = kept.pop("outputSchema", None)
    includes_output = options.include_output_schema or kept_output is not None
    if includes_output and provider.accepts_output_schema and "outputSchema" in tool:
        schema: Any = decode_tool(bytes(tool["outputSchema"]), limits)
        # Decision 0039: an adapted schema is derived from the one canonical definition.
        if options.protocol_version:
            schema = adapted_output_schema(schema, options.protocol_version, limits).schema
        output = encode_json(_lift_dialect(schema, losses, limits))
    for name, value in tool.items():
        is_kept = name in _CONVERTED_PROPERTIES or name in kept or replacement_path == (name,)
        is_kept = is_kept or (name == "outputSchema" and output is not None)
        if not is_kept and bytes(value) != b"null":
            message = f"{provider.display_name} has no counterpart"
            losses.append(_metadata_loss((name,), Action.DROPPED, message))
    return _Metadata(description, output, encode_json(kept), tuple(losses))


def _lift_dialect(schema: Any, losses: list[Loss], limits: Limits) -> Any:
    """Return the output *schema* in 2020-12 if it declares another dialect."""
    if not isinstance(schema, dict) or "$schema" not in schema:
        return schema
    if declared_draft(schema) is Draft.DRAFT_2020_12:
        return schema
    log = LossLog([limits.steps])
    root = read_schema(SchemaSource(encode_json(schema)), ("outputSchema",), log, limits)
    message = "the output schema is rewritten in the dialect 2020-12"
    losses.append(_metadata_loss(("outputSchema", "$schema"), Action.REWRITTEN, message))
    losses += log.losses
    return write_schema(root, Subset())


def _add_note(
    metadata: _Metadata,
    note: str,
    subject: str,
    provider: Provider,
    options: ConversionOptions,
) -> _Metadata:
    """Append a *note* on the property *subject* to the description unless it gets too long."""
    description = f"{metadata.description} {note}".strip()
    maximum = _max_description_length(provider, options)
    if not note or note == metadata.description:
        return metadata
    if maximum is not None and len(description) > maximum:
        message = f"the description has no room for a note: {note[:_MAX_NOTE]}"
        loss = _metadata_loss((subject,), Action.DROPPED, message)
        return replace(metadata, losses=(*metadata.losses, loss))
    return replace(metadata, description=description)


def _find_description(tool: _Properties) -> tuple[str, tuple[str, ...]]:
    """Return a description, and its path if it is not the description of the tool."""
    annotations = bytes(tool.get("annotations", b""))
    hints = _DECODE_PROPERTIES(annotations) if annotations.startswith(b"{") else {}
    candidates: tuple[tuple[msgspec.Raw | None, tuple[str, ...]], ...] = (
        (tool.get("description"), ()),
        (tool.get("title"), ("title",)),
        (hints.get("title"), ("annotations", "title")),
    )
    for value, path in candidates:
        if value is not None and bytes(value).startswith(b'"'):
            text = msgspec.json.decode(value, type=str)
            if text.strip():
                return text, path
    return "", ()


def _max_description_length(provider: Provider, options: ConversionOptions) -> int | None:
    limits = (provider.max_description_length, options.description_length)
    return min((limit for limit in limits if limit), default=None)


def _metadata_loss(path: tuple[str, ...], action: Action, message: str) -> Loss:
    return Loss(as_pointer(path), "", action, Effect.EQUIVALENT, message)


@dataclass(frozen=True, slots=True)
class _OriginalSchema:
    """Schema of a definition, before its transformation to a subset."""

    root: SchemaNode
    losses: list[Loss]
    #: Steps that are left for the transformation to one subset.
    steps: int


class _ConvertedSchema:
    """Schema in one of the subsets of a provider."""

    def __init__(
        self,
        original: _OriginalSchema,
        provider: Provider,
        subset: Subset,
        options: ConversionOptions,
    ) -> None:
        self.strict = subset is provider.strict
        log = LossLog([original.steps], list(original.losses))
        grammar = provider.property_names
        renamed = (
            {} if grammar is None else assign_property_names(property_names(original.root), grammar)
        )
        root = transform_schema(
            original.root, subset, renamed, log, drop_defaults=options.drop_defaults
        )
        self.size: SchemaSize = measure_schema(root)
        #: Description of the exceeded limit of the provider, or "".
        self.excess = describe_excess(self.size, subset.limits)
        self.schema: dict[str, Any] = write_schema(root, subset)
        encoded = any(loss.action is Action.ENCODED for loss in log.losses)
        self.decoder: ArgumentDecoder | None = build_decoder(root) if encoded else None
        self.losses = log.sort_losses()
        #: Notes on the root, if it cannot have a description.
        self.root_notes = format_notes(root) if "description" in subset.not_at_root else ""
        #: Description of the root, for a schema that is omitted.
        self.description = describe_node(root)
        self._log = log

    def explain_inexactness(self, *, assume_closed: bool) -> str:
        """Return why the schema does not admit exactly the original payloads, or ""."""
        loss = self._log.first_inexact(assume_closed=assume_closed)
        if loss is None:
            return ""
        advice = "; allowed with assume_closed" if loss in self._log.closings else ""
        return f"{_explain_loss(loss)} (at {loss.pointer}){advice}"


def _explain_loss(loss: Loss) -> str:
    """Return the reason of *loss*, which names the keyword that cannot be expressed."""
    if loss.effect is Effect.NARROWED:
        return loss.message
    subject = loss.keyword or "the schema"
    exactly = " exactly" if loss.action is Action.REWRITTEN else ""
    return f"{subject} cannot be expressed{exactly}"


def _convert_schema(
    original: _OriginalSchema, provider: Provider, options: ConversionOptions
) -> tuple[_ConvertedSchema, str]:
    """Return the schema for the mode, and the reason why it is not strict, or "".

    If strict mode is only preferred, an error of the strict conversion is the reason.
    """
    if options.mode is Mode.COMPATIBLE:
        return _convert_to_subset(original, provider, provider.compatible, options), ""
    # The transformation changes nodes in place, so the fallback needs a copy.
    fallback = (
        original
        if options.mode is Mode.STRICT
        else replace(original, root=copy_graph(original.root))
    )
    try:
        strict = _convert_to_strict(original, provider, options)
    except RequestError as error:
        if options.mode is Mode.STRICT:
            raise _add_advice(error, provider) from None
        reason = error.message
    else:
        if options.mode is Mode.STRICT:
            return strict, ""
        reason = strict.explain_inexactness(assume_closed=options.assume_closed)
        if not reason:
            return strict, ""
    return _convert_to_subset(fallback, provider, provider.compatible, options), reason


def _add_advice(error: RequestError, provider: Provider) -> RequestError:
    if provider.strict is not None:
        return error
    message = f"{error.message}; use the mode compatible or strict-if-lossless"
    return RequestError(error.reason, message, error.metadata)


def _convert_to_strict(
    original: _OriginalSchema, provider: Provider, options: ConversionOptions
) -> _ConvertedSchema:
    if provider.strict is None:
        message = f"{provider.display_name} has no strict mode"
        raise RequestError(ErrorReason.NOT_CONVERTIBLE, message, {"api": provider.key})
    return _convert_to_subset(original, provider, provider.strict, options)


def _convert_to_subset(
    original: _OriginalSchema, provider: Provider, subset: Subset, options: ConversionOptions
) -> _ConvertedSchema:
    """Return the schema in *subset*, a subset of *provider*.

    Raises:
        RequestError: NOT_CONVERTIBLE if it exceeds a limit of the provider.
    """
    schema = _ConvertedSchema(original, provider, subset, options)
    if schema.excess:
        message = f"the schema is too large for {provider.display_name}: {schema.excess}"
        raise RequestError(ErrorReason.NOT_CONVERTIBLE, message, {"api": provider.key})
    return schema


def _is_empty(schema: dict[str, Any]) -> bool:
    """Return whether *schema* has no properties, and no schema for undeclared ones."""
    names = schema.get("properties") or schema.get("required")
    return not names and not isinstance(schema.get("additionalProperties"), dict)


def _losses_of_omission(schema: dict[str, Any]) -> Iterator[Loss]:
    """Yield the losses if *schema*, which declares no arguments, is omitted."""
    for keyword in ("additionalProperties", "maxProperties", "minProperties"):
        if keyword in schema:
            message = "the schema of a tool without arguments is omitted"
            yield Loss("/inputSchema", keyword, Action.DROPPED, Effect.WIDENED, message)
