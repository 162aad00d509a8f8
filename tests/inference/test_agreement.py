"""What is inferred from a function and from its source text is the same.

The number of texts is ``SIDECHECK_INFERENCE_TEXTS``; with another number than that of the
checks they are other ones each time.
"""

import os

import pytest
from hypothesis import HealthCheck, given, note, settings
from inference.routes import by_reading, by_running
from inference.sources import sources

CHECKED = 800
TEXTS = int(os.environ.get("SIDECHECK_INFERENCE_TEXTS", CHECKED))


@pytest.mark.slow
@settings(
    max_examples=TEXTS,
    derandomize=TEXTS == CHECKED,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(sources())
def test_the_routes_agree(source: str) -> None:
    """Definitions are equal, their members in the same order, and so are the codes."""
    note(source)
    run, read = by_running(source), by_reading(source)
    assert run.agrees(read), (run, read)
