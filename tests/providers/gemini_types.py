"""Gemini: models of Google's Python package, which forbid unknown properties."""

from google.genai.types import FunctionDeclaration, Part

__all__ = ["validate_result", "validate_tool"]


def validate_tool(text: bytes) -> None:
    """Raise if *text* is not a function declaration with a valid ``parameters``."""
    FunctionDeclaration.model_validate_json(text, strict=False)


def validate_result(text: bytes) -> None:
    """Raise if *text* is not a part with a function response."""
    part = Part.model_validate_json(text)
    assert part.function_response is not None, "the part has no function response"
    assert part.function_response.name, "a function response needs a name"
    assert part.function_response.response is not None, "a function response needs a response"
