"""The validation core: pure, synchronous and deterministic.

Nothing in this package uses a transport, an event loop, a log, a clock, a file or a
network. Input is bytes and text, output is verdicts or `RequestError`, and the same
input always gives the same output.

The names in `__all__` are the public interface. Each is imported at its first use: importing
any module of the core imports this package, which must stay cheap.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sidecheck_server.core.convert.types import ConversionOptions, ModelApi
    from sidecheck_server.core.errors import RequestError
    from sidecheck_server.core.evaluate import EvaluationOptions
    from sidecheck_server.core.functions import (
        MessageSession,
        check_message,
        check_tools,
        compare_tools,
        compile_schema,
        convert_call,
        convert_tools,
        make_portable,
        normalize_result,
        validate,
    )
    from sidecheck_server.core.limits import Limits
    from sidecheck_server.core.types import Document, Verdict, Violation

__all__ = [
    "ConversionOptions",
    "Document",
    "EvaluationOptions",
    "Limits",
    "MessageSession",
    "ModelApi",
    "RequestError",
    "Verdict",
    "Violation",
    "check_message",
    "check_tools",
    "compare_tools",
    "compile_schema",
    "convert_call",
    "convert_tools",
    "make_portable",
    "normalize_result",
    "validate",
]

_MODULES = {
    "ConversionOptions": "convert.types",
    "Document": "types",
    "EvaluationOptions": "evaluate",
    "Limits": "limits",
    "ModelApi": "convert.types",
    "RequestError": "errors",
    "Verdict": "types",
    "Violation": "types",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES.get(name, 'functions')}"), name)
