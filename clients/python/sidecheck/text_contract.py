"""The text contract: tool results with text only, for clients of any version.

Such a result has ``content``, a list of items with ``type`` "text" and ``text``, and
``isError``, and no other properties. The contract is a JSON Schema in this package; the
server checks the same with the profile "text" of `ProtocolClient.check_tool_result`.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

__all__ = [
    "MCP_TOOL_RESULT_SCHEMA_V1",
    "build_result",
    "get_schema_path",
    "get_validator",
    "is_canonical",
    "validate",
]

#: The file of the contract, a JSON Schema 2020-12 in UTF-8.
MCP_TOOL_RESULT_SCHEMA_V1: Final = Path(__file__).with_name("schemas") / "text_result.json"


def get_schema_path() -> Path:
    """Return `MCP_TOOL_RESULT_SCHEMA_V1`."""
    return MCP_TOOL_RESULT_SCHEMA_V1


@cache
def get_validator() -> Any:
    """Return the validator of the contract, from the package jsonschema.

    Raises:
        ImportError: jsonschema is not installed.
    """
    try:
        from jsonschema import Draft202012Validator  # noqa: PLC0415  (an optional dependency)
    except ImportError as error:
        raise ImportError(
            "validating the text contract requires the package jsonschema: pip install jsonschema"
        ) from error
    return Draft202012Validator(json.loads(get_schema_path().read_bytes()))


def validate(payload: object) -> None:
    """Validate *payload*, a decoded result, against the contract.

    Raises:
        jsonschema.ValidationError: *payload* does not conform.
        ImportError: jsonschema is not installed.
    """
    get_validator().validate(payload)


def build_result(text: str, is_error: bool = False) -> dict[str, Any]:  # noqa: FBT001, FBT002  (the signature that the contract specifies)
    """Return a result with *text*, which may be "".

    Raises:
        TypeError: *text* is not a ``str``, or *is_error* not a ``bool``.
    """
    result = {"content": [{"type": "text", "text": text}], "isError": is_error}
    if not is_canonical(result):
        raise TypeError("text must be a str and is_error a bool")
    return result


def is_canonical(value: object) -> bool:
    """Return whether *value*, a decoded result, conforms to the contract.

    Equivalent to `validate`, without jsonschema.
    """
    return (
        isinstance(value, dict)
        and value.keys() == {"content", "isError"}
        and isinstance(value["isError"], bool)
        and isinstance(value["content"], list)
        and all(is_text_item(item) for item in value["content"])
    )


def is_text_item(value: object) -> bool:
    """Return whether *value* is a text item without other properties."""
    return (
        isinstance(value, dict)
        and value.keys() == {"type", "text"}
        and value["type"] == "text"
        and isinstance(value["text"], str)
    )
