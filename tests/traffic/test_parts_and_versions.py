"""A part of a session has no findings of its own, and a version that is given changes none."""

import json
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from sidecheck_server.core.mcp.sessions.repetitions import SESSION_CODES, TOOL_CODES
from traffic.recordings import Located, locate_in, read_lines, recordings

_VERSION = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MOST_PARTS = 5
"""Number of places at which a recording is split."""

_OF_GIVEN_VERSIONS = {
    "METHOD_NOT_IN_VERSION /method",
    "INITIALIZE_ERROR_WITHOUT_VERSIONS /error",
    "META_PROTOCOL_VERSION /params/_meta/io.modelcontextprotocol~1protocolVersion",
    "REQUIRED /params",
}
"""Findings that differ where 2026-07-28 is given.

Without a given version an initialize request tells that the session has a handshake, and its
params are checked by the rules of that version; and a server may have any other version.
"""


def test_partial_sessions_have_no_additional_findings() -> None:
    """Split anywhere, with the version given or not, as `lint-messages --partial` reads it."""
    added = []
    for name, path in recordings().items():
        lines = read_lines(path)
        whole = list(locate_in(lines))
        known = {_key(located) for located in whole}
        codes = {located.violation.code for located in whole}
        for start in _splits(len(lines)):
            for version in ("", _version_of(path)):
                part = locate_in(lines[start:], version=version, from_beginning=False)
                added += [
                    (name, start, version, *_key(located))
                    for located in part
                    if _key(located) not in known
                    # The first message of the part that has it is a later one.
                    and located.violation.code not in (SESSION_CODES | TOOL_CODES) & codes
                ]

    assert added == []


def test_the_true_version_changes_nothing() -> None:
    """Given the version that the peers agree on; the exceptions are of the probing suite."""
    differing = {}
    for name, path in recordings().items():
        lines = read_lines(path)
        inferred = _count(locate_in(lines))
        with_version = _count(locate_in(lines, version=_version_of(path)))
        differing_codes = {key[2] for key in (inferred - with_version) + (with_version - inferred)}
        if differing_codes - (_OF_GIVEN_VERSIONS if "server-stateless" in name else set()):
            differing[name] = differing_codes

    assert {} == differing


def _splits(length: int) -> Iterable[int]:
    return range(1, length, max(1, -(-(length - 1) // _MOST_PARTS)))


def _key(located: Located) -> tuple[int, str, str]:
    """Return what identifies a finding: its line, severity, code and location."""
    violation = located.violation
    return located.line, str(violation.severity), f"{violation.code} {violation.instance_location}"


def _count(located: Iterable[Located]) -> Counter[tuple[int, str, str]]:
    return Counter(map(_key, located))


def _version_of(path: Path) -> str:
    """Return the version that the peers of the recording at *path* agree on."""
    version = _VERSION.search(path.name)
    if version is not None:
        return version.group()
    for line in path.read_text().splitlines():
        message = json.loads(line)["message"]
        result = message.get("result") if isinstance(message, dict) else None
        if isinstance(result, dict) and "protocolVersion" in result:
            return str(result["protocolVersion"])
    return "2026-07-28"
