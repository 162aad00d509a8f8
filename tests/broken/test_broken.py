"""Each fault is reported where it is, once, and nothing else is: `cases/broken/*.json`.

A case has a ``fault``, the ``sessions`` that have it after their ``changes`` (see
`broken.changes.apply`), and what is ``found`` in them: for each violation the name of its
message, its severity, its code and its location.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
from broken.changes import apply, find
from broken.handshake import HANDSHAKE_VERSIONS, batches, handshake
from broken.stateless import stateless, task_extension
from broken.writer import Entries

_FILES = Path(__file__).parents[1] / "cases" / "broken"
_SESSIONS: dict[str, Callable[[], Entries]] = {
    **{version: partial(handshake, version) for version in HANDSHAKE_VERSIONS},
    "2025-03-26 batches": batches,
    "2026-07-28": stateless,
    "2026-07-28 tasks": task_extension,
}
#: Warnings that hold for every session with these features.
_DEPRECATED = ("LOGGING_DEPRECATED", "ROOTS_DEPRECATED", "SAMPLING_DEPRECATED")


def _cases() -> Iterator[Any]:
    for path in sorted(_FILES.glob("*.json")):
        for case in json.loads(path.read_text()):
            for session in case["sessions"]:
                yield pytest.param(session, case, id=f"{path.stem}: {case['fault']}, {session}")


@cache
def _sound(session: str, version: str, *, seen_partly: bool = False) -> Counter[str]:
    return find(_SESSIONS[session](), version, seen_partly=seen_partly)


@pytest.mark.parametrize("session", _SESSIONS)
def test_sound_sessions_have_no_violations(session: str) -> None:
    for version in ("", session[:10]):
        violations = _sound(session, version)
        assert [text for text in violations if text.split()[2] not in _DEPRECATED] == []


@pytest.mark.parametrize(("session", "case"), list(_cases()))
def test_faults_have_their_violations(session: str, case: dict[str, Any]) -> None:
    """A fixed version adds only ``given``, and a partial session has no more violations.

    Some are found only where the version is ``given``.
    """
    broken = apply(_SESSIONS[session](), case["changes"])
    for version in ("", session[:10]):
        added = find(broken, version) - _sound(session, version)
        expected = case["found"] + (case.get("given", []) if version else [])
        assert sorted(added.elements()) == sorted(expected)
    of_part = find(broken, "", seen_partly=True) - _sound(session, "", seen_partly=True)
    assert of_part <= Counter(case["found"])
