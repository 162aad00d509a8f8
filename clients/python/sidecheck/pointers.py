"""JSON Pointers (RFC 6901)."""

from collections.abc import Iterable

__all__ = ["as_pointer", "pointer_steps"]


def as_pointer(path: Iterable[str | int]) -> str:
    """Return *path*, names of properties and indexes, as a JSON Pointer (section 3)."""
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in path)


def pointer_steps(pointer: str) -> list[str]:
    """Return the steps of a JSON Pointer, unescaped (section 4)."""
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]
