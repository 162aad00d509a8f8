"""Events of spans that cannot be exported."""

import logging
import time
from typing import Any
from unittest.mock import Mock

import grpc
import pytest
from sidecheck_server.observability.tracing import spans
from sidecheck_server.observability.tracing.spans import ExportFailures, describe

TEMPLATE = "Failed to export %s to %s, error code: %s, error details: %s, retrying in %.2fs"


def record(template: str, *arguments: Any, level: int = logging.ERROR) -> logging.LogRecord:
    return logging.LogRecord("opentelemetry.sdk", level, "", 0, template, arguments, None)


def test_failures_are_logged_once_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next event has the number of failures in between."""
    clock, logged = Mock(return_value=1000.0), Mock()
    monkeypatch.setattr(spans, "_log", logged)
    monkeypatch.setattr(time, "monotonic", clock)
    handler = ExportFailures()
    for now in (1000.0, 1001.0, 1059.9, 1060.0, 1061.0):
        clock.return_value = now
        handler.handle(record("queue full"))

    assert [1, 3] == [call.kwargs["failures"] for call in logged.warning.call_args_list]


@pytest.mark.parametrize(
    ("template", "arguments", "text"),
    [
        pytest.param(
            TEMPLATE,
            ("traces", "http://user:secret@host", grpc.StatusCode.UNAVAILABLE, "secret", 1.5),
            "Failed to export … to …, error code: UNAVAILABLE, error details: …, retrying in 1.5s",
            id="status",
        ),
        pytest.param("code: %d\nsecret %s", (503, "secret"), "code: %d", id="lines"),
        pytest.param("code: %d", (503,), "code: 503", id="number"),
        pytest.param("Queue full, dropping %s.", ("Span",), "Queue full, dropping ….", id="text"),
        pytest.param("100 % full", (), "100 % full", id="no arguments"),
    ],
)
def test_the_reported_text(template: str, arguments: tuple[Any, ...], text: str) -> None:
    """It is the template with statuses and numbers."""
    assert text == describe(record(template, *arguments))
