"""Subset of JSON Schema that each API supports, by its documents and errors.

Sources, as read between 2026-02 and 2026-11: OpenAI's guide to structured outputs and its
OpenAPI description; Anthropic's guide to structured outputs and the errors of its API;
the reference of Gemini's ``Schema`` and of ``parametersJsonSchema``, and the errors of
its API; Ollama's ``api.ToolProperty``.
"""

import re
from dataclasses import dataclass, field, replace

__all__ = ["SUBSETS", "Sizes", "Subset"]


@dataclass(frozen=True, slots=True)
class Sizes:
    """Limits of the size of one schema."""

    properties: int = 10**9
    depth: int = 10**9
    text: int = 10**9
    enum_values: int = 10**9
    enum_text: int = 10**9


@dataclass(frozen=True, slots=True)
class Subset:
    """Supported schemas."""

    #: None is all.
    keywords: frozenset[str] | None = None
    not_at_root: frozenset[str] = frozenset({"anyOf", "oneOf", "allOf"})
    #: All keywords that are allowed at the root; None is all that are allowed elsewhere.
    root_keywords: frozenset[str] | None = None
    properties_at_root: bool = False
    items: bool = False
    booleans: bool = True
    type_lists: bool = True
    capitals: bool = False
    typed: bool = False
    property_names: re.Pattern[str] | None = None
    closed: bool = False
    all_required: bool = False
    #: Whether required properties must be declared.
    required_declared: bool = False
    empty_objects: bool = True
    #: Whether the root may be an empty object, even if others may not.
    empty_root: bool = False
    texts_in_enum: bool = False
    #: Whether anyOf may have no assertions beside it.
    lone_any_of: bool = False
    formats: frozenset[str] | None = None
    min_items: frozenset[int] | None = None
    #: "any", "alone" or "none".
    references: str = "any"
    #: "any", "optional" (only below properties that are not required) or "none".
    recursion: str = "any"
    regular_patterns: bool = False
    first_keys_differ: bool = False
    sizes: Sizes = field(default_factory=Sizes)


_OPENAI = Subset(
    not_at_root=frozenset({"anyOf", "oneOf", "allOf", "not", "enum", "const"}),
    properties_at_root=True,
    items=True,
)
_OPENAI_STRICT = Subset(
    keywords=frozenset(
        {"type", "properties", "required", "additionalProperties", "items", "enum", "const"}
        | {"anyOf", "pattern", "format", "multipleOf", "minimum", "maximum"}
        | {"exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems"}
        | {"$ref", "$defs", "description", "title"}
    ),
    not_at_root=_OPENAI.not_at_root,
    properties_at_root=True,
    items=True,
    booleans=False,
    typed=True,
    closed=True,
    all_required=True,
    required_declared=True,
    formats=frozenset(
        {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}
    ),
    references="alone",
    regular_patterns=True,
    first_keys_differ=True,
    sizes=Sizes(5_000, 10, 120_000, 1_000, 15_000),
)
_ANTHROPIC_KEYS = re.compile("[a-zA-Z0-9_.-]{1,64}")
_ANTHROPIC = Subset(property_names=_ANTHROPIC_KEYS)
_ANTHROPIC_STRICT = Subset(
    keywords=frozenset(
        {"type", "properties", "required", "additionalProperties", "items", "enum", "const"}
        | {"anyOf", "allOf", "$ref", "$defs", "definitions", "default", "format", "minItems"}
        | {"pattern", "description", "title"}
    ),
    property_names=_ANTHROPIC_KEYS,
    closed=True,
    formats=frozenset(
        {"date-time", "time", "date", "duration", "email", "hostname", "uri"}
        | {"ipv4", "ipv6", "uuid"}
    ),
    min_items=frozenset({0, 1}),
    recursion="none",
    regular_patterns=True,
)
_GEMINI = Subset(
    keywords=frozenset(
        {"type", "title", "description", "format", "nullable", "enum", "items", "minItems"}
        | {"maxItems", "properties", "required", "minProperties", "maxProperties", "minimum"}
        | {"maximum", "minLength", "maxLength", "pattern", "example", "anyOf", "default"}
        | {"propertyOrdering"}
    ),
    items=True,
    booleans=False,
    type_lists=False,
    capitals=True,
    typed=True,
    property_names=re.compile("[a-zA-Z_][a-zA-Z0-9_]{0,63}"),
    required_declared=True,
    empty_objects=False,
    texts_in_enum=True,
    lone_any_of=True,
    references="none",
    recursion="none",
)
_GEMINI_JSON = Subset(
    keywords=frozenset(
        {"$id", "$defs", "$ref", "$anchor", "type", "format", "title", "description", "enum"}
        | {"items", "prefixItems", "minItems", "maxItems", "minimum", "maximum", "anyOf"}
        | {"oneOf", "properties", "additionalProperties", "required", "propertyOrdering"}
    ),
    references="alone",
    recursion="optional",
)
_OLLAMA = Subset(
    keywords=frozenset({"type", "properties", "required", "items", "enum", "anyOf", "description"}),
    # The server drops all other keywords of the root.
    root_keywords=frozenset({"type", "properties", "required", "items", "$defs"}),
    booleans=False,
    references="none",
    recursion="none",
)

_NOVA = frozenset({"type", "properties", "required"})
"""Keywords that Amazon's models accept at the root (the guide to tools with Nova)."""
# What all compatible modes accept: Gemini's is the smallest, whose spelling of types and of null
# is its own. Patterns are also those of llama.cpp's grammars.
_MCP = replace(
    _GEMINI,
    keywords=(_GEMINI.keywords or frozenset()) - {"example", "nullable", "propertyOrdering"},
    root_keywords=_NOVA,
    properties_at_root=True,
    # A definition always has a schema; clients of Gemini omit that of a tool without arguments.
    empty_root=True,
    capitals=False,
    regular_patterns=True,
)

SUBSETS: dict[tuple[str, bool], Subset] = {
    ("openai-chat", False): _OPENAI,
    ("openai-chat", True): _OPENAI_STRICT,
    ("openai-responses", False): _OPENAI,
    ("openai-responses", True): _OPENAI_STRICT,
    ("anthropic", False): _ANTHROPIC,
    ("anthropic", True): _ANTHROPIC_STRICT,
    ("gemini", False): _GEMINI,
    ("gemini-json", False): _GEMINI_JSON,
    # It depends on the model: Anthropic's have rules for property names.
    ("bedrock", False): Subset(root_keywords=_NOVA, property_names=_ANTHROPIC_KEYS),
    ("bedrock", True): _ANTHROPIC_STRICT,
    ("mistral", False): Subset(not_at_root=frozenset()),
    # The package's own helper closes every object, and does no more.
    ("mistral", True): Subset(not_at_root=frozenset(), closed=True),
    ("ollama", False): _OLLAMA,
    ("mcp", False): _MCP,
}
"""By API, and whether strict mode is requested."""
