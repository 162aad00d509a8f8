"""Inference of tool definitions from source text, in a worker."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.infer.types import InferenceOptions, InferenceResult
from sidecheck_server.core.limits import Limits, limit_exceeded_error

__all__ = ["Inferrer", "OffloadInference"]

#: Infers the tools of a source text in a worker.
OffloadInference: TypeAlias = Callable[[bytes, InferenceOptions], Awaitable[InferenceResult]]


class Inferrer:
    """Infers tools, always in a worker: nothing but killing it can end Python's parser."""

    def __init__(
        self, offload_inference: OffloadInference, limits: Limits, *, enabled: bool
    ) -> None:
        self._offload_inference = offload_inference
        self._limits = limits
        self._enabled = enabled

    async def infer(self, source: bytes, options: InferenceOptions) -> InferenceResult:
        """Return the definitions of the tools in *source*, which is parsed and never run.

        Raises:
            RequestError: FEATURE_DISABLED by the settings; LIMIT_EXCEEDED if the text is too
                large, or inference takes too much time or memory; WORKER_CRASHED.
        """
        if not self._enabled:
            raise RequestError(
                ErrorReason.FEATURE_DISABLED,
                "inference is disabled on this server (setting inference)",
                {"setting": "inference"},
            )
        limits = self._limits
        if len(source) > limits.source_bytes:
            raise limit_exceeded_error(
                "source_bytes", limits.source_bytes, "the source text", len(source)
            )
        return await self._offload_inference(source, options)
