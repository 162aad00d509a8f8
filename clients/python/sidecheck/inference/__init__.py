"""Tools from functions: definitions inferred from signatures, and validated calls.

`tool` turns a function into a tool. Pydantic generates the schemas of its annotations; a type
without a schema raises `InferenceError`. Requires cachetools, griffelib, jsonschema, pydantic
and tenacity: the extra ``infer``.
"""

# isort: off
from sidecheck.inference import requirements as requirements  # Reports missing packages.

# isort: on
from sidecheck.inference.arguments import ValidArguments
from sidecheck.inference.call_results import acall_tool_result, call_tool_result
from sidecheck.inference.calls import (
    acall_tool,
    call_tool,
    dump_result,
    get_script_config,
    tool_config,
    tool_definition,
    validate_arguments,
)
from sidecheck.inference.config import ToolConfig
from sidecheck.inference.errors import (
    ArgumentViolation,
    Diagnostic,
    InferenceError,
    InvalidArguments,
)
from sidecheck.inference.injection import (
    Injected,
    NotProvided,
    Resources,
    SettingSource,
    injectable,
)
from sidecheck.inference.output_schema import InvalidResult
from sidecheck.inference.tool import infer_tool, tool

__all__ = [
    "ArgumentViolation",
    "Diagnostic",
    "InferenceError",
    "Injected",
    "InvalidArguments",
    "InvalidResult",
    "NotProvided",
    "Resources",
    "SettingSource",
    "ToolConfig",
    "ValidArguments",
    "acall_tool",
    "acall_tool_result",
    "call_tool",
    "call_tool_result",
    "dump_result",
    "get_script_config",
    "infer_tool",
    "injectable",
    "tool",
    "tool_config",
    "tool_definition",
    "validate_arguments",
]
