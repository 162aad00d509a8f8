"""Optional packages of inference, imported first to name those that are missing."""

try:
    import griffe
    import pydantic
    import stamina
except ImportError as error:
    raise ImportError(
        "sidecheck.inference needs the packages pydantic, griffelib and stamina, not all of"
        " which are installed: pip install sidecheck[infer]"
    ) from error

__all__ = ["griffe", "pydantic", "stamina"]
