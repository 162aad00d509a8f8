"""Amazon Bedrock: Converse, with models of any family."""

from sidecheck_server.core.convert.apis.anthropic import STRICT, STRICT_LIMITS
from sidecheck_server.core.convert.apis.api import Api, Patterns, References, Source, Subset
from sidecheck_server.core.convert.apis.grammars import LETTERS_TO_DASH_64, LETTERS_TO_DOT_64
from sidecheck_server.core.convert.apis.vocabulary import EVERYTHING
from sidecheck_server.core.convert.words import ModelApi

__all__ = ["CONVERSE"]

CONVERSE = Api(
    key=ModelApi.BEDROCK,
    in_words="Amazon Bedrock's Converse",
    names=LETTERS_TO_DASH_64,
    members=LETTERS_TO_DOT_64,
    compatible=Subset(
        # Amazon's Nova refuses all but these three, so there can be no definitions either;
        # Claude only oneOf, anyOf and allOf.
        not_at_root=EVERYTHING - {"properties", "required", "type"},
        references=References.NOWHERE,
        recursion=False,
        properties_at_root=True,
        items=True,
        patterns=Patterns.REGULAR,
    ),
    strict=STRICT,
    request=STRICT_LIMITS,
    sources=(
        Source(
            "names; call_id_length; strict; the root is an object; shapes of tools and answers",
            "botocore 1.44.5, bedrock-runtime 2023-09-30, ToolSpecification and ToolResultBlock",
            "2026-11-22",
        ),
        Source(
            "members",
            "the ValidationException of the API, \"Property keys should match pattern '"
            "^[a-zA-Z0-9_.-]{1,64}$'\", in public repositories",
            "2026-11-22",
        ),
        Source(
            "compatible: what may stand at the root, with Nova",
            "https://docs.aws.amazon.com/nova/latest/userguide/tool-use-definition.html, and "
            "https://github.com/pydantic/pydantic-ai/issues/1623, which reports the error",
            "2026-11-22",
        ),
        Source(
            "compatible: oneOf, anyOf and allOf at the root, with Claude",
            "https://github.com/makenotion/notion-mcp-server/issues/341 (the error of "
            "Anthropic's API)",
            "2026-11-22",
        ),
        Source(
            "compatible: look-around in patterns is refused with some families",
            "litellm 1.109.1, the transformation of tools for Bedrock",
            "2026-11-22",
        ),
        Source(
            "strict: a subset of 2020-12 is taken, and else the request is refused",
            "https://docs.aws.amazon.com/bedrock/latest/userguide/structured-output.html",
            "2026-11-22",
        ),
        Source(
            "strict: that the subset and the limits are Anthropic's with models of other "
            "families; compatible: what other families than Claude and Nova take; items",
            "",
            "",
        ),
    ),
    answer_has_failure=True,
    call_id_length=64,
)
