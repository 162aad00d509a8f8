"""Work on bytes from outside grows with their number, not with its square.

Where no function is called for each byte, regular expressions are held by their form: what is
repeated without an end is possessive, or nothing can follow that it could take.
"""

import importlib
import pkgutil
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import pytest
import sidecheck
import sidecheck_server
from sidecheck_server.proxy.http.headers import combine, end_to_end_headers
from sidecheck_server.proxy.http.paths import is_ambiguous_path
from sidecheck_server.proxy.http.sse import EventReader
from sidecheck_server.proxy.messages import read_items, read_message, split_members
from support.counted_calls import count_calls

SIZES = (500, 1_000, 2_000, 4_000)


def feed(chunks: Sequence[bytes]) -> None:
    """Read *chunks* as events, and look at all that is in them."""
    reader = EventReader(1 << 30)
    for chunk in chunks:
        for event in reader.feed(chunk):
            _ = event.type, event.has_id, event.may_be_json
            event.safe_text(event.data)
    reader.rest()


HOSTILE: dict[str, Callable[[int], object]] = {
    "a stream in single bytes": lambda n: feed([b"x"] * n),
    "carriage returns in single bytes": lambda n: feed([b"\r"] * n),
    "line ends of two characters, divided": lambda n: feed([b":\r", b"\n"] * n),
    "fields without a blank line": lambda n: feed([b"data: 1\n" * n, b"\n"]),
    "comments": lambda n: feed([b":\n"] * n),
    "line ends of other readers": lambda n: feed([b"data: " + b"\xe2\x80\xa8" * n + b"\n\n"]),
    "open brackets": lambda n: read_message(b"[" * n),
    "open objects": lambda n: read_message(b'{"a":' * n),
    "quotes": lambda n: list(split_members(b'{"a":' + b'"' * n)),
    "backslashes in an open string": lambda n: list(split_members(b'{"' + b"\\" * n)),
    "members that are not JSON": lambda n: read_message(b"{" + b'"a":NaN,' * n + b'"b":1}'),
    "items that are not JSON": lambda n: read_items(b"[" + b"NaN," * n + b"1]"),
    "a header many times": lambda n: combine([(b"a", b"b")] * n),
    "names in a connection header": lambda n: end_to_end_headers(
        [(b"connection", b",".join([b"a"] * n))] * 2, ()
    ),
    "escapes in a path": lambda n: is_ambiguous_path(b"/" + b"%2525" * n),
    "segments in a path": lambda n: is_ambiguous_path(b"/x" * n),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_twice_the_bytes_take_twice_the_steps(name: str) -> None:
    """The unit is a function call, including C functions."""
    counts = [count_calls(lambda size=size: HOSTILE[name](size)) for size in SIZES]  # type: ignore[misc]

    for half, whole in pairwise(counts):
        assert whole <= 2.2 * half + 100, counts


def _patterns() -> Iterator[tuple[str, re.Pattern[Any]]]:
    """Yield the patterns of all modules of the service and of the Python client."""
    for package in (sidecheck_server, sidecheck):
        for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if "generated" in info.name or info.name.endswith("__main__"):
                continue
            for name, value in vars(importlib.import_module(info.name)).items():
                # Some modules keep a method of a pattern instead.
                pattern = getattr(value, "__self__", value)
                if isinstance(pattern, re.Pattern):
                    yield f"{info.name.removeprefix('sidecheck_server.')}.{name}", pattern


PATTERNS = dict(_patterns())

GOES_BACK = {
    "access.authorizer._BEARER": "one run of characters, matched as a whole",
    "admin.json_requests._OFFSET": "our own messages, of bounded length",
    "admin.problems._STEPS": "one run of characters",
    "cli.commented_json._COMMENT": "a configuration of the user, in which comments are closed",
    "core.convert.model_call._QUOTED": "our own messages, of bounded length",
    "core.engines.allowed_code._OWN_NAME": "names of generated code",
    "core.engines.allowed_code._SET": "names of generated code",
    "core.explain.nearest._SEPARATORS": "one run of characters",
    "core.explain.nearest._WORD": "runs of characters that exclude each other",
    "core.formats.addresses.LDH_NAME": "matched as a whole; labels end at points",
    "core.formats.dates.TIME": "matched as a whole",
    "core.infer.source._STRING_OR_COMMENT": "a text that is not closed ends with the source",
    "core.payload.decoding._OBJECT_START": "matched at the start",
    "core.mcp.http_headers._ENCODED": "matched as a whole",
    "core.mcp.http_headers._PLAIN_VALUE": "matched as a whole",
    "core.mcp.http_headers._VALUE": "matched as a whole",
    "core.mcp.rules.elicitation._DEVELOPMENT": "matched as a whole",
    "core.convert.transforms.values._GRAMMAR_PATTERN": "matched as a whole",
    "core.mcp.rules.headers._TOKEN": "one run of characters",
    "core.mcp.rules.secrets._LINK": "a run after a bracket, which no run has",
    "core.mcp.rules.secrets._PHRASE": "what follows a run of spaces is bounded",
    "core.mcp.rules.secrets._WORD": "runs of characters that exclude each other",
    "core.mcp.rules.metadata._TRACEPARENT": "matched as a whole",
    "core.mcp.text_encodings._MEDIA_TYPE": "matched as a whole; parameters begin with semicolons",
    "core.patterns.character_classes.BRACED": "matched at a brace; patterns are bounded",
    "core.patterns.character_classes.PROPERTY": "matched at a brace; patterns are bounded",
    "core.patterns.groups.LEXEME": "matched at a brace; patterns are bounded",
    "core.patterns.groups.NAME_PART": "one run of characters",
    "core.patterns.groups.NO_LEAST": "matched at a brace; patterns are bounded",
    "core.patterns.reading.REFERENCE": "one run of digits",
    "core.repair.coercion._DECIMAL": "matched as a whole",
    "core.repair.coercion._INTEGER": "matched as a whole",
    "core.tool_error_text._PLAIN_STEP": "matched as a whole",
    "observability.tracing.spans._FIELD": "formats of our own log",
    "registry.location._OTHER_CONNECTION": "a setting",
    "registry.location._UNAMBIGUOUS_URI": "a setting",
    "server.envoy.admin._ACTIVE_REQUESTS_VALUE": "an answer of the Envoy that the service runs",
    "sidecheck._transport.channels.HOST_AND_PORT": "an argument of the program itself",
    "sidecheck._transport.channels.SOCKET_PATH": "an argument of the program itself",
    "sidecheck._transport.tokens.TOKEN": "an argument of the program itself",
    "sidecheck.inference.arguments._MEMBER": "text of the program itself",
    "sidecheck.tool_lists._SPACE": "one run of characters",
    "sidecheck.wire.connection_failures.NOT_CONNECTED": "messages of gRPC, matched at the start",
}
"""Patterns that may give back what they took, and why their work still is linear."""


def backtracking(tree: Any) -> bool:
    """Return whether a repetition in *tree* without an end gives back what it took."""
    for operator, argument in tree:
        if str(operator) in {"MAX_REPEAT", "MIN_REPEAT"} and str(argument[1]) == "MAXREPEAT":
            return True
        parts = argument if isinstance(argument, tuple | list) else [argument]
        for part in parts:
            inner = part if isinstance(part, list) else [part]
            if any(hasattr(node, "data") and backtracking(node) for node in inner):
                return True
    return False


def test_backtracking_patterns_have_a_reason() -> None:
    """In the other patterns, every unbounded repetition is possessive."""
    parser: Any = re._parser  # type: ignore[attr-defined]
    patterns = {
        name
        for name, pattern in PATTERNS.items()
        if backtracking(parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE))
    }

    assert set(GOES_BACK) == patterns


@pytest.mark.parametrize("text", ["a*", "(?:a|b+)c", "x(?>a+b)?", "(?=a*)"])
def test_a_backtracking_pattern_is_detected(text: str) -> None:
    """The repetition may be at any place in the pattern."""
    parser: Any = re._parser  # type: ignore[attr-defined]

    assert backtracking(parser.parse(text))
