"""The text contract: results of tools that every client understands, and nothing else.

Such a result has ``content``, all of it items of ``type`` "text" and ``text``, and
``isError``; no other members anywhere. The contract is a JSON Schema file of this
package, and the server checks by the same rules under the profile "text" of
`ProtocolClient.check_tool_result`.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["build_result", "get_schema_path", "get_validator", "is_canonical", "validate"]


def get_schema_path() -> Path:
    """Return where the contract lies: a JSON Schema, 2020-12, in UTF-8."""
    return Path(__file__).with_name("schemas") / "text_result.json"


@cache
def get_validator() -> Any:
    """Return the validator of the package jsonschema for the contract.

    Raises:
        ImportError: jsonschema is not installed.
    """
    try:
        from jsonschema import Draft202012Validator  # noqa: PLC0415  (needed here alone)
    except ImportError as error:
        raise ImportError(
            "the text contract is judged here with the package jsonschema, which is not"
            " installed: pip install sidecheck[jsonschema]"
        ) from error
    return Draft202012Validator(json.loads(get_schema_path().read_bytes()))


def validate(payload: object) -> None:
    """Do nothing if *payload*, a decoded result, keeps the contract.

    Raises:
        jsonschema.ValidationError: It does not.
        ImportError: jsonschema is not installed.
    """
    get_validator().validate(payload)


def build_result(text: str, is_error: bool = False) -> dict[str, Any]:  # noqa: FBT001, FBT002  (a pair, in the order of the contract)
    """Return the result that says *text*, which may be "".

    Raises:
        TypeError: *text* is no ``str``, or *is_error* no ``bool``.
    """
    result = {"content": [{"type": "text", "text": text}], "isError": is_error}
    if not is_canonical(result):
        raise TypeError("a text result is built of a str and a bool")
    return result


def is_canonical(value: object) -> bool:
    """Say whether *value*, decoded, keeps the contract: every item, and no other members.

    Says the same as `validate`, without jsonschema.
    """
    return (
        isinstance(value, dict)
        and value.keys() == {"content", "isError"}
        and isinstance(value["isError"], bool)
        and isinstance(value["content"], list)
        and all(is_text_item(item) for item in value["content"])
    )


def is_text_item(value: object) -> bool:
    """Say whether *value* is an item of text, and nothing else."""
    return (
        isinstance(value, dict)
        and value.keys() == {"type", "text"}
        and value["type"] == "text"
        and isinstance(value["text"], str)
    )
