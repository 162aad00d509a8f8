"""Errors of inference: their codes, parameters and lines; options that are checked."""

import math
import sys
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from pydantic import AliasPath, BaseModel, Field
from sidecheck.inference import (
    InferenceError,
    infer_tool,
    tool,
    tool_config,
    tool_definition,
)
from sidecheck.values.verdict import Severity


class PlainClass:
    pass


def variadic(*numbers: int) -> int:
    raise NotImplementedError


def positional_only(a: int, /, b: int) -> int:
    raise NotImplementedError


def unknown(a: int, b: "Nowhere") -> int:  # type: ignore[name-defined]  # noqa: F821
    raise NotImplementedError


def broken(a: "1 +") -> int:  # type: ignore[valid-type]  # noqa: F722
    raise NotImplementedError


def opaque(a: PlainClass | int) -> int:
    raise NotImplementedError


def calls(a: Callable[[int], int]) -> int:
    raise NotImplementedError


def classes(a: type[int]) -> int:
    raise NotImplementedError


def paths(a: Annotated[int, Field(validation_alias=AliasPath("b", 0))]) -> int:
    raise NotImplementedError


def twice(b: int, a: Annotated[int, Field(alias="b")]) -> int:
    raise NotImplementedError


def gives(a: int) -> PlainClass:
    raise NotImplementedError


def gives_unknown(a: int) -> "list[Nowhere]":  # type: ignore[name-defined]  # noqa: F821
    raise NotImplementedError


class Part(BaseModel):
    whole: "Nowhere"  # type: ignore[name-defined]  # noqa: F821


def takes_a_part(a: Part) -> int:
    raise NotImplementedError


LINES = {
    function.__name__: function.__code__.co_firstlineno
    for function in (
        variadic,
        positional_only,
        unknown,
        broken,
        opaque,
        calls,
        classes,
        paths,
        twice,
        gives,
        gives_unknown,
    )
}


@pytest.mark.parametrize(
    ("expected", "function"),
    [
        (("VARIADIC_PARAMETER", "numbers"), variadic),
        (("POSITIONAL_ONLY", "a"), positional_only),
        (("UNRESOLVED_NAME", "b"), unknown),
        (("UNSUPPORTED_SYNTAX", "a"), broken),
        (("UNSUPPORTED_TYPE", "a"), opaque),
        (("UNSUPPORTED_TYPE", "a"), calls),
        (("UNSUPPORTED_TYPE", "a"), classes),
        (("UNSUPPORTED_TYPE", "a"), paths),
        (("UNSUPPORTED_TYPE", "a"), twice),
    ],
)
def test_an_error_has_a_location(expected: tuple[str, str], function: Callable[..., Any]) -> None:
    with pytest.raises(InferenceError) as caught:
        infer_tool(function)
    error = caught.value
    assert expected == (error.code, error.parameter)
    assert (__file__, LINES[function.__name__]) == (error.file, error.line)
    assert str(error).startswith(f"{__file__}:{error.line}: {function.__qualname__}, ")


def test_the_location_of_a_parameter_is_its_own_line() -> None:
    here = sys._getframe().f_lineno
    with pytest.raises(InferenceError) as caught:

        @tool(
            name="x",
        )
        def spread(
            a: int,
            b: PlainClass,
        ) -> None: ...

    assert here + 8 == caught.value.line


@pytest.mark.parametrize(
    ("code", "function"), [("UNSUPPORTED_TYPE", gives), ("UNRESOLVED_NAME", gives_unknown)]
)
def test_a_result_without_a_schema_is_a_warning(code: str, function: Callable[..., Any]) -> None:
    """The tool remains, with its input schema."""
    tool_function = infer_tool(function)
    definition, (warning,) = tool_definition(tool_function), tool_config(tool_function).diagnostics

    assert (code, "return", Severity.WARNING) == (warning.code, warning.parameter, warning.severity)
    assert LINES[function.__name__] == warning.line
    assert "outputSchema" not in definition
    assert ["a"] == [*definition["inputSchema"]["properties"]]


@pytest.mark.parametrize("function", [unknown, opaque, calls, classes, gives, gives_unknown])
def test_any_value_is_admitted_with_a_warning_on_request(function: Callable[..., Any]) -> None:
    tool_function = infer_tool(function, on_unsupported="any")
    definition, (warning,) = tool_definition(tool_function), tool_config(tool_function).diagnostics
    properties = definition["inputSchema"]["properties"]
    if warning.parameter == "return":
        assert "outputSchema" not in definition
    else:
        assert {} == properties[warning.parameter]
    assert "warning" == warning.severity


@pytest.mark.parametrize("function", [variadic, positional_only, unknown, opaque])
def test_an_explicit_schema_replaces_the_types_of_the_arguments(
    function: Callable[..., Any],
) -> None:
    """The schema is used unchanged, including titles."""
    input_schema = {"type": "object", "title": "T", "properties": {"a": {"title": "A"}}}
    tool_function = infer_tool(
        function, input_schema=input_schema, output_schema={"type": "string"}
    )
    definition = tool_definition(tool_function)
    assert (input_schema, {"type": "string"}) == (
        definition["inputSchema"],
        definition["outputSchema"],
    )


@pytest.mark.parametrize(
    ("expected", "options"),
    [
        ("invalid input_schema of type list; expected an object", {"input_schema": []}),
        (
            "/input_schema/default is of type object, which JSON cannot express",
            {"input_schema": {"default": object()}},
        ),
        (
            'invalid input_schema; MCP requires "type": "object" at the root',
            {"input_schema": {"type": "array"}},
        ),
        (
            'invalid input_schema; MCP requires "type": "object" at the root',
            {"input_schema": {}},
        ),
        ("invalid name 5; expected a string", {"name": 5}),
        ('invalid name ""; omit it to use the name of the function', {"name": ""}),
        ("invalid read_only 1; expected True or False", {"read_only": 1}),
        ("invalid max_attempts 0; expected at least 1", {"max_attempts": 0}),
        ("invalid max_attempts '3'; expected an integer", {"max_attempts": "3"}),
        ("invalid max_attempts True; expected an integer", {"max_attempts": True}),
        ("invalid cache_ttl -1.0; expected at least 0 seconds", {"cache_ttl": -1.0}),
        ("invalid cache_ttl nan; expected at least 0 seconds", {"cache_ttl": math.nan}),
        ("invalid cache_size 0; expected at least 1", {"cache_size": 0}),
        ("invalid cache_ttl '1h'; expected a number", {"cache_ttl": "1h"}),
        (
            "invalid item 5 in retry_on; expected subclasses of Exception",
            {"retry_on": [ValueError, 5]},
        ),
        (
            "invalid retry_on 'ValueError'; expected a list of subclasses of Exception",
            {"retry_on": "ValueError"},
        ),
        (
            f"invalid item {BaseException} in retry_on; expected subclasses of Exception",
            {"retry_on": BaseException},
        ),
        (
            "invalid inject_settings 'git.path'; expected a list of names of settings",
            {"inject_settings": "git.path"},
        ),
        (
            f"invalid injected {PlainClass}; expected a list of types and parameter names",
            {"injected": PlainClass},
        ),
        (
            'invalid on_unsupported \'all\'; expected one of "error", "any"',
            {"on_unsupported": "all"},
        ),
        (
            '/input_schema/properties must satisfy "type": "object"',
            {"input_schema": {"type": "object", "properties": 5}},
        ),
        (
            '/output_schema/type must satisfy "anyOf"',
            {"output_schema": {"type": "objekt"}},
        ),
        (
            "the schema is marked with x-dedalus-box but has no property 'value'",
            {"output_schema": {"type": "object", "x-dedalus-box": {"field": "value"}}},
        ),
    ],
)
def test_options_are_checked(expected: str, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\w") as caught:
        infer_tool(gives, **options)
    assert expected == str(caught.value)


def test_an_unknown_option_is_an_error() -> None:
    with pytest.raises(TypeError, match=r"^unknown option 'cache'$"):
        tool(cache=1)  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("kind", "expected", "target"),
    [
        (ValueError, "'<lambda>' is not a name for a tool; pass name=", lambda a: a),
        (
            TypeError,
            (
                f"expected a function, not {PlainClass}; decorate its methods, or a function that"
                " creates one"
            ),
            PlainClass,
        ),
        (
            TypeError,
            ("expected a function, not 'sum'; the name is an option: @tool(name='sum')"),
            "sum",
        ),
        (TypeError, "expected a function, not 5", 5),
    ],
)
def test_a_tool_needs_a_function_with_a_name(
    kind: type[Exception], expected: str, target: Any
) -> None:
    with pytest.raises(kind) as caught:
        infer_tool(target)
    assert expected == str(caught.value)


def test_the_error_of_an_incomplete_class_has_no_internal_names() -> None:
    with pytest.raises(InferenceError) as caught:
        infer_tool(takes_a_part)
    assert "UNRESOLVED_NAME" == caught.value.code
    assert (
        "it has no JSON Schema: a type that it refers to is not defined; define or import it"
        " first, or pass its schema to the decorator"
    ) == caught.value.diagnostic.message


def test_a_function_without_a_tool_is_an_error() -> None:
    with pytest.raises(TypeError, match=r"is not a tool: decorate it with @tool\(\)"):
        tool_definition(gives)
