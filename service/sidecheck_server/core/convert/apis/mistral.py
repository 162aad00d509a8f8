"""Mistral: chat completions."""

from sidecheck_server.core.convert.apis import openai
from sidecheck_server.core.convert.apis.api import Api, RequestLimits, Source
from sidecheck_server.core.convert.apis.grammars import LETTERS_TO_DASH_64
from sidecheck_server.core.convert.words import ModelApi

__all__ = ["CHAT"]

CHAT = Api(
    key=ModelApi.MISTRAL,
    in_words="Mistral's chat completions",
    names=LETTERS_TO_DASH_64,
    members=None,
    compatible=openai.COMPATIBLE,
    strict=openai.STRICT,
    request=RequestLimits(),
    sources=(
        Source(
            "names; the id of a call; compatible: a schema of draft 7, which all of 2020-12 is "
            "but for keywords that draft 7 does not know",
            "https://github.com/mistralai/mistral-common at 039465d, "
            "src/mistral_common/protocol/instruct/validator.py",
            "2026-11-22",
        ),
        Source(
            "strict; arguments as text or as an object; shapes of tools and of answers",
            "mistralai 3.7.0, client/models/function.py, functioncall.py and toolmessage.py",
            "2026-11-22",
        ),
        Source(
            "compatible: what may stand at the root; strict: the schema language and its limits "
            "(OpenAI's in both cases); how many tools a request may have",
            "",
            "",
        ),
    ),
    arguments_as_text=True,
    call_id_length=9,
)
