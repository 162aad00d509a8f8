"""How events are written: as a process would, since logging is a process's own."""

import json
import subprocess
import sys
from typing import Any

import pytest

SECRET = "hunter2"


def written(code: str, *, level: str = "info", form: str = "auto") -> str:
    """Return what is written to standard error by a process that runs *code*."""
    program = f"""
import asyncio, logging, sys
import structlog
from sidecheck_server.log import configure_log
from sidecheck_server.settings import Settings
configure_log(Settings(log_level={level!r}, log_format={form!r}))
log = structlog.get_logger()
{code}
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=True
    )
    assert "" == done.stdout
    return done.stderr


def events(text: str) -> list[dict[str, Any]]:
    """Return the events, each a line of JSON, without their times."""
    found = [json.loads(line) for line in text.splitlines()]
    for event in found:
        assert event.pop("timestamp").endswith("Z")
    return found


def test_events_are_lines_of_json_where_no_terminal_is() -> None:
    """Those of the level wanted or above; a text starts no line of its own."""
    text = written('log.debug("a"); log.info("b\\nc", x="é\\n{}"); log.error("d", n=1)')

    assert [
        {"event": "b\nc", "level": "info", "x": "é\n{}"},
        {"event": "d", "level": "error", "n": 1},
    ] == events(text)


def test_events_can_be_for_people() -> None:
    """A value starts no line of its own here either."""
    text = written('log.info("ready", addresses=["a\\nb"])', form="console")

    assert 1 == len(text.splitlines())
    assert "ready" in text
    assert "{" not in text


LIBRARIES = f"""
log = logging.getLogger("some.library")
log.info("not wanted")
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
def test_what_libraries_log_becomes_events_without_their_values(form: str) -> None:
    """asyncio prints exceptions with all their text, and a traceback is not JSON."""
    text = written(LIBRARIES, form=form)

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
            (event["logger"], event["level"], event["said"], event["error_type"])
            for event in events(text)
        ]
