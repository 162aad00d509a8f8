"""Optional packages of inference, imported first to name those that are missing."""

try:
    import griffe
    import jsonschema
    import pydantic
    import tenacity
except ImportError as error:
    raise ImportError(
        "sidecheck.inference needs the packages griffelib, jsonschema, pydantic and tenacity,"
        " not all of which are installed: pip install griffelib jsonschema pydantic tenacity"
    ) from error

__all__ = ["griffe", "jsonschema", "pydantic", "tenacity"]
