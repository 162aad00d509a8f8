"""Source text to infer definitions from, and methods of definitions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sidecheck.json_types import JsonText
from sidecheck.values.inference_options import OnUnsupported

__all__ = ["DefinitionMethods", "Source"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Python source text, with the options of the inference.

    Raises:
        TypeError: The text is neither ``str`` nor ``bytes``, or a sequence of names is
            a single string.
    """

    #: The text; ``bytes`` are UTF-8.
    text: str | bytes
    #: Names of the functions that are tools, ``Class.method`` for a method. () selects
    #: functions with a decorator called ``tool``, or all public ones if there are none.
    functions: Sequence[str] = ()
    on_unsupported: OnUnsupported = "error"
    #: Names of types whose parameters are not arguments, in addition to ``Context`` etc.
    injected_types: Sequence[str] = ()
    #: Names of parameters that are not arguments.
    injected_parameters: Sequence[str] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.text, str | bytes):
            raise TypeError(f"source must be str or bytes, not {type(self.text).__name__}")
        for name in ("functions", "injected_types", "injected_parameters"):
            # A string is a sequence of strings too.
            if isinstance(getattr(self, name), str | bytes):
                raise TypeError(f"{name} must be a sequence of names, not a single name")


class DefinitionMethods:
    """Methods of values that have a definition."""

    __slots__ = ()

    json: JsonText

    @property
    def definition(self) -> dict[str, Any]:
        """The decoded definition. Decoded at each access."""
        value: dict[str, Any] = self.json.value
        return value
