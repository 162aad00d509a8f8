"""What inference needs, imported first so that a package that is missing is told of."""

try:
    import griffe
    import pydantic
    import stamina
except ImportError as error:
    raise ImportError(
        "tools are made of functions with the packages pydantic, griffelib and stamina, not all"
        " of which are installed: pip install sidecheck[infer]"
    ) from error

__all__ = ["griffe", "pydantic", "stamina"]
