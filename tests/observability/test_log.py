"""Format of the log, tested in subprocesses because logging is global."""

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sidecheck_server
from sidecheck_server.observability.log_events import EVENTS

SECRET = "hunter2"


def log_of(code: str, *, level: str = "info", form: str = "auto") -> str:
    """Return the standard error of a process that runs *code*."""
    program = f"""
import asyncio, logging, sys
import structlog
from sidecheck_server.observability.log import configure_log
from sidecheck_server.config.settings import Settings
configure_log(Settings(log_level={level!r}, log_format={form!r}))
log = structlog.get_logger()
{code}
"""
    process = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=True
    )
    assert "" == process.stdout
    return process.stderr


def events(text: str) -> list[dict[str, Any]]:
    """Return the events, one per line of JSON, without timestamps."""
    parsed = [json.loads(line) for line in text.splitlines()]
    for event in parsed:
        assert event.pop("timestamp").endswith("Z")
    return parsed


def test_events_are_lines_of_json_without_a_terminal() -> None:
    """Events below the configured level are dropped; line breaks in values are escaped."""
    text = log_of('log.debug("a"); log.info("b\\nc", x="é\\n{}"); log.error("d", n=1)')

    assert [
        {"event": "b\nc", "level": "info", "x": "é\n{}"},
        {"event": "d", "level": "error", "n": 1},
    ] == events(text)


def test_console_format() -> None:
    """Line breaks in values are escaped in the console format too."""
    text = log_of('log.info("ready", addresses=["a\\nb"])', form="console")

    assert 1 == len(text.splitlines())
    assert "ready" in text
    assert "{" not in text


LIBRARIES = f"""
log = logging.getLogger("some.library")
log.info("below the level")
log.warning("said\\n{SECRET}")
log.error("said %s", "{SECRET}")
try:
    raise ValueError("{SECRET}")
except ValueError:
    log.exception("failed")
log.log(35, "a level of its own")

async def main():
    async def lost():
        raise KeyError("{SECRET}")
    asyncio.create_task(lost())
    await asyncio.sleep(0)
asyncio.run(main())
"""


@pytest.mark.parametrize("form", ["json", "console"])
def test_messages_of_libraries_become_events_without_values(form: str) -> None:
    """asyncio would print the text of exceptions and a traceback, which is not JSON."""
    text = log_of(LIBRARIES, form=form)

    assert SECRET not in text
    assert "Traceback" not in text
    if form == "json":
        assert [
            ("some.library", "warning", "said", None),
            ("some.library", "error", "said %s", None),
            ("some.library", "error", "failed", "ValueError"),
            ("some.library", "warning", "a level of its own", None),
            ("asyncio", "error", "Task exception was never retrieved", "KeyError"),
        ] == [
            (event["logger"], event["level"], event["detail"], event["error_type"])
            for event in events(text)
        ]


def test_peers_that_leave_early_are_not_logged() -> None:
    """gRPC logs an error for each; its own message and call name follow."""
    left = "ExecuteBatchError raised in core by servicer method [/a/b]"
    text = log_of(f'logging.getLogger("grpc").error({left!r})\nlog.info("next")')

    assert ["next"] == [event["event"] for event in events(text)]


_LEVELS = frozenset({"debug", "info", "warning", "error"})


def logged_events() -> Iterator[tuple[str, str | None, set[str]]]:
    """Yield name, level and literal field names of every event that the server logs.

    The level is None where it depends on the outcome.
    """
    for path in Path(sidecheck_server.__path__[0]).rglob("*.py"):
        text = path.read_text()
        if "structlog" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            level, arguments = node.func.attr, node.args
            if level == "log":
                arguments = arguments[1:]
            elif level not in _LEVELS:
                continue
            if arguments and isinstance(arguments[0], ast.Constant):
                fields = {keyword.arg for keyword in node.keywords if keyword.arg is not None}
                yield str(arguments[0].value), None if level == "log" else level, fields


def test_the_table_lists_exactly_the_logged_events() -> None:
    """The table and the source have the same events."""
    assert {name for name, _, _ in logged_events()} == set(EVENTS)


@pytest.mark.parametrize(("name", "level", "fields"), list(logged_events()))
def test_the_table_has_level_and_fields_of_an_event(
    name: str, level: str | None, fields: set[str]
) -> None:
    """Fields that depend on the outcome are tested with the access log."""
    event = EVENTS[name]

    assert level is None or (level,) == event.levels
    assert fields <= event.fields.keys() | event.optional_fields.keys()


def test_every_event_is_documented() -> None:
    """Each meaning is a sentence; required and optional fields are disjoint."""
    for event in EVENTS.values():
        assert event.meaning.endswith(".")
        assert set(event.levels) <= _LEVELS
        assert not event.fields.keys() & event.optional_fields.keys()
