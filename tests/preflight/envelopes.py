"""The form of a tool around its schema, for each API.

Sources: the published packages openai 3.54 (types/chat/chat_completion_function_tool,
types/responses/function_tool), anthropic 2.12 (types/tool_param), google-genai 3.4
(types.FunctionDeclaration), botocore 1.44 (bedrock-runtime: ToolSpecification), mistralai
3.7 (models/function) and ollama 0.6 (types.Tool); names as the providers' references say.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

__all__ = ["ENVELOPES", "Envelope", "Opened"]


@dataclass(frozen=True, slots=True)
class Envelope:
    """Where the API has the name, the description and the schema of a tool."""

    #: From the tool to the object that has its name.
    way: tuple[str, ...]
    name: re.Pattern[str]
    #: From there to the schema.
    schema: tuple[str, ...]
    #: Members that the object beside name and schema may have.
    others: frozenset[str]
    #: What stands beside the object, exactly.
    beside: tuple[tuple[str, str], ...] = ()
    #: Whether the API has a field that asks for strictness.
    has_strict: bool = True
    #: Whether that field has to be there.
    strict_explicit: bool = False
    #: Whether a tool that takes nothing has no schema.
    without_schema: bool = False

    def open(self, tool: Any) -> "Opened":
        """Return what is in *tool*."""
        faults: list[str] = []
        inner = tool
        for step in self.way:
            rest = {key: value for key, value in inner.items() if key != step}
            if rest != dict(self.beside):
                faults.append(f"beside {step!r} stands {rest}, not {dict(self.beside)}")
            inner = inner.get(step)
            if not isinstance(inner, dict):
                return Opened([*faults, f"{step!r} is not an object"], {}, None)
        if not self.way and not isinstance(inner, dict):
            return Opened(["the tool is not an object"], {}, None)
        unknown = inner.keys() - {"name", self.schema[0], *self.others}
        faults += [f"unknown member {name!r}" for name in sorted(unknown)]
        schema: Any = inner
        for step in self.schema:
            schema = schema.get(step) if isinstance(schema, dict) else None
        return Opened(faults, inner, schema)


@dataclass(frozen=True, slots=True)
class Opened:
    """A tool out of its envelope."""

    faults: list[str]
    #: The object that has the name.
    inner: dict[str, Any]
    schema: Any

    def check(self, envelope: Envelope, *, strict: bool) -> Iterator[str]:
        """Yield what is wrong around the schema."""
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
        # Bedrock demands at least one character; OpenAI's Chat Completions no null.
        yield "the description is not a text"


def _strict(inner: dict[str, Any], envelope: Envelope, strict: bool) -> Iterator[str]:
    said = inner.get("strict")
    if envelope.strict_explicit and not isinstance(said, bool):
        # OpenAI's Responses tries strictness where the field is missing.
        yield "strict is not said"
    if envelope.has_strict and bool(said) is not strict:
        yield f"strict is {said!r}"


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
        beside=_FUNCTION,
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
        beside=_FUNCTION,
    ),
    "ollama": Envelope(
        ("function",),
        # No rule is published; nothing else is known to be sent back untouched.
        re.compile(r"[^\s]+"),
        ("parameters",),
        frozenset({"description"}),
        beside=_FUNCTION,
        has_strict=False,
    ),
}
