"""Tools in the JSON of each API, one by one and all together."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias

import msgspec

from sidecheck_server.core.convert.apis.api import Api
from sidecheck_server.core.convert.forms import Form
from sidecheck_server.core.convert.words import ModelApi

__all__ = ["assembled", "tool_json"]

_Shape: TypeAlias = Callable[[str, Form], dict[str, Any]]
_Assembly: TypeAlias = Callable[[list[msgspec.Raw]], Any]

# For APIs whose field may not lack, and a form that has no schema.
_TAKES_NOTHING = msgspec.Raw(b'{"type":"object","properties":{}}')


def tool_json(api: Api, name: str, form: Form) -> bytes:
    """Return *form* as a tool of that *name*: one element of what `assembled` puts together.

    ``strict`` is always said where the API has it: Responses, without it, would hold the
    model to the schema if it can (OpenAI's OpenAPI description, FunctionTool).
    """
    return msgspec.json.encode(_SHAPES[api.key](name, form))


def assembled(api: ModelApi, tools: Sequence[bytes]) -> bytes:
    """Return *tools*, in the JSON of *api*, as one value for a request.

    It is the value of ``tools``; for Gemini a list with one tool that declares all
    functions, for Bedrock that of ``toolConfig``, which may not be empty.
    """
    assembly: _Assembly = _ASSEMBLIES.get(api, _listed)
    return msgspec.json.encode(assembly([msgspec.Raw(tool) for tool in tools]))


def _parameters(form: Form) -> msgspec.Raw:
    return _TAKES_NOTHING if form.parameters is None else msgspec.Raw(form.parameters)


def _introduced(name: str, form: Form) -> dict[str, Any]:
    """Return the members that introduce a tool in every API; none is null in any of them."""
    return {"name": name, "description": form.description} if form.description else {"name": name}


def _function(name: str, form: Form, member: str = "parameters") -> dict[str, Any]:
    """Return *form* with its schema as that *member*."""
    function = {**_introduced(name, form), member: _parameters(form)}
    if form.strict is not None:
        function["strict"] = form.strict
    return function


def _nested(name: str, form: Form) -> dict[str, Any]:
    return {"type": "function", "function": _function(name, form)}


def _responses(name: str, form: Form) -> dict[str, Any]:
    tool = {"type": "function", **_function(name, form)}
    if form.output_schema is not None:
        tool["output_schema"] = msgspec.Raw(form.output_schema)
    return tool


def _anthropic(name: str, form: Form) -> dict[str, Any]:
    return _function(name, form, "input_schema")


def _gemini(member: str) -> _Shape:
    def declaration(name: str, form: Form) -> dict[str, Any]:
        function = _introduced(name, form)
        if form.parameters is not None:
            function[member] = msgspec.Raw(form.parameters)
        return function

    return declaration


def _bedrock(name: str, form: Form) -> dict[str, Any]:
    tool = _function(name, form, "inputSchema")
    return {"toolSpec": {**tool, "inputSchema": {"json": tool["inputSchema"]}}}


_SHAPES: Mapping[ModelApi, _Shape] = MappingProxyType(
    {
        ModelApi.OPENAI_CHAT: _nested,
        ModelApi.OPENAI_RESPONSES: _responses,
        ModelApi.ANTHROPIC: _anthropic,
        ModelApi.GEMINI: _gemini("parameters"),
        ModelApi.GEMINI_JSON: _gemini("parametersJsonSchema"),
        ModelApi.BEDROCK: _bedrock,
        ModelApi.MISTRAL: _nested,
        ModelApi.OLLAMA: _nested,
    }
)


def _listed(tools: list[msgspec.Raw]) -> list[Any]:
    return tools


def _declared(tools: list[msgspec.Raw]) -> list[Any]:
    return [{"functionDeclarations": tools}]


def _configured(tools: list[msgspec.Raw]) -> dict[str, Any]:
    return {"tools": tools}


_ASSEMBLIES: Mapping[ModelApi, _Assembly] = MappingProxyType(
    {
        ModelApi.GEMINI: _declared,
        ModelApi.GEMINI_JSON: _declared,
        ModelApi.BEDROCK: _configured,
    }
)
