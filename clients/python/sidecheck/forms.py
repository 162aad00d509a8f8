"""Forms given as classes, where the params of an elicitation are asked for."""

from typing import Any, TypeAlias

from sidecheck.checks import ProtocolJson

__all__ = ["Form", "asked"]

#: A model class of pydantic.
Form: TypeAlias = type[Any]


def asked(params: ProtocolJson | Form) -> ProtocolJson:
    """Return *params*, or those of the elicitation of a form that is given as a class.

    Raises:
        ImportError: It is a class, and pydantic is not installed.
        TypeError: It is a class, but no model of pydantic.
    """
    if not isinstance(params, type):
        return params
    # pydantic is needed here alone.
    from sidecheck.elicitation import form  # noqa: PLC0415

    return form(params)
