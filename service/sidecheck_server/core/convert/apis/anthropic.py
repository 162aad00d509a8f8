"""Anthropic: Messages."""

from sidecheck_server.core.convert.apis.api import Api, Patterns, RequestLimits, Source, Subset
from sidecheck_server.core.convert.apis.grammars import LETTERS_TO_DASH_128, LETTERS_TO_DOT_64
from sidecheck_server.core.convert.words import ModelApi

__all__ = ["MESSAGES", "STRICT", "STRICT_LIMITS"]

STRICT = Subset(
    # allOf is taken unless it has references; it is rare, and left out.
    keywords=frozenset(
        {
            "additionalProperties",
            "anyOf",
            "const",
            "default",
            "description",
            "enum",
            "format",
            "items",
            "minItems",
            "pattern",
            "properties",
            "required",
            "title",
            "type",
        }
    ),
    not_at_root=frozenset({"anyOf", "const", "enum"}),
    recursion=False,
    boolean_schemas=False,
    typed=True,
    properties_at_root=True,
    items=True,
    formats=frozenset(
        {
            "date",
            "date-time",
            "duration",
            "email",
            "hostname",
            "ipv4",
            "ipv6",
            "time",
            "uri",
            "uuid",
        }
    ),
    min_items=frozenset({0, 1}),
    patterns=Patterns.REGULAR,
    closed=True,
)

STRICT_LIMITS = RequestLimits(strict_tools=20, strict_optional=24, strict_unions=16)

MESSAGES = Api(
    key=ModelApi.ANTHROPIC,
    in_words="Anthropic's Messages",
    # The guide to tools says 64, the reference of the API 128.
    names=LETTERS_TO_DASH_128,
    members=LETTERS_TO_DOT_64,
    compatible=Subset(not_at_root=frozenset({"allOf", "anyOf", "oneOf"})),
    strict=STRICT,
    request=STRICT_LIMITS,
    sources=(
        Source(
            "names",
            "https://platform.claude.com/docs/en/api/messages/create",
            "2026-11-22",
        ),
        Source(
            "members",
            'the error of the API, "Property keys should match pattern '
            "'^[a-zA-Z0-9_.-]{1,64}$'\", in ten public repositories",
            "2026-11-22",
        ),
        Source(
            "compatible: the root is an object without oneOf, anyOf or allOf",
            "https://github.com/makenotion/notion-mcp-server/issues/341 (the error of the API)",
            "2026-11-22",
        ),
        Source(
            "compatible: all of 2020-12; strict; shapes of tools and of answers",
            "anthropic 2.12.0, types/tool_param.py and types/tool_result_block_param.py",
            "2026-11-22",
        ),
        Source(
            "strict: the schema language, patterns and limits of a request",
            "https://platform.claude.com/docs/en/build-with-claude/structured-outputs, "
            "as quoted in public repositories up to 2026-10",
            "2026-11-22",
        ),
        Source(
            "answers: no blank text, and no failure without content",
            'errors of the API, "text content blocks must contain non-whitespace text" and '
            '"content cannot be empty if `is_error` is true", in public repositories',
            "2026-11-22",
        ),
        Source("strict: anyOf, const, enum at the root; whether types may lack", "", ""),
    ),
    answer_has_failure=True,
)
