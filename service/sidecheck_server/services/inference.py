"""Inference of tools from source text: bounded before a worker is asked."""

from collections.abc import Awaitable, Callable

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.infer.types import InferenceOptions, InferenceResult
from sidecheck_server.core.limits import Limits, exceeded

__all__ = ["InferLong", "Inferrer"]

#: Infers the tools of a source text in a worker.
InferLong = Callable[[bytes, InferenceOptions], Awaitable[InferenceResult]]


class Inferrer:
    """Infers tools, always in a worker: nothing else could end Python's parser."""

    def __init__(self, infer_long: InferLong, limits: Limits, *, allowed: bool) -> None:
        self._infer_long = infer_long
        self._limits = limits
        self._allowed = allowed

    async def infer(self, source: bytes, options: InferenceOptions) -> InferenceResult:
        """Return the definitions of the tools of *source*, which is parsed and never run.

        Raises:
            Refusal: FEATURE_DISABLED if the settings say so; LIMIT_EXCEEDED if the text is too
                large, names more than ``batch_items``, or takes too many seconds or too
                much memory; WORKER_CRASHED if the worker died.
        """
        if not self._allowed:
            said = "this server infers no tools: its setting inference is off"
            raise RequestError(ErrorReason.FEATURE_DISABLED, said, {"setting": "inference"})
        limits = self._limits
        if len(source) > limits.source_bytes:
            raise exceeded("source_bytes", limits.source_bytes, "the source text", len(source))
        named = (options.functions, options.injected_types, options.injected_parameters)
        count = sum(map(len, named))
        if count > limits.batch_items:
            said = "the names of functions, types and parameters"
            raise exceeded("batch_items", limits.batch_items, said, count)
        return await self._infer_long(source, options)
