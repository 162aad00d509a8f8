"""The checkers reject JSON text that the vendors' types do not allow."""

import pytest
from sidecheck_server.core.convert.types import ModelApi

from providers import validate_result, validate_tool

BAD_TOOLS = {
    ModelApi.OPENAI_CHAT: (
        b'{"type":"function","function":{"description":"without a name"}}',
        b'{"type":"function","function":{"name":"a","description":null}}',
        b'{"type":"function","function":{"name":"a","schema":{}}}',
        b'{"type":"function","name":"a","parameters":{},"strict":false}',
    ),
    ModelApi.OPENAI_RESPONSES: (
        b'{"type":"function","name":"a","parameters":{}}',
        b'{"type":"function","function":{"name":"a"}}',
        b'{"type":"function","name":"a","parameters":{},"strict":false,"x":1}',
    ),
    ModelApi.ANTHROPIC: (
        b'{"name":"a"}',
        b'{"name":"a","input_schema":{"type":"object"},"parameters":{}}',
        b'{"name":"a","input_schema":[]}',
    ),
    ModelApi.GEMINI: (
        b'{"name":"a","parameters":{"type":"OBJECT","oneOf":[]}}',
        b'{"name":"a","parameters":{"type":"OBJECT","properties":{"a":{"const":1}}}}',
        b'{"name":"a","parameters":{"type":"OBJECT","properties":{"a":{"enum":[1]}}}}',
        b'{"name":"a","inputSchema":{}}',
    ),
    ModelApi.GEMINI_JSON: (b'{"name":"a","strict":true}',),
    ModelApi.BEDROCK: (
        b'{"toolSpec":{"name":"a"}}',
        b'{"toolSpec":{"name":"a.b","inputSchema":{"json":{}}}}',
        b'{"toolSpec":{"name":"a","description":"","inputSchema":{"json":{}}}}',
        b'{"name":"a","inputSchema":{"json":{}}}',
    ),
    ModelApi.MISTRAL: (
        b'{"type":"function","function":{"name":"a"}}',
        b'{"type":"function","function":{"name":"a","parameters":{},"x":1}}',
    ),
    ModelApi.OLLAMA: (
        b'{"function":{"name":"a","parameters":{"type":"object","oneOf":[]}}}',
        b'{"function":{"name":"a","parameters":{"properties":{"a":{"const":1}}}}}',
        b'{"function":{"name":"a","parameters":{"properties":{"a":{"anyOf":[{"const":1}]}}}}}',
        b'{"function":{"name":"a","parameters":{"type":"array"}}}',
    ),
    ModelApi.MCP: (
        b'{"name":"a"}',
        b'{"name":"a","inputSchema":[]}',
        b'{"name":"a","input_schema":{"type":"object"}}',
        b'{"name":"a","inputSchema":{"type":"object"},"strict":false}',
        b'{"name":"a","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":[]}}',
    ),
}

BAD_RESULTS = {
    ModelApi.OPENAI_CHAT: (
        b'{"role":"tool","content":"a"}',
        b'{"role":"tool","tool_call_id":"a","content":[{"type":"image_url"}]}',
        b'{"role":"tool","tool_call_id":"a","content":"a","is_error":true}',
    ),
    ModelApi.OPENAI_RESPONSES: (
        b'{"type":"function_call_output","call_id":"a"}',
        b'{"type":"function_call_output","call_id":"a","output":[{"type":"text","text":""}]}',
    ),
    ModelApi.ANTHROPIC: (
        b'{"type":"tool_result","content":"a"}',
        b'{"type":"tool_result","tool_use_id":"a","content":[{"type":"audio"}]}',
        b'{"type":"tool_result","tool_use_id":"a","isError":true}',
    ),
    ModelApi.GEMINI: (
        b'{"functionResponse":{"name":"a"}}',
        b'{"functionResponse":{"response":{}}}',
        b'{"text":"a"}',
    ),
    ModelApi.GEMINI_JSON: (b'{"functionResponse":{"name":"a","response":{},"content":1}}',),
    ModelApi.BEDROCK: (
        b'{"toolResult":{"toolUseId":"a b","content":[]}}',
        b'{"toolResult":{"toolUseId":"a","content":[],"status":"failure"}}',
        b'{"toolResult":{"toolUseId":"a","content":[{"audio":{}}]}}',
        b'{"text":"a"}',
    ),
    ModelApi.MISTRAL: (
        b'{"role":"tool","tool_call_id":"a"}',
        b'{"role":"tool","content":[{"type":"picture"}]}',
        b'{"role":"tool","content":"a","is_error":true}',
    ),
    ModelApi.OLLAMA: (
        b'{"role":"tool","content":"a"}',
        b'{"role":"user","tool_name":"a","content":"a"}',
        b'{"role":"tool","tool_name":"a","content":["a"]}',
    ),
    ModelApi.MCP: (
        b'{"isError":true}',
        b'{"content":"a"}',
        b'{"content":[{"type":"hologram"}]}',
        b'{"content":[],"is_error":true}',
        b'{"content":[],"toolUseId":"a"}',
    ),
}


def _cases(bad: dict[ModelApi, tuple[bytes, ...]]) -> list[tuple[ModelApi, bytes]]:
    assert list(bad) == list(ModelApi)
    return [(api, text) for api, texts in bad.items() for text in texts]


@pytest.mark.parametrize(("api", "text"), _cases(BAD_TOOLS))
def test_an_invalid_tool_is_rejected(api: ModelApi, text: bytes) -> None:
    with pytest.raises((ValueError, AssertionError, KeyError)):
        validate_tool(api, text)


@pytest.mark.parametrize(("api", "text"), _cases(BAD_RESULTS))
def test_an_invalid_result_is_rejected(api: ModelApi, text: bytes) -> None:
    with pytest.raises((ValueError, AssertionError, KeyError)):
        validate_result(api, text)
