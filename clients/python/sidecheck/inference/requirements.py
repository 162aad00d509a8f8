"""Optional packages of inference, imported first to report all that are required."""

try:
    import cachetools
    import griffe
    import jsonschema
    import pydantic
    import tenacity
except ImportError as error:
    raise ImportError(
        "sidecheck.inference needs the packages cachetools, griffelib, jsonschema, pydantic and"
        " tenacity, not all of which are installed:"
        " pip install cachetools griffelib jsonschema pydantic tenacity"
    ) from error

__all__ = ["cachetools", "griffe", "jsonschema", "pydantic", "tenacity"]
