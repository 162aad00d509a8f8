"""Both routes infer the same definitions from random sources.

The number of sources is ``SIDECHECK_INFERENCE_TEXTS``; with a number other than the default,
they differ in each run.
"""

import os

import pytest
from hypothesis import HealthCheck, given, note, settings
from inference.random_sources import sources
from inference.routes import infer_live, infer_text

DEFAULT_TEXTS = 800
TEXTS = int(os.environ.get("SIDECHECK_INFERENCE_TEXTS", DEFAULT_TEXTS))


@pytest.mark.slow
@settings(
    max_examples=TEXTS,
    derandomize=TEXTS == DEFAULT_TEXTS,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(sources())
def test_the_routes_agree(source: str) -> None:
    """Definitions, the order of properties, and diagnostic codes are equal."""
    note(source)
    live, text = infer_live(source), infer_text(source)
    assert live.agrees(text), (live, text)
