"""Inference of tool definitions from Python source text."""

import ast
import json
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from sidecheck_docstrings import ParsedDocstring, parse_docstring

from sidecheck_server.core.infer.annotations import AnnotationReader
from sidecheck_server.core.infer.classes import kind_of
from sidecheck_server.core.infer.diagnostics import DiagnosticCode, Diagnostics, SourceError
from sidecheck_server.core.infer.fields import INJECTION_MARKERS, add_default, callee_name
from sidecheck_server.core.infer.functions import (
    DecoratorOptions,
    SourceFunction,
    find_functions,
    read_decorator,
    select_functions,
)
from sidecheck_server.core.infer.known_types import INJECTED_TYPES
from sidecheck_server.core.infer.literals import LiteralReader
from sidecheck_server.core.infer.scopes import Scope, SourceClass
from sidecheck_server.core.infer.source import (
    BOUNDS,
    Bounds,
    Meter,
    parse_expression,
    parse_source,
    split_lines,
)
from sidecheck_server.core.infer.type_schemas import HoldsContent, admits
from sidecheck_server.core.infer.types import (
    InferenceOptions,
    InferenceResult,
    InferredTool,
    OnUnsupported,
    SourceRange,
)
from sidecheck_server.core.infer.unwrapping import ReadContext, subscript_arguments
from sidecheck_server.core.json_values import digest_of
from sidecheck_server.core.limits import Exhausted, Limits, limit_exceeded_error
from sidecheck_server.core.types import Severity

__all__ = [
    "Parameters",
    "infer_tools",
    "report_unsupported",
]

# Types that are injected only with autowiring.
_AUTOWIRED_TYPES = frozenset({"ConfigPaths", "Settings"})
# Types whose derived classes are injected, too. Request is not among them: MCP and other
# protocols use that name for data.
_INHERITED_TYPES = INJECTED_TYPES - _AUTOWIRED_TYPES - {"Request"}
# Faults of a source as a whole, whichever annotation shows them first.
_BOUNDS_EXCEEDED = frozenset({DiagnosticCode.TOO_DEEP, DiagnosticCode.TOO_LARGE})
# Maximum parts of an annotation, and generations of a class, in the search for injected types.
_MAX_PARTS = 100


def report_unsupported(
    error: SourceError, options: InferenceOptions, diagnostics: Diagnostics
) -> None:
    """Add *error* as an error or, with ``on_unsupported`` ANY, as a warning."""
    is_error = options.on_unsupported is OnUnsupported.ERROR
    diagnostics.add(error, Severity.ERROR if is_error else Severity.WARNING)


class Parameters:
    """The parameters of a function that are arguments of the tool."""

    def __init__(
        self,
        function: SourceFunction,
        decorator: DecoratorOptions,
        options: InferenceOptions,
        types: AnnotationReader,
    ) -> None:
        self._scope = function.annotation_scope
        self._options = options
        self._types = types
        self._diagnostics = types.context.diagnostics
        self._signature = function.node.args
        injected_types = decorator.injected_types.union(options.injected_types)
        self._parameters = [
            (parameter, default)
            for parameter, default in _with_defaults(function)
            if parameter.arg not in decorator.injected
            and parameter.arg not in options.injected_parameters
            and not _is_injected(
                parameter,
                default,
                self._scope,
                injected_types,
                types.context.meter,
                autowire=decorator.autowire,
            )
        ]
        bound = types.context.meter.bounds.fields
        if len(self._parameters) > bound:
            raise SourceError(
                DiagnosticCode.TOO_LARGE,
                f"a function of more than {bound} parameters",
                function.node,
            )

    @property
    def all_names(self) -> set[str]:
        """The names of all parameters of the function."""
        signature = self._signature
        variadic = [parameter for parameter in (signature.vararg, signature.kwarg) if parameter]
        parameters = (*signature.posonlyargs, *signature.args, *signature.kwonlyargs, *variadic)
        return {parameter.arg for parameter in parameters}

    @property
    def admits_more(self) -> bool:
        """Whether the function has ``**kwargs``."""
        return self._signature.kwarg is not None

    def input_schema(self, descriptions: Mapping[str, str]) -> dict[str, Any]:
        """Return the input schema; *descriptions* apply to parameters without their own.

        Faults are added to the diagnostics.
        """
        properties: dict[str, Any] = {}
        required: list[str] = []
        definitions: dict[str, Any] = {}
        positional_only = {id(parameter) for parameter in self._signature.posonlyargs}
        for parameter, default in self._parameters:
            self._diagnostics.parameter = parameter.arg
            if id(parameter) in positional_only:
                self._diagnostics.add(
                    SourceError(
                        DiagnosticCode.POSITIONAL_ONLY,
                        f"{parameter.arg} is positional-only, but tool arguments are passed by "
                        "name; remove the /",
                        parameter,
                    )
                )
                continue
            name, schema, is_required = self._read_parameter(parameter, default, definitions)
            if parameter.arg in descriptions:
                schema.setdefault("description", descriptions[parameter.arg])
            properties[name] = schema
            if is_required:
                required.append(name)
        additional = self._additional_properties(definitions)
        self._diagnostics.parameter = ""
        input_schema: dict[str, Any] = {"type": "object", "properties": properties}
        if required:
            input_schema["required"] = required
        input_schema["additionalProperties"] = additional
        if definitions:
            input_schema["$defs"] = definitions
        return input_schema

    def _read_parameter(
        self, parameter: ast.arg, default: ast.expr | None, definitions: dict[str, Any]
    ) -> tuple[str, dict[str, Any], bool]:
        """Return the name of a property, its schema, and whether it is required."""
        if parameter.annotation is None:
            self._warn_missing_annotation(parameter)
        annotation = parameter.annotation or ast.Constant(None)
        try:
            type_schema, info, referenced_definitions = self._types.read_with_definitions(
                annotation, self._scope, default
            )
        except SourceError as error:
            report_unsupported(error, self._options, self._diagnostics)
            return parameter.arg, {}, default is None
        schema = type_schema.build() if parameter.annotation is not None else {}
        schema |= info.keywords
        if info.text:
            schema.setdefault("description", info.text)
        context = self._types.context
        is_required = add_default(schema, info, context.literals, self._diagnostics)
        if isinstance(default, ast.Constant) and default.value is ...:
            # In Python, ... is an ordinary default value.
            is_required = False
            message = "the default is omitted from the schema: ... has no JSON form"
            self._diagnostics.warn(DiagnosticCode.DEFAULT_NOT_JSON, message, default)
        elif "default" in schema and not admits(
            schema, schema["default"], referenced_definitions, context.meter
        ):
            self._warn_default_mismatch(parameter, default, schema.pop("default"))
        definitions |= referenced_definitions
        return info.wire_name(parameter.arg, "validation"), schema, is_required

    def _warn_default_mismatch(
        self, parameter: ast.arg, default: ast.expr | None, value: Any
    ) -> None:
        if value is None:
            code, remedy = DiagnosticCode.IMPLICIT_OPTIONAL, "write Optional[...]"
        else:
            code, remedy = DiagnosticCode.DEFAULT_NOT_JSON, "use a default of the type, or none"
        message = (
            f"the default is omitted from the schema: the type of {parameter.arg} does not admit "
            f"it; {remedy}"
        )
        self._diagnostics.warn(code, message, default)

    def _additional_properties(self, definitions: dict[str, Any]) -> Any:
        """Return the value of ``additionalProperties``."""
        variadic, keywords = self._signature.vararg, self._signature.kwarg
        if variadic is not None:
            self._report_variadic(variadic)
        if keywords is None:
            return False
        self._diagnostics.parameter = keywords.arg
        if keywords.annotation is None:
            self._warn_missing_annotation(keywords)
            return True
        try:
            type_schema, info, referenced_definitions = self._types.read_with_definitions(
                keywords.annotation, self._scope
            )
        except SourceError as error:
            report_unsupported(error, self._options, self._diagnostics)
            return True
        definitions |= referenced_definitions
        return type_schema.build() | info.keywords or True

    def _report_variadic(self, variadic: ast.arg) -> None:
        """Report ``*args``: an error or, with ``on_unsupported`` ANY, an omission."""
        fault = f"*{variadic.arg} takes positional arguments, but tool arguments are passed by name"
        if self._options.on_unsupported is OnUnsupported.ANY:
            fault += "; it is left out of the schema"
        self._diagnostics.parameter = variadic.arg
        error = SourceError(
            DiagnosticCode.VARIADIC_PARAMETER,
            f"{fault}; use a parameter of type list[...]",
            variadic,
        )
        report_unsupported(error, self._options, self._diagnostics)

    def _warn_missing_annotation(self, parameter: ast.arg) -> None:
        message = f"{parameter.arg} has no type and admits any value; annotate it"
        self._diagnostics.warn(DiagnosticCode.MISSING_ANNOTATION, message, parameter)


def _with_defaults(function: SourceFunction) -> list[tuple[ast.arg, ast.expr | None]]:
    """Return the parameters with their defaults, without ``self`` or ``cls``."""
    signature = function.node.args
    positional = [*signature.posonlyargs, *signature.args]
    missing: list[ast.expr | None] = [None] * (len(positional) - len(signature.defaults))
    pairs = list(zip(positional, [*missing, *signature.defaults], strict=True))
    if function.is_method:
        pairs = pairs[1:]
    return pairs + list(zip(signature.kwonlyargs, signature.kw_defaults, strict=True))


def _is_injected(
    parameter: ast.arg,
    default: ast.expr | None,
    scope: Scope,
    additional_types: Collection[str],
    meter: Meter,
    *,
    autowire: bool,
) -> bool:
    """Whether the server injects *parameter*.

    The reason is its default (such as `Depends(...)`), metadata of `Annotated`, or its type,
    alone or in a union: a known type or one of *additional_types*.
    """
    if isinstance(default, ast.Call) and _last_part(callee_name(default, scope)) in (
        INJECTION_MARKERS
    ):
        return True
    known_types = INJECTED_TYPES if autowire else INJECTED_TYPES - _AUTOWIRED_TYPES
    return parameter.annotation is not None and any(
        _is_injecting(part, scope, known_types, additional_types, meter)
        for part in _annotation_parts(parameter.annotation)
    )


def _is_injecting(
    part: ast.expr,
    scope: Scope,
    known_types: frozenset[str],
    additional_types: Collection[str],
    meter: Meter,
) -> bool:
    if isinstance(part, ast.Call):
        return _last_part(callee_name(part, scope)) in INJECTION_MARKERS
    name = _name_of(part)
    if name in additional_types or name in INJECTION_MARKERS:
        return True
    if name in known_types:
        return not _is_data_class(part, scope, meter)
    return _inherits_injected(part, scope, meter)


def _inherits_injected(part: ast.expr, scope: Scope, meter: Meter) -> bool:
    """Whether *part* is a class of the source derived from a known injected type."""
    for _ in range(_MAX_PARTS):
        try:
            binding = scope.resolve(part)
        except SourceError:
            return False
        if not isinstance(binding, SourceClass):
            return False
        bases = [
            base.value if isinstance(base, ast.Subscript) else base for base in binding.node.bases
        ]
        for base in bases:
            if _name_of(base) in _INHERITED_TYPES and not _is_data_class(
                base, binding.scope, meter
            ):
                return True
        if len(bases) != 1:
            return False
        part, scope = bases[0], binding.scope
    return False


def _name_of(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")


def _is_data_class(part: ast.expr, scope: Scope, meter: Meter) -> bool:
    """Whether the source defines *part*, as a class that has a schema."""
    try:
        binding = scope.resolve(part)
        return isinstance(binding, SourceClass) and bool(kind_of(binding, meter))
    except SourceError:
        return False


def _annotation_parts(annotation: ast.expr) -> list[ast.expr]:
    """Return the branches of a union, and the type and metadata of `Annotated`."""
    parts: list[ast.expr] = []
    pending = [annotation]
    while pending and len(parts) < _MAX_PARTS:
        node = pending.pop()
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            try:
                pending.append(parse_expression(node))
            except SourceError:
                continue
        elif isinstance(node, ast.BinOp):
            pending += [node.left, node.right]
        elif isinstance(node, ast.Subscript):
            parts.append(node.value)
            if _name_of(node.value) in ("Annotated", "Optional", "Union"):
                pending += subscript_arguments(node)
        elif isinstance(node, ast.Name | ast.Attribute | ast.Call):
            parts.append(node)
    return parts


def _last_part(name: str) -> str:
    return name.rpartition(".")[2]


def infer_tools(
    source: bytes,
    options: InferenceOptions,
    limits: Limits,
    bounds: Bounds = BOUNDS,
) -> InferenceResult:
    """Return the definitions of the tools in *source*, Python in UTF-8.

    The source is parsed and never run: nothing in it is imported, evaluated or compiled.
    Anything that the source does not determine becomes a diagnostic.

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
        return InferenceResult((), diagnostics.sort_by_location())
    functions = find_functions(tree)
    _report_unknown_functions(options, {function.name for function in functions}, diagnostics)
    selected_functions = select_functions(functions, options.functions)
    if len(selected_functions) > bounds.tools:
        diagnostics.add(
            SourceError(
                DiagnosticCode.TOO_LARGE,
                f"{len(selected_functions):,} tools in one source; only the first "
                f"{bounds.tools:,} are read",
                selected_functions[bounds.tools].node,
            )
        )
    tools = _ToolReader(options, LiteralReader(Meter(bounds)), diagnostics)
    inferred_tools = [tools.read(function) for function in selected_functions[: bounds.tools]]
    return InferenceResult(
        tuple(tool for tool in inferred_tools if tool is not None), diagnostics.sort_by_location()
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
    """Reader of the tools of one source."""

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
            if docstring.unread and not parameters.admits_more:
                message = docstring.describe_unread()
                self._diagnostics.warn(DiagnosticCode.UNREAD_DOCSTRING, message, function.node)
            input_schema = parameters.input_schema(docstring.parameters)
        output_schema = decorator.output_schema
        if output_schema is None and decorator.structured_output:
            output_schema = self._output_schema(function)
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
        return parse_docstring(text, parameters.all_names)

    def _output_schema(self, function: SourceFunction) -> dict[str, Any] | None:
        """Return the canonical output schema, or None.

        Types of content, and types that admit arbitrary results, have none. A type that
        cannot be read has none either, with a warning: its tool can be called all the same.
        """
        # Decision 0039: the canonical definition has an output schema of any type.
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
            if error.code in _BOUNDS_EXCEEDED:
                raise
            message = f"the result has no output schema: {error.message}"
            # Types may be fine where they are defined: it is the annotation that needs a schema.
            line = getattr(error.node, "lineno", node.lineno)
            message += f" (line {line})" if line != node.lineno else ""
            self._diagnostics.warn(error.code, message, node)
            return None
        schema = _with_definitions(type_schema.build(), definitions)
        # Metadata alone does not make a schema of arbitrary values informative.
        return schema | info.keywords if _is_informative(schema) else None


def _with_definitions(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """Return *schema* with *definitions*; a reference at its root is resolved."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        siblings = {keyword: value for keyword, value in schema.items() if keyword != "$ref"}
        schema = definitions[name] | siblings
        if f'"$ref": "#/$defs/{name}"' not in json.dumps(definitions):
            definitions = {key: value for key, value in definitions.items() if key != name}
    return {**schema, "$defs": definitions} if definitions else schema


def _is_informative(schema: dict[str, Any]) -> bool:
    """Whether *schema* is more specific than any value, any list, null or bytes."""
    if "anyOf" in schema:
        branches = schema["anyOf"]
        return {} not in branches and any(_is_informative(branch) for branch in branches)
    if schema.get("type") == "array" and (
        not schema.get("items", True) or schema.get("maxItems") == 0
    ):
        return False
    return schema not in ({}, {"type": "null"}) and schema.get("format") != "binary"
