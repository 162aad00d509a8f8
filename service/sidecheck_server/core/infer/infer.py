"""Inference of tool definitions from Python source text."""

import json
from dataclasses import replace
from typing import Any

from sidecheck_docstrings import ParsedDocstring, parse_docstring

from sidecheck_server.core.infer.annotations import AnnotationReader
from sidecheck_server.core.infer.diagnostics import DiagnosticCode, Diagnostics, SourceError
from sidecheck_server.core.infer.functions import (
    DecoratorOptions,
    SourceFunction,
    find_functions,
    read_decorator,
    select_functions,
)
from sidecheck_server.core.infer.literals import LiteralReader
from sidecheck_server.core.infer.parameters import Parameters, report_unsupported
from sidecheck_server.core.infer.source import BOUNDS, Bounds, Meter, parse_source, split_lines
from sidecheck_server.core.infer.type_schemas import HoldsContent
from sidecheck_server.core.infer.types import (
    InferenceOptions,
    InferenceResult,
    InferredTool,
    SourceRange,
)
from sidecheck_server.core.infer.unwrapping import ReadContext
from sidecheck_server.core.json_values import digest_of
from sidecheck_server.core.limits import Exhausted, Limits, limit_exceeded_error
from sidecheck_server.core.types import Severity

__all__ = ["infer_tools"]


def infer_tools(
    source: bytes,
    options: InferenceOptions,
    limits: Limits,
    bounds: Bounds = BOUNDS,
) -> InferenceResult:
    """Return the definitions of the tools in *source*, Python in UTF-8.

    The source is parsed and never run: nothing in it is imported, evaluated or compiled.
    What it alone does not determine becomes a diagnostic.

    Raises:
        RequestError: LIMIT_EXCEEDED if it is larger than ``source_bytes`` of *limits*.
    """
    if len(source) > limits.source_bytes:
        raise limit_exceeded_error(
            "source_bytes", limits.source_bytes, "the source text", len(source)
        )
    diagnostics = Diagnostics(split_lines(source))
    try:
        tree = parse_source(source)
    except SourceError as error:
        diagnostics.add(error)
        return InferenceResult((), diagnostics.sorted())
    functions = find_functions(tree)
    _report_unknown_functions(options, {function.name for function in functions}, diagnostics)
    selected = select_functions(functions, options.functions)
    if len(selected) > bounds.tools:
        diagnostics.add(
            SourceError(
                DiagnosticCode.TOO_LARGE,
                f"{len(selected):,} tools in one source; only the first {bounds.tools:,} are read",
                selected[bounds.tools].node,
            )
        )
    tools = _ToolReader(options, LiteralReader(Meter(bounds)), diagnostics)
    inferred = [tools.read(function) for function in selected[: bounds.tools]]
    return InferenceResult(
        tuple(tool for tool in inferred if tool is not None), diagnostics.sorted()
    )


def _report_unknown_functions(
    options: InferenceOptions, names: set[str], diagnostics: Diagnostics
) -> None:
    nested = {name.rpartition(".")[2]: name for name in sorted(names, reverse=True) if "." in name}
    for name in dict.fromkeys(options.functions):
        if name not in names:
            diagnostics.function = name
            diagnostics.add_at(
                SourceRange(),
                DiagnosticCode.UNKNOWN_FUNCTION,
                f'no function "{name}" in the source; a nested function needs its qualified name, '
                f"for example {nested.get(name, 'Class.method')}",
                Severity.ERROR,
            )


class _ToolReader:
    """Reads the tools of one source."""

    def __init__(
        self, options: InferenceOptions, literals: LiteralReader, diagnostics: Diagnostics
    ) -> None:
        self._options = options
        self._literals = literals
        self._diagnostics = diagnostics
        self._meter = literals.meter
        self._inputs = AnnotationReader(ReadContext(literals, diagnostics, "validation"))
        self._outputs = AnnotationReader(ReadContext(literals, diagnostics, "serialization"))
        self._names: set[str] = set()
        self._bytes = 0

    def read(self, function: SourceFunction) -> InferredTool | None:
        """Return the tool of *function*; None if an error is in the diagnostics."""
        errors_before = self._diagnostics.error_count
        bounds = self._meter.bounds
        self._diagnostics.function = function.name[: bounds.name_length]
        self._diagnostics.parameter = ""
        self._meter.start_tool()
        try:
            self._check_size(function)
            definition = self._definition(function)
            if self._diagnostics.error_count > errors_before:
                return None
            return self._add_tool(function, definition)
        except SourceError as error:
            self._diagnostics.add(error)
        except Exhausted:
            self._diagnostics.add(
                SourceError(
                    DiagnosticCode.TOO_LARGE,
                    f"the function uses more than {bounds.nodes:,} nodes of types, classes and "
                    "defaults, or the source too many in total",
                    function.node,
                )
            )
        except RecursionError:
            self._diagnostics.add(
                SourceError(
                    DiagnosticCode.TOO_DEEP,
                    "the types of this function are nested too deeply",
                    function.node,
                )
            )
        return None

    def _add_tool(self, function: SourceFunction, definition: dict[str, Any]) -> InferredTool:
        name = definition["name"]
        if name in self._names:
            raise SourceError(
                DiagnosticCode.DUPLICATE_TOOL,
                f"another tool of the source is already called {name}",
                function.node,
            )
        text = json.dumps(definition, ensure_ascii=False, separators=(",", ":")).encode()
        self._bytes += len(text)
        self._check_size(function)
        self._names.add(name)
        return InferredTool(text, function.name, function.node.lineno, digest_of(definition))

    def _check_size(self, function: SourceFunction) -> None:
        bounds = self._meter.bounds
        if len(function.name) > bounds.name_length:
            raise SourceError(
                DiagnosticCode.TOO_LARGE,
                f"a name of more than {bounds.name_length:,} characters",
                function.node,
            )
        if self._bytes > bounds.definitions_bytes:
            raise SourceError(
                DiagnosticCode.TOO_LARGE,
                f"the definitions of the source exceed {bounds.definitions_bytes:,} bytes together",
                function.node,
            )

    def _definition(self, function: SourceFunction) -> dict[str, Any]:
        decorator = DecoratorOptions()
        if function.decorator is not None:
            decorator = read_decorator(
                function.decorator, function.scope, self._literals, self._diagnostics
            )
        options = self._options
        if decorator.on_unsupported is not None:
            options = replace(options, on_unsupported=decorator.on_unsupported)
        parameters = Parameters(function, decorator, options, self._inputs)
        docstring = self._docstring(function, parameters)
        input_schema = decorator.input_schema
        if input_schema is None:
            input_schema = parameters.input_schema(docstring.parameters)
        output_schema = decorator.output_schema
        if output_schema is None and decorator.structured_output:
            output_schema = self._output_schema(function, options)
        definition: dict[str, Any] = {"name": decorator.name or function.node.name}
        if decorator.title:
            definition["title"] = decorator.title
        description = docstring.text if decorator.description is None else decorator.description
        if description:
            definition["description"] = description
        definition["inputSchema"] = input_schema
        if output_schema is not None:
            definition["outputSchema"] = output_schema
        if decorator.annotations:
            definition["annotations"] = decorator.annotations
        return definition

    def _docstring(self, function: SourceFunction, parameters: Parameters) -> ParsedDocstring:
        text = self._literals.read_docstring(function.node, clean=False)
        return parse_docstring(text, parameters.names)

    def _output_schema(
        self, function: SourceFunction, options: InferenceOptions
    ) -> dict[str, Any] | None:
        """Return the canonical output schema; None if the type is uninformative or content."""
        node = function.node.returns
        if node is None:
            return None
        try:
            type_schema, info, definitions = self._outputs.read_with_definitions(
                node, function.annotation_scope
            )
        except HoldsContent:
            return None
        except SourceError as error:
            report_unsupported(error, options, self._diagnostics)
            return None
        schema = _with_definitions(type_schema.build(), definitions)
        # Metadata alone does not make the schema of any value informative.
        return schema | info.keywords if _is_informative(schema) else None


def _with_definitions(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """Return *schema* with *definitions*; the definition that its root refers to replaces it."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        siblings = {keyword: value for keyword, value in schema.items() if keyword != "$ref"}
        schema = definitions[name] | siblings
        if f'"$ref": "#/$defs/{name}"' not in json.dumps(definitions):
            definitions = {key: value for key, value in definitions.items() if key != name}
    return {**schema, "$defs": definitions} if definitions else schema


def _is_informative(schema: dict[str, Any]) -> bool:
    """Whether *schema* admits less than any value, any list, null or bytes do."""
    if "anyOf" in schema:
        branches = schema["anyOf"]
        return {} not in branches and any(_is_informative(branch) for branch in branches)
    if schema.get("type") == "array" and (
        not schema.get("items", True) or schema.get("maxItems") == 0
    ):
        return False
    return schema not in ({}, {"type": "null"}) and schema.get("format") != "binary"
