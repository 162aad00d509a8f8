"""Shape of a tool around its schema, for each API.

Sources: the published packages openai 3.54 (types/chat/chat_completion_function_tool,
types/responses/function_tool), anthropic 2.12 (types/tool_param), google-genai 3.4
(types.FunctionDeclaration), botocore 1.44 (bedrock-runtime: ToolSpecification), mistralai
3.7 (models/function), ollama 0.6 (types.Tool) and mcp 2.3 (mcp_types.Tool); names by the
providers' references.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

__all__ = ["ENVELOPES", "Contents", "Envelope"]


@dataclass(frozen=True, slots=True)
class Envelope:
    """Location of the name, the description and the schema of a tool."""

    #: Path from the tool to the object that has its name.
    path: tuple[str, ...]
    name: re.Pattern[str]
    #: Path from there to the schema.
    schema: tuple[str, ...]
    #: Other properties that the object may have.
    others: frozenset[str]
    #: Exact properties beside the object.
    extra_items: tuple[tuple[str, str], ...] = ()
    #: Whether the API has a strict mode.
    has_strict: bool = True
    #: Whether `strict` is required.
    strict_explicit: bool = False
    #: Whether a tool without arguments has no schema.
    without_schema: bool = False

    def open(self, tool: Any) -> "Contents":
        """Return the contents of *tool*."""
        faults: list[str] = []
        inner = tool
        for step in self.path:
            rest = {key: value for key, value in inner.items() if key != step}
            if rest != dict(self.extra_items):
                faults.append(f"beside {step!r} is {rest}, not {dict(self.extra_items)}")
            inner = inner.get(step)
            if not isinstance(inner, dict):
                return Contents([*faults, f"{step!r} is not an object"], {}, None)
        if not self.path and not isinstance(inner, dict):
            return Contents(["the tool is not an object"], {}, None)
        unknown = inner.keys() - {"name", self.schema[0], *self.others}
        faults += [f"unknown property {name!r}" for name in sorted(unknown)]
        schema: Any = inner
        for step in self.schema:
            schema = schema.get(step) if isinstance(schema, dict) else None
        return Contents(faults, inner, schema)


@dataclass(frozen=True, slots=True)
class Contents:
    """Contents of a tool."""

    faults: list[str]
    #: The object that has the name.
    inner: dict[str, Any]
    schema: Any

    def check(self, envelope: Envelope, *, strict: bool) -> Iterator[str]:
        """Yield the faults around the schema."""
        yield from self.faults
        for rule in _RULES:
            yield from rule(self.inner, envelope, strict)


def _name(inner: dict[str, Any], envelope: Envelope, _: bool) -> Iterator[str]:
    name = inner.get("name")
    if not isinstance(name, str) or not envelope.name.fullmatch(name):
        yield f"the name {name!r} is not {envelope.name.pattern}"


def _description(inner: dict[str, Any], _: Envelope, __: bool) -> Iterator[str]:
    description = inner.get("description", "-")
    if not isinstance(description, str) or not description:
        # Bedrock requires at least one character; OpenAI's Chat Completions rejects null.
        yield "the description is not a text"


def _strict(inner: dict[str, Any], envelope: Envelope, strict: bool) -> Iterator[str]:
    requested = inner.get("strict")
    if envelope.strict_explicit and not isinstance(requested, bool):
        # OpenAI's Responses uses strict mode where it can if the field is missing.
        yield "strict is missing"
    if envelope.has_strict and bool(requested) is not strict:
        yield f"strict is {requested!r}"


_RULES: tuple[Callable[[dict[str, Any], Envelope, bool], Iterator[str]], ...] = (
    _name,
    _description,
    _strict,
)

_FUNCTION = (("type", "function"),)
_LETTERS = "[a-zA-Z0-9_-]"

ENVELOPES = {
    "openai-chat": Envelope(
        ("function",),
        re.compile(f"{_LETTERS}{{1,64}}"),
        ("parameters",),
        frozenset({"description", "strict"}),
        extra_items=_FUNCTION,
        strict_explicit=True,
    ),
    "openai-responses": Envelope(
        (),
        re.compile(f"{_LETTERS}{{1,128}}"),
        ("parameters",),
        frozenset({"type", "description", "strict", "output_schema"}),
        strict_explicit=True,
    ),
    "anthropic": Envelope(
        (),
        re.compile(f"{_LETTERS}{{1,128}}"),
        ("input_schema",),
        frozenset({"type", "description", "strict"}),
    ),
    "gemini": Envelope(
        (),
        re.compile("[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}"),
        ("parameters",),
        frozenset({"description", "response"}),
        has_strict=False,
        without_schema=True,
    ),
    "gemini-json": Envelope(
        (),
        re.compile("[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}"),
        ("parametersJsonSchema",),
        frozenset({"description", "responseJsonSchema"}),
        has_strict=False,
        without_schema=True,
    ),
    "bedrock": Envelope(
        ("toolSpec",),
        re.compile(f"{_LETTERS}{{1,64}}"),
        ("inputSchema", "json"),
        frozenset({"description", "strict"}),
    ),
    "mistral": Envelope(
        ("function",),
        re.compile(f"{_LETTERS}{{1,64}}"),
        ("parameters",),
        frozenset({"description", "strict"}),
        extra_items=_FUNCTION,
    ),
    "ollama": Envelope(
        ("function",),
        # No rule is published; only such names are known to be returned unchanged.
        re.compile(r"[^\s]+"),
        ("parameters",),
        frozenset({"description"}),
        extra_items=_FUNCTION,
        has_strict=False,
    ),
    "mcp": Envelope(
        (),
        # Clients put the name of the server before it, in 60 or 64 characters.
        re.compile(f"[a-zA-Z_]{_LETTERS}{{0,47}}"),
        ("inputSchema",),
        frozenset({"title", "description", "annotations", "icons", "execution"})
        | {"outputSchema", "_meta"},
        has_strict=False,
    ),
}
