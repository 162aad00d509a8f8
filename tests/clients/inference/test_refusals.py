"""What is no tool as it stands: the code, the parameter and the line."""

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


class Thing:
    pass


def several(*numbers: int) -> int:
    raise NotImplementedError


def by_place(a: int, /, b: int) -> int:
    raise NotImplementedError


def unknown(a: int, b: "Nowhere") -> int:  # type: ignore[name-defined]  # noqa: F821
    raise NotImplementedError


def broken(a: "1 +") -> int:  # type: ignore[valid-type]  # noqa: F722
    raise NotImplementedError


def opaque(a: Thing | int) -> int:
    raise NotImplementedError


def calls(a: Callable[[int], int]) -> int:
    raise NotImplementedError


def classes(a: type[int]) -> int:
    raise NotImplementedError


def paths(a: Annotated[int, Field(validation_alias=AliasPath("b", 0))]) -> int:
    raise NotImplementedError


def twice(b: int, a: Annotated[int, Field(alias="b")]) -> int:
    raise NotImplementedError


def gives(a: int) -> Thing:
    raise NotImplementedError


def gives_unknown(a: int) -> "list[Nowhere]":  # type: ignore[name-defined]  # noqa: F821
    raise NotImplementedError


class Part(BaseModel):
    whole: "Nowhere"  # type: ignore[name-defined]  # noqa: F821


def takes_a_part(a: Part) -> int:
    raise NotImplementedError


LINES = {
    one.__name__: one.__code__.co_firstlineno
    for one in (
        several,
        by_place,
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
        (("VARIADIC_PARAMETER", "numbers"), several),
        (("POSITIONAL_ONLY", "a"), by_place),
        (("UNRESOLVED_NAME", "b"), unknown),
        (("UNSUPPORTED_SYNTAX", "a"), broken),
        (("UNSUPPORTED_TYPE", "a"), opaque),
        (("UNSUPPORTED_TYPE", "a"), calls),
        (("UNSUPPORTED_TYPE", "a"), classes),
        (("UNSUPPORTED_TYPE", "a"), paths),
        (("UNSUPPORTED_TYPE", "a"), twice),
        (("UNSUPPORTED_TYPE", "return"), gives),
        (("UNRESOLVED_NAME", "return"), gives_unknown),
    ],
)
def test_what_cannot_be_told_is_an_error_with_a_place(
    expected: tuple[str, str], function: Callable[..., Any]
) -> None:
    with pytest.raises(InferenceError) as caught:
        infer_tool(function)
    error = caught.value
    assert expected == (error.code, error.parameter)
    assert (__file__, LINES[function.__name__]) == (error.file, error.line)
    assert str(error).startswith(f"{__file__}:{error.line}: {function.__qualname__}, ")


def test_a_parameter_is_placed_on_its_own_line() -> None:
    here = sys._getframe().f_lineno
    with pytest.raises(InferenceError) as caught:

        @tool(
            name="x",
        )
        def spread(
            a: int,
            b: Thing,
        ) -> None: ...

    assert here + 8 == caught.value.line


@pytest.mark.parametrize("function", [unknown, opaque, calls, classes, gives, gives_unknown])
def test_anything_is_admitted_only_on_request(function: Callable[..., Any]) -> None:
    """And it is told."""
    made = infer_tool(function, on_unsupported="any")
    definition, (told,) = tool_definition(made), tool_config(made).diagnostics
    properties = definition["inputSchema"]["properties"]
    if told.parameter == "return":
        assert "outputSchema" not in definition
    else:
        assert {} == properties[told.parameter]
    assert "warning" == told.severity


@pytest.mark.parametrize("function", [several, by_place, unknown, opaque])
def test_a_schema_that_is_given_needs_no_signature(function: Callable[..., Any]) -> None:
    """It stays as it is, down to the titles."""
    given = {"type": "object", "title": "T", "properties": {"a": {"title": "A"}}}
    made = infer_tool(function, input_schema=given, output_schema={"type": "string"})
    definition = tool_definition(made)
    assert (given, {"type": "string"}) == (definition["inputSchema"], definition["outputSchema"])


@pytest.mark.parametrize(
    ("expected", "options"),
    [
        ("input_schema is an object, not of type list", {"input_schema": []}),
        (
            "/input_schema/default is of type object, which JSON cannot express",
            {"input_schema": {"default": object()}},
        ),
        (
            'input_schema has "type": "object" at its root, as MCP has arguments',
            {"input_schema": {"type": "array"}},
        ),
        (
            'input_schema has "type": "object" at its root, as MCP has arguments',
            {"input_schema": {}},
        ),
        ("name is a string, not 5", {"name": 5}),
        ("name is empty: leave it out for the function's own", {"name": ""}),
        ("read_only is True or False, not 1", {"read_only": 1}),
        ("max_attempts is at least 1, not 0", {"max_attempts": 0}),
        ("max_attempts is an integer, not '3'", {"max_attempts": "3"}),
        ("max_attempts is an integer, not True", {"max_attempts": True}),
        ("cache_ttl is at least 0 seconds, and cache_size at least 1", {"cache_ttl": -1.0}),
        ("cache_ttl is at least 0 seconds, and cache_size at least 1", {"cache_ttl": math.nan}),
        ("cache_ttl is a number, not '1h'", {"cache_ttl": "1h"}),
        (
            "retry_on is a list of classes under Exception, and 5 is none",
            {"retry_on": [ValueError, 5]},
        ),
        (
            "retry_on is a list of classes under Exception, not 'ValueError'",
            {"retry_on": "ValueError"},
        ),
        (
            f"retry_on is a list of classes under Exception, and {BaseException} is none",
            {"retry_on": BaseException},
        ),
        (
            "inject_settings is a list of the names of settings, not 'git.path'",
            {"inject_settings": "git.path"},
        ),
        (
            f"injected is a list of types and names of parameters, not {Thing}",
            {"injected": Thing},
        ),
        ('on_unsupported is "error" or "any", not \'all\'', {"on_unsupported": "all"}),
        (
            (
                "validate judges by the function's own types: leave out input_schema, or let the"
                " service judge by it"
            ),
            {"input_schema": {}, "validate": True},
        ),
    ],
)
def test_options_are_checked(expected: str, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\w") as caught:
        infer_tool(gives, **options)
    assert expected == str(caught.value)


def test_an_option_that_there_is_not_is_told_by_name() -> None:
    with pytest.raises(TypeError, match=r"^a tool has no option 'cache'$"):
        tool(cache=1)  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("kind", "expected", "target"),
    [
        (ValueError, "'<lambda>' is no name for a tool: give name=", lambda a: a),
        (
            TypeError,
            (
                f"a tool is made of a function, not of {Thing}: decorate its methods, or a"
                " function that makes one"
            ),
            Thing,
        ),
        (
            TypeError,
            (
                "a tool is made of a function, not of 'sum': the name is an option, as in"
                " @tool(name='sum')"
            ),
            "sum",
        ),
        (TypeError, "a tool is made of a function, not of 5", 5),
    ],
)
def test_what_is_no_function_with_a_name_is_no_tool(
    kind: type[Exception], expected: str, target: Any
) -> None:
    with pytest.raises(kind) as caught:
        infer_tool(target)
    assert expected == str(caught.value)


def test_a_class_that_is_not_whole_is_told_without_pydantic_s_own_names() -> None:
    with pytest.raises(InferenceError) as caught:
        infer_tool(takes_a_part)
    assert "UNRESOLVED_NAME" == caught.value.code
    assert (
        "it has no JSON Schema: something that it refers to is not defined; it would have to be"
        " defined or imported first, or have its schema given to the decorator"
    ) == caught.value.diagnostic.message


def test_a_function_that_is_no_tool_is_told_so() -> None:
    with pytest.raises(TypeError, match=r"is no tool: decorate it with @tool\(\)"):
        tool_definition(gives)
