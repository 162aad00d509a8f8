"""Inference service: checks before a source text is sent to a worker."""

import pytest
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.infer.infer import infer_tools
from sidecheck_server.core.infer.types import InferenceOptions
from sidecheck_server.core.limits import Limits
from sidecheck_server.services.normalization import Inferrer
from sidecheck_server.workers.tasks import InferTools
from support.recorded_tasks import RecordedTasks

SOURCE = b"def f(a: int) -> str: ..."
OPTIONS = InferenceOptions()
LIMITS = Limits(source_bytes=len(SOURCE), batch_items=3)
DISABLED = RequestError(
    ErrorReason.FEATURE_DISABLED,
    "inference is disabled on this server (setting inference)",
    {"setting": "inference"},
)


async def test_a_source_within_the_limits_goes_to_a_worker() -> None:
    """Short texts are offloaded too, and results are not cached."""
    work = RecordedTasks(LIMITS)
    inferrer = Inferrer(work, LIMITS, enabled=True)
    results = [await inferrer.infer(SOURCE, OPTIONS) for _ in range(2)]

    assert [infer_tools(SOURCE, OPTIONS, LIMITS)] * 2 == results
    assert [InferTools(SOURCE, OPTIONS)] * 2 == work.tasks


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
        pytest.param(DISABLED, SOURCE, OPTIONS, False, id="disabled"),
        pytest.param(DISABLED, SOURCE + b" ", OPTIONS, False, id="switched off and too large"),
    ],
)
async def test_rejected_sources_are_not_parsed(
    expected: RequestError,
    source: bytes,
    options: InferenceOptions,
    allowed: bool,
) -> None:
    """The error names the limit or the setting."""
    work = RecordedTasks(LIMITS)
    with pytest.raises(RequestError) as raised:
        await Inferrer(work, LIMITS, enabled=allowed).infer(source, options)

    assert expected == raised.value
    assert [] == work.tasks
