"""Gemini: function declarations with ``parameters`` and with ``parametersJsonSchema``."""

from sidecheck_server.core.convert.apis.api import (
    Api,
    Patterns,
    References,
    RequestLimits,
    Source,
    Subset,
)
from sidecheck_server.core.convert.words import ModelApi
from sidecheck_server.core.mcp.name_grammars import NameGrammar

__all__ = ["GEMINI", "GEMINI_JSON"]

_FIRST = ("A-Za-z_", 'a letter or "_"')
_TOOLS = NameGrammar(64, "A-Za-z0-9_.:-", 'ASCII letters, digits, "_", ".", ":" and "-"', *_FIRST)
_MEMBERS = NameGrammar(64, "A-Za-z0-9_", 'ASCII letters, digits and "_"', *_FIRST)

_OPENAPI = Subset(
    # title, default and additionalProperties are of the type, but versions of the API refuse
    # the first two, and the third under "Unknown name".
    keywords=frozenset(
        {
            "anyOf",
            "description",
            "enum",
            "format",
            "items",
            "maximum",
            "maxItems",
            "maxLength",
            "maxProperties",
            "minimum",
            "minItems",
            "minLength",
            "minProperties",
            "pattern",
            "properties",
            "required",
            "type",
        }
    ),
    not_at_root=frozenset({"anyOf", "enum"}),
    references=References.NOWHERE,
    recursion=False,
    boolean_schemas=False,
    type_lists=False,
    nullable=True,
    upper_case_types=True,
    typed=True,
    items=True,
    empty_objects=False,
    enum_of_strings=True,
    keywords_by_type=True,
    any_of_alone=True,
    formats=frozenset({"date-time", "double", "float", "int32", "int64"}),
    patterns=Patterns.REGULAR,
)

_JSON_SCHEMA = Subset(
    # oneOf is read as anyOf, so that is sent.
    keywords=frozenset(
        {
            "additionalProperties",
            "anyOf",
            "description",
            "enum",
            "format",
            "items",
            "maximum",
            "maxItems",
            "minimum",
            "minItems",
            "prefixItems",
            "properties",
            "required",
            "title",
            "type",
        }
    ),
    not_at_root=frozenset({"anyOf", "enum"}),
    references=References.ALONE,
    # Cycles may only stand in members that are not required.
    recursion=False,
    boolean_schemas=False,
    properties_at_root=True,
)

_SHAPES = Source(
    "shapes of tools and of answers; a tool that takes nothing has no schema",
    "google-genai 3.4.0, types.py, FunctionDeclaration and FunctionResponse",
    "2026-11-22",
)
_MEDIA = Source(
    "media in answers: Gemini 3 and later",
    "https://ai.google.dev/gemini-api/docs/function-calling#multimodal, as public code quotes it; "
    "google-genai 3.4.0, types.py, FunctionResponsePart",
    "2026-11-22",
)
_NAMES = Source(
    "names: 64 characters with dots, and 128 with colons too in newer texts",
    "https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/function-calling; "
    "google-genai 3.4.0, types.py, FunctionDeclaration.name",
    "2026-11-22",
)
_TOOLS_OF_A_REQUEST = Source(
    "at most 128 tools",
    "https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/function-calling",
    "2026-11-22",
)

GEMINI = Api(
    key=ModelApi.GEMINI,
    in_words="Gemini",
    names=_TOOLS,
    members=_MEMBERS,
    compatible=_OPENAPI,
    strict=None,
    request=RequestLimits(tools=128),
    sources=(
        _NAMES,
        Source(
            "members; keywords, nullable, upper_case_types and enum_of_strings",
            "google-genai 3.4.0, types.py, FunctionDeclaration.parameters, Schema and Type",
            "2026-11-22",
        ),
        Source(
            "formats: enum and date-time of strings, int32 and int64 of integers",
            "google-adk, tools/_gemini_schema_util.py, which quotes the error of the API",
            "2026-11-22",
        ),
        Source(
            "empty_objects",
            'the error of the API, "properties: should be non-empty for OBJECT type", in '
            "public repositories",
            "2026-11-22",
        ),
        Source(
            "enum_of_strings: that none may be empty",
            "https://github.com/Smana/runlore/pull/40, which quotes the error of the API",
            "2026-11-22",
        ),
        Source(
            "keywords_by_type",
            "https://github.com/goruck/home-generative-agent/pull/525, which quotes the error "
            "of the API",
            "2026-11-22",
        ),
        Source(
            "any_of_alone",
            "https://github.com/googleapis/python-genai/issues/625, which quotes the error of "
            "the API",
            "2026-11-22",
        ),
        Source("items; patterns; enum and anyOf at the root", "", ""),
        _TOOLS_OF_A_REQUEST,
        _SHAPES,
        _MEDIA,
    ),
    omits_no_parameters=True,
    arguments_may_lack=True,
    answer_has_id=False,
    answer_has_name=True,
    answer_has_failure=True,
)

GEMINI_JSON = Api(
    key=ModelApi.GEMINI_JSON,
    in_words="Gemini",
    names=_TOOLS,
    members=None,
    compatible=_JSON_SCHEMA,
    strict=None,
    request=RequestLimits(tools=128),
    sources=(
        _NAMES,
        Source(
            "keywords and references, as of the schemas of responses",
            "google-genai 3.4.0, types.py, GenerateContentConfig.response_json_schema",
            "2026-11-22",
        ),
        Source(
            "that tools take the same as responses; members; anyOf and enum at the root; "
            "values of enum that are neither strings nor numbers",
            "",
            "",
        ),
        _TOOLS_OF_A_REQUEST,
        _SHAPES,
        _MEDIA,
    ),
    omits_no_parameters=True,
    arguments_may_lack=True,
    answer_has_id=False,
    answer_has_name=True,
    answer_has_failure=True,
)
