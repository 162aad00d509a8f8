"""Breaks sessions, and counts the reported violations."""

import json
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Any

from broken.writer import Entries
from sidecheck_server.core.evaluate import EvaluationOptions
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.check import check
from sidecheck_server.core.mcp.context import DEFAULT_VERSION, Context, Sender
from sidecheck_server.core.mcp.protocol_schemas import compile_protocol_schemas
from sidecheck_server.core.mcp.sessions.session import Session
from sidecheck_server.core.mcp.subjects import ProtocolMessage, ReportLimits
from sidecheck_server.core.types import Severity
from support.session_checks import caching_compiler, record, resolve_all_deferred

__all__ = ["apply", "find"]

_LIMITS = Limits()
_REPORT = ReportLimits(max_violations=1000)
_OPTIONS = EvaluationOptions(max_violations=1000)


def _parent(message: Any, pointer: str) -> tuple[Any, Any]:
    """Return the value that has the last step of *pointer*, and that step."""
    steps = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
    for step in steps[:-1]:
        message = message[int(step)] if isinstance(message, list) else message[step]
    return message, int(steps[-1]) if isinstance(message, list) else steps[-1]


def apply(entries: Entries, changes: Sequence[Sequence[Any]]) -> Entries:
    """Return *entries* after *changes*, which are

    - ``put``, the name of a message, a JSON Pointer into it, and the value there;
    - ``drop``, the name of a message, and a JSON Pointer of a property;
    - ``remove``, and the name of a message;
    - ``before`` or ``after``, the name of a message, and the sender and the text of another,
      which is inserted under the name "new".
    """
    # Copies also what messages share.
    changed: Entries = {
        name: (sender, json.loads(json.dumps(message)))
        for name, (sender, message) in entries.items()
    }
    for kind, name, *rest in changes:
        match kind:
            case "put":
                parent, key = _parent(changed[name][1], rest[0])
                if isinstance(parent, list) and key == len(parent):
                    parent.append(None)
                parent[key] = rest[1]
            case "drop":
                parent, key = _parent(changed[name][1], rest[0])
                del parent[key]
            case "remove":
                del changed[name]
            case "before" | "after":
                changed = _insert(changed, name, (rest[0], rest[1]), before=kind == "before")
            case other:
                raise ValueError(other)
    return changed


def _insert(entries: Entries, name: str, entry: tuple[str, Any], *, before: bool) -> Entries:
    names = list(entries)
    place = names.index(name) + (not before)
    items = list(entries.items())
    return dict([*items[:place], ("new", entry), *items[place:]])


def find(entries: Entries, version: str = "", *, seen_partly: bool = False) -> Counter[str]:
    """Return the findings in *entries*, such as ``call: error TYPE /params``.

    The version is that of the messages, unless it is given.
    """
    context = Context(version=version or DEFAULT_VERSION)
    session = Session(context, pinned=bool(version), from_beginning=not seen_partly)
    counts: Counter[str] = Counter()
    for name, (sender, message) in entries.items():
        json_ = message if isinstance(message, bytes) else json.dumps(message).encode()
        request = session.check_request(ProtocolMessage(json_), Sender(sender), _REPORT)
        checked = check(request, _LIMITS, _protocol_schemas())
        record(session, request, checked)
        resolve_all_deferred(checked, _LIMITS, _OPTIONS, _compiler())
        for violation in checked.findings.verdict().violations:
            if violation.severity is not Severity.INFO:
                rule = f"{violation.severity} {violation.code}"
                counts[f"{name}: {rule} {violation.instance_location}".rstrip()] += 1
    return counts


_protocol_schemas = cache(lambda: compile_protocol_schemas(_LIMITS))
_compiler = cache(lambda: caching_compiler(_LIMITS))
