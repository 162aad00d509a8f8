"""Bedrock: the service model of botocore, which its clients use to check requests."""

import json
import re
from functools import cache
from typing import Any

import botocore.loaders
import botocore.model
import botocore.validate

__all__ = ["validate_result", "validate_tool"]


def validate_tool(text: bytes) -> None:
    """Raise if *text* is not an element of ``toolConfig.tools`` of Converse."""
    _validate("Tool", text)


def validate_result(text: bytes) -> None:
    """Raise if *text* is not a block with a tool result."""
    value = _validate("ContentBlock", text)
    assert set(value) == {"toolResult"}, "the block is not a tool result"


@cache
def _service() -> botocore.model.ServiceModel:
    loader = botocore.loaders.Loader()
    return botocore.model.ServiceModel(loader.load_service_model("bedrock-runtime", "service-2"))


def _validate(shape: str, text: bytes) -> Any:
    value = json.loads(text)
    model = _service().shape_for(shape)
    report = botocore.validate.ParamValidator().validate(value, model)
    assert not report.has_errors(), report.generate_report()
    _check_strings(model, value)
    return value


def _check_strings(shape: Any, value: Any) -> None:
    """Raise if a string violates its pattern, length or enum, which botocore ignores."""
    if shape.type_name == "structure" and not shape.is_document_type:
        for name, property_value in value.items():
            _check_strings(shape.members[name], property_value)
    elif shape.type_name == "list":
        for item in value:
            _check_strings(shape.member, item)
    elif shape.type_name == "string":
        constraints = shape.metadata
        assert value in constraints.get("enum", [value]), f"{shape.name} has no {value!r}"
        assert len(value) <= constraints.get("max", len(value)), f"{shape.name} is too long"
        assert re.fullmatch(constraints.get("pattern", r"(?s).*"), value), (
            f"{shape.name}: {value!r}"
        )
