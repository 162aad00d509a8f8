"""Ollama: the server's own chat."""

from sidecheck_server.core.convert.apis.api import Api, References, RequestLimits, Source, Subset
from sidecheck_server.core.convert.apis.grammars import LETTERS_TO_DASH_64
from sidecheck_server.core.convert.words import ModelApi

__all__ = ["CHAT"]

CHAT = Api(
    key=ModelApi.OLLAMA,
    in_words="Ollama's chat",
    names=LETTERS_TO_DASH_64,
    members=None,
    compatible=Subset(
        # What is none of these vanishes in the server, without a word.
        keywords=frozenset(
            {"anyOf", "description", "enum", "items", "properties", "required", "type"}
        ),
        # The root has fewer fields than a member.
        not_at_root=frozenset({"anyOf", "description", "enum"}),
        references=References.NOWHERE,
        recursion=False,
        boolean_schemas=False,
        properties_at_root=True,
    ),
    strict=None,
    request=RequestLimits(),
    sources=(
        Source(
            "compatible",
            "https://github.com/ollama/ollama at fb3076099, api/types.go, "
            "ToolFunctionParameters and ToolProperty",
            "2026-08-21",
        ),
        Source(
            "shapes of tools and of answers; arguments as an object",
            "ollama 0.6.3, _types.py, Tool and Message",
            "2026-11-22",
        ),
        Source("names; how many tools a request may have", "", ""),
    ),
    answer_has_id=False,
    answer_has_name=True,
)
