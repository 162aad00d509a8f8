"""Inference, as far as a text comes before a worker has it."""

import pytest
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.infer.infer import infer_tools
from sidecheck_server.core.infer.types import InferenceOptions, InferenceResult
from sidecheck_server.core.limits import Limits
from sidecheck_server.services.inference import Inferrer

SOURCE = b"def f(a: int) -> str: ..."
OPTIONS = InferenceOptions()
LIMITS = Limits(source_bytes=len(SOURCE), batch_items=3)
OFF = RequestError(
    ErrorReason.FEATURE_DISABLED,
    "this server infers no tools: its setting inference is off",
    {"setting": "inference"},
)


class LongWork:
    """Infers in place of a worker."""

    def __init__(self) -> None:
        #: The texts that were parsed.
        self.done: list[bytes] = []

    async def __call__(self, source: bytes, options: InferenceOptions) -> InferenceResult:
        self.done.append(source)
        return infer_tools(source, options, LIMITS)


async def test_a_text_within_the_bounds_goes_to_a_worker() -> None:
    """However short it is, each time."""
    work = LongWork()
    inferrer = Inferrer(work, LIMITS, allowed=True)
    found = [await inferrer.infer(SOURCE, OPTIONS) for _ in range(2)]

    assert [infer_tools(SOURCE, OPTIONS, LIMITS)] * 2 == found
    assert [SOURCE] * 2 == work.done


@pytest.mark.parametrize(
    ("expected", "source", "options", "allowed"),
    [
        pytest.param(
            RequestError(
                ErrorReason.LIMIT_EXCEEDED,
                "the source text: 26, more than the limit of 25 (source_bytes)",
                {"bound": "source_bytes", "limit": "25", "found": "26"},
            ),
            SOURCE + b" ",
            OPTIONS,
            True,
            id="too large",
        ),
        pytest.param(
            RequestError(
                ErrorReason.LIMIT_EXCEEDED,
                "the names of functions, types and parameters: 4, "
                "more than the limit of 3 (batch_items)",
                {"bound": "batch_items", "limit": "3", "found": "4"},
            ),
            SOURCE,
            InferenceOptions(
                functions=("f", "g"), injected_types=("A",), injected_parameters=("a",)
            ),
            True,
            id="too many names",
        ),
        pytest.param(OFF, SOURCE, OPTIONS, False, id="switched off"),
        pytest.param(OFF, SOURCE + b" ", OPTIONS, False, id="switched off and too large"),
    ],
)
async def test_what_is_refused_is_never_parsed(
    expected: RequestError,
    source: bytes,
    options: InferenceOptions,
    allowed: bool,
) -> None:
    """With the bound, or the setting, that says so."""
    work = LongWork()
    with pytest.raises(RequestError) as refused:
        await Inferrer(work, LIMITS, allowed=allowed).infer(source, options)

    assert expected == refused.value
    assert [] == work.done
