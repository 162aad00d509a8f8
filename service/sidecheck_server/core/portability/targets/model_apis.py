"""Facts about model APIs; the schema languages are those of conversion."""

from collections.abc import Iterator

from sidecheck_server.core.convert.providers import anthropic, bedrock, gemini, ollama, openai
from sidecheck_server.core.convert.providers.provider import Provider, Source
from sidecheck_server.core.convert.providers.subset import Subset
from sidecheck_server.core.mcp.name_grammars import LETTERS_TO_DASH_64
from sidecheck_server.core.portability import naming_hazards as naming
from sidecheck_server.core.portability import schema_hazards as hazards
from sidecheck_server.core.portability.facts import Effect, Fact, Hazard
from sidecheck_server.core.portability.target import Target

__all__ = ["FACTS"]

_READ = "2026-11-22"

_CHAT_NAMES = Source("names", "openai 3.54.0, types/shared_params/function_definition.py", _READ)
_OPENAI_ROOT = Source(
    "keywords at the root", "https://github.com/langchain-ai/langchainjs/issues/9804", _READ
)
_OPENAI_PROPERTIES = Source(
    "properties at the root",
    "https://github.com/openai/openai-agents-python/issues/449",
    _READ,
)
_OPENAI_ITEMS = Source(
    "items of arrays", "https://github.com/spacelift-io/spacectl/issues/402", _READ
)
_OPENAI_LOOK_AROUND = Source(
    "look-around, in requests that are not strict too",
    "https://github.com/tombii/better-ccflare/issues/357",
    "2026-07-30",
)
_OPENAI_PYTHON = Source(
    "patterns that Python does not compile",
    "litellm 1.109.1, drop_non_python_regex_patterns",
    _READ,
)
_OPENAI_STRICT = Source(
    "strict mode", "https://developers.openai.com/api/docs/guides/structured-outputs", _READ
)


def _openai(target: Target) -> Iterator[Fact]:
    """Yield the facts that hold with and without strict mode."""
    for hazard, source in (
        (naming.tool_name(LETTERS_TO_DASH_64), _CHAT_NAMES),
        (hazards.root_keyword(openai.COMPATIBLE.not_at_root), _OPENAI_ROOT),
        (hazards.ROOT_WITHOUT_OBJECT_TYPE, _OPENAI_ROOT),
        (hazards.ROOT_WITHOUT_PROPERTIES, _OPENAI_PROPERTIES),
        (hazards.ARRAY_WITHOUT_ITEMS, _OPENAI_ITEMS),
        (hazards.LOOK_AROUND, _OPENAI_LOOK_AROUND),
        (hazards.PATTERN_NEEDS_UNICODE_FLAG, _OPENAI_PYTHON),
        (hazards.PATTERN_NOT_PYTHON, _OPENAI_PYTHON),
    ):
        yield Fact(target, hazard, Effect.REQUEST_REFUSED, source)


def _strict_hazards(subset: Subset) -> Iterator[Hazard]:
    """Yield the hazards of an unconverted definition in a strict mode with *subset*."""
    yield hazards.unsupported_keyword(_with_dialect(subset))
    yield hazards.BOOLEAN_SCHEMA
    yield hazards.SCHEMA_WITHOUT_TYPE
    if subset.closed:
        yield hazards.OBJECT_NOT_CLOSED
    if subset.all_required:
        yield hazards.OPTIONAL_PROPERTY
    if subset.formats is not None:
        yield hazards.format_outside(subset.formats)


def _with_dialect(subset: Subset) -> frozenset[str]:
    # No report says that strict mode refuses `$schema`.
    return (subset.keywords or frozenset()) | {"$schema", "$comment", "$id"}


_ANTHROPIC_NAMES = Source("names", "https://platform.claude.com/docs/en/api/messages/create", _READ)
_ANTHROPIC_PROPERTIES = Source(
    "property names",
    "the error of the API, \"Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'\"",
    _READ,
)
_ANTHROPIC_ROOT = Source(
    "keywords at the root",
    "https://github.com/makenotion/notion-mcp-server/issues/341",
    _READ,
)

_GEMINI_UNKNOWN = Source(
    "fields that the declaration does not have",
    'google-genai 3.4.0, types.py, Schema; the error of the API, "Unknown name"',
    _READ,
)
# Some versions of the API reject `title` and `default`.
_GEMINI_FIELDS = frozenset({"default", "nullable", "title"})
"""Fields of the type that conversion does not take for keywords."""

_GEMINI_NAMES = Source(
    "names",
    "https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/function-calling",
    _READ,
)
_GEMINI_TYPES = Source("types, references and enums", "google-genai 3.4.0, types.py, Schema", _READ)
_GEMINI_ITEMS = Source("items of arrays", 'the error of the API, "items: missing field"', _READ)
_GEMINI_OBJECTS = Source(
    "properties of objects below the root",
    'the error of the API, "properties: should be non-empty for OBJECT type"',
    _READ,
)
_VERTEX_ANY_OF = Source(
    "keywords beside any_of",
    "https://github.com/googleapis/python-genai/issues/625",
    _READ,
)


def _gemini(target: Target, provider: Provider) -> Iterator[Fact]:
    subset = provider.compatible
    assert subset.keywords is not None
    assert subset.formats is not None
    assert provider.property_names is not None
    for hazard, source in (
        (naming.tool_name(provider.tool_names), _GEMINI_NAMES),
        (naming.property_name(provider.property_names), _GEMINI_NAMES),
        (hazards.unsupported_keyword(subset.keywords | _GEMINI_FIELDS), _GEMINI_UNKNOWN),
        (hazards.REFERENCE, _GEMINI_UNKNOWN),
        (hazards.TYPE_LIST, _GEMINI_TYPES),
        (hazards.BOOLEAN_SCHEMA, _GEMINI_TYPES),
        (hazards.ENUM_NOT_OF_STRINGS, _GEMINI_TYPES),
        (hazards.ARRAY_WITHOUT_ITEMS, _GEMINI_ITEMS),
        (hazards.OBJECT_WITHOUT_PROPERTIES, _GEMINI_OBJECTS),
        (hazards.format_outside(subset.formats), _GEMINI_TYPES),
    ):
        yield Fact(target, hazard, Effect.REQUEST_REFUSED, source)


_BEDROCK_NAMES = Source(
    "names", "botocore 1.44.5, bedrock-runtime 2023-09-30, ToolSpecification", _READ
)
_NOVA_ROOT = Source(
    "keywords at the root, with Nova",
    "https://docs.aws.amazon.com/nova/latest/userguide/tool-use-definition.html",
    _READ,
)
_BEDROCK_PATTERNS = Source(
    "look-around, with some model families",
    "litellm 1.109.1, the transformation of tools for Bedrock",
    _READ,
)

_MISTRAL_NAMES = Source(
    "names",
    "https://github.com/mistralai/mistral-common at 039465d, validator.py",
    _READ,
)
_OLLAMA_FIELDS = Source(
    "fields of a property",
    "https://github.com/ollama/ollama at fb3076099, api/types.go, ToolProperty",
    "2026-08-21",
)

_LLAMA_CPP_ANCHORS = Source(
    "patterns without anchors", "https://github.com/aebrer/dreb/pull/422", "2026-07-31"
)
_LLAMA_CPP_CLASSES = Source(
    "shorthand classes in patterns",
    "https://github.com/ggml-org/llama.cpp/issues/27580",
    "2026-08-23",
)
_LLAMA_CPP_GRAMMAR = Source(
    "keywords of the conversion to a grammar",
    "https://github.com/ggml-org/llama.cpp, grammars/README.md and issue 7789",
    "2024-07-12",
)
_GRAMMAR_KEYWORDS = frozenset(
    {
        "additionalProperties",
        "allOf",
        "anyOf",
        "const",
        "enum",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "items",
        "maxItems",
        "maxLength",
        "maximum",
        "minItems",
        "minLength",
        "minimum",
        "oneOf",
        "pattern",
        "prefixItems",
        "properties",
        "required",
        "type",
    }
)
"""Keywords that the grammar expresses."""

FACTS: tuple[Fact, ...] = (
    *_openai(Target.OPENAI),
    *_openai(Target.OPENAI_STRICT),
    *(
        Fact(Target.OPENAI_STRICT, hazard, Effect.REQUEST_REFUSED, _OPENAI_STRICT)
        for hazard in _strict_hazards(openai.STRICT)
    ),
    Fact(
        Target.ANTHROPIC,
        naming.tool_name(anthropic.MESSAGES.tool_names),
        Effect.REQUEST_REFUSED,
        _ANTHROPIC_NAMES,
    ),
    Fact(
        Target.ANTHROPIC,
        naming.property_name(anthropic.PROPERTY_NAMES),
        Effect.REQUEST_REFUSED,
        _ANTHROPIC_PROPERTIES,
    ),
    Fact(
        Target.ANTHROPIC,
        hazards.root_keyword(anthropic.MESSAGES.compatible.not_at_root),
        Effect.REQUEST_REFUSED,
        _ANTHROPIC_ROOT,
    ),
    Fact(
        Target.ANTHROPIC,
        hazards.ROOT_WITHOUT_OBJECT_TYPE,
        Effect.REQUEST_REFUSED,
        _ANTHROPIC_ROOT,
    ),
    *_gemini(Target.GEMINI, gemini.GEMINI),
    *_gemini(Target.VERTEX, gemini.GEMINI),
    Fact(Target.VERTEX, hazards.KEYWORD_BESIDE_ANY_OF, Effect.REQUEST_REFUSED, _VERTEX_ANY_OF),
    Fact(
        Target.BEDROCK,
        naming.tool_name(bedrock.CONVERSE.tool_names),
        Effect.REQUEST_REFUSED,
        _BEDROCK_NAMES,
    ),
    Fact(
        Target.BEDROCK,
        naming.property_name(anthropic.PROPERTY_NAMES),
        Effect.REQUEST_REFUSED,
        _ANTHROPIC_PROPERTIES,
    ),
    Fact(
        Target.BEDROCK,
        hazards.root_keyword(frozenset({"allOf", "anyOf", "oneOf"})),
        Effect.REQUEST_REFUSED,
        _NOVA_ROOT,
    ),
    Fact(Target.BEDROCK, hazards.LOOK_AROUND, Effect.REQUEST_REFUSED, _BEDROCK_PATTERNS),
    Fact(
        Target.MISTRAL,
        naming.tool_name(LETTERS_TO_DASH_64),
        Effect.REQUEST_REFUSED,
        _MISTRAL_NAMES,
    ),
    Fact(
        Target.OLLAMA,
        hazards.ignored_keyword(ollama.CHAT.compatible.keywords or frozenset()),
        Effect.CONSTRAINT_IGNORED,
        _OLLAMA_FIELDS,
    ),
    Fact(Target.OLLAMA, hazards.REFERENCE, Effect.CONSTRAINT_IGNORED, _OLLAMA_FIELDS),
    Fact(
        Target.LLAMA_CPP,
        hazards.PATTERN_NOT_ANCHORED,
        Effect.REQUEST_REFUSED,
        _LLAMA_CPP_ANCHORS,
    ),
    Fact(
        Target.LLAMA_CPP,
        hazards.PATTERN_SHORTHAND_CLASS,
        Effect.REQUEST_REFUSED,
        _LLAMA_CPP_CLASSES,
    ),
    Fact(Target.LLAMA_CPP, hazards.LOOK_AROUND, Effect.REQUEST_REFUSED, _LLAMA_CPP_CLASSES),
    Fact(
        Target.LLAMA_CPP,
        hazards.ignored_keyword(_GRAMMAR_KEYWORDS),
        Effect.CONSTRAINT_IGNORED,
        _LLAMA_CPP_GRAMMAR,
    ),
)
