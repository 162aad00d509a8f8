"""Gemini: the models of Google's Python package, which forbid members that they do not have."""

from google.genai.types import FunctionDeclaration, Part

__all__ = ["validate_result", "validate_tool"]


def validate_tool(text: bytes) -> None:
    """Raise if *text* is no function declaration; ``parameters`` is read as a Schema."""
    FunctionDeclaration.model_validate_json(text, strict=False)


def validate_result(text: bytes) -> None:
    """Raise if *text* is not a part with a function response."""
    part = Part.model_validate_json(text)
    assert part.function_response is not None, "the part has no function response"
    assert part.function_response.name, "a function response needs a name"
    assert part.function_response.response is not None, "a function response needs a response"
