"""MCP itself: definitions that clients and model APIs take as they are.

The schema language is the intersection of what each target takes. Calls of such a tool are the
params of ``tools/call``, which the mapping converts back like those of a model. Results stay as
they are: a client that knows the output schema requires the structured content.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import msgspec

from sidecheck_server.core.convert.providers import anthropic, bedrock, gemini, openai
from sidecheck_server.core.convert.providers.provider import (
    LETTERS_TO_DOT_64,
    Arguments,
    CallShape,
    Provider,
    RequestLimits,
    Source,
    ToolDeclaration,
)
from sidecheck_server.core.convert.providers.subset import Patterns, Subset, intersect_subsets
from sidecheck_server.core.convert.types import ModelApi
from sidecheck_server.core.mcp.name_grammars import LETTERS_TO_DASH_64, NameGrammar

__all__ = ["DEFAULT_TARGETS", "TOOLS", "portable_provider"]

# Null is a branch of a union in JSON Schema, and types are in lower case.
_GEMINI = replace(
    gemini.GEMINI.compatible,
    keywords=(gemini.GEMINI.compatible.keywords or frozenset()) | {"default", "title"},
    nullable=False,
    upper_case_types=False,
    any_of_alone=False,
)
_SDK_1 = Subset(boolean_schemas=False)

_SUBSETS: Mapping[str, Subset] = MappingProxyType(
    {
        "openai": openai.COMPATIBLE,
        "openai-strict": openai.STRICT,
        "anthropic": anthropic.MESSAGES.compatible,
        "gemini": _GEMINI,
        "vertex": replace(_GEMINI, any_of_alone=True),
        "bedrock": bedrock.CONVERSE.compatible,
        "mistral": openai.COMPATIBLE,
        "ollama": Subset(),
        "llama.cpp": Subset(patterns=Patterns.GRAMMAR),
        "claude-code": replace(
            _SDK_1, not_at_root=frozenset({"allOf", "anyOf", "else", "if", "oneOf", "then"})
        ),
        "vscode": Subset(items=True),
        "cursor": Subset(),
        "typescript-sdk-1": _SDK_1,
        "typescript-sdk-2": Subset(),
        "openai-apps": Subset(),
        "claude-connectors": Subset(),
    }
)
"""What each target of `core.portability` takes, by its name."""

DEFAULT_TARGETS = frozenset(_SUBSETS) - {"openai-strict"}
"""All but the strict mode, whose objects must be closed, which Gemini refuses."""

_SHORT_NAMES = NameGrammar(
    48, LETTERS_TO_DASH_64.characters, LETTERS_TO_DASH_64.description, "A-Za-z_", 'a letter or "_"'
)
"""Names that leave 9 characters for that of the server: clients join the two in 64 or 60."""

_ANY_NAMES = NameGrammar(1 << 20, r"\s\S", "characters")

_GEMINI_TARGETS = frozenset({"gemini", "vertex"})
_LIMITED_PROPERTY_NAMES = frozenset({"anthropic", "bedrock"})


def portable_provider(targets: Iterable[str], *, keep_names: bool = False) -> Provider:
    """Return the provider of definitions that each of *targets* takes.

    With *keep_names*, tools have any name.
    """
    names = frozenset(targets)
    property_names = LETTERS_TO_DOT_64 if names & _LIMITED_PROPERTY_NAMES else None
    if names & _GEMINI_TARGETS:
        property_names = gemini.GEMINI.property_names
    subset = intersect_subsets(_SUBSETS[name] for name in sorted(names))
    return replace(
        _ANY_TARGET,
        tool_names=_ANY_NAMES if keep_names else _SHORT_NAMES,
        compatible=subset,
        property_names=property_names,
    )


def _write_tool(tool: ToolDeclaration) -> dict[str, Any]:
    kept: dict[str, msgspec.Raw] = msgspec.json.decode(tool.kept, type=dict[str, msgspec.Raw])
    written = {**tool.heading(), **kept, "inputSchema": tool.function()["parameters"]}
    if tool.output_schema is not None:
        written["outputSchema"] = msgspec.Raw(tool.output_schema)
    return written


_ANY_TARGET = Provider(
    key=ModelApi.MCP,
    display_name="MCP clients",
    tool_names=_SHORT_NAMES,
    property_names=None,
    compatible=Subset(),
    strict=None,
    request_limits=RequestLimits(),
    sources=(
        Source("write_tool and call", "MCP 2025-11-25, server/tools, Tool", "2025-11-25"),
        Source("compatible: as the providers say", "", ""),
    ),
    write_tool=_write_tool,
    call=CallShape(
        ("name",),
        ("id",),
        ("arguments",),
        Arguments.OBJECT,
        "the params of a `tools/call`",
        arguments_optional=True,
    ),
    write_result=None,
    accepts_output_schema=True,
    kept_properties=frozenset(
        {"title", "annotations", "icons", "execution", "outputSchema", "_meta"}
    ),
    result_requires_call_id=False,
)

TOOLS = portable_provider(DEFAULT_TARGETS)
