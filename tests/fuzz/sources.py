"""Writes requests to infer tools; the same source text has the same answer as in the core."""

import json
from collections.abc import Iterator
from random import Random
from typing import Any

from fuzz.answers import CORE, SUDDEN, answer_in
from fuzz.exchanges import Caller, Exchange, Outcome
from fuzz.properties import Finding
from google.protobuf.message import DecodeError
from sidecheck.v1 import inference_service_pb2 as v1
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.infer.infer import infer_tools
from sidecheck_server.core.limits import Limits
from sidecheck_server.rpc.mapping.inference import inferred_to_proto, source_from_proto
from support.inference_sources import SOURCES
from support.shared_material import REPOSITORY

__all__ = ["INFER", "SourceWriter", "examine_inferred"]

INFER = "/sidecheck.v1.InferenceService/InferTools"
_LIMITS = Limits()
_FOLDER = REPOSITORY / "tests" / "cases" / "infer"
_TEXTS = (
    *SOURCES.values(),
    *(
        case["source"].encode()
        for path in sorted(_FOLDER.glob("*.json"))
        for case in json.loads(path.read_text())["cases"]
        for _ in range(4)  # most texts are valid
    ),
)
_PIECES = (
    *("(", ")", "[", "]", ":", ",", '"', "'", "\\", "\n", "\n    ", "\t", "#", "@tool\n", "= None"),
    *(" | None", "list[", "Annotated[int, ", "*", "/, ", "**", "self, ", "lambda: ", "...", "0x"),
    *("f'{", "class A(", "def f(a: ", " -> ", "from . import ", "\0", "\ufeff", "\ud800", "ö"),
)
_LONGEST = _LIMITS.source_bytes - 100
_NAMES = ("f", "A.f", "get", "x", "Context", "")


class SourceWriter:
    """Writes the requests of one exchange."""

    def __init__(self, random: Random, mark: str) -> None:
        self._random = random
        self._mark = mark

    def request(self) -> v1.InferToolsRequest:
        """Return a request whose text is valid Python in most cases."""
        random = self._random
        request = v1.InferToolsRequest(source=self.text())
        request.on_unsupported = random.choice((0, 1, 2))  # type: ignore[assignment]
        for names in (request.functions, request.injected_types, request.injected_parameters):
            if random.random() < 0.2:
                names.extend(random.choices((*_NAMES, self._mark), k=random.randint(1, 3)))
        return request

    def text(self) -> bytes:
        """Return a source text, in most cases with a few changes."""
        random = self._random
        text: bytes = random.choice(_TEXTS)[:_LONGEST]
        for _ in range(random.choice((0, 0, 1, 2, 8))):
            text = self._changed(text)
        return text

    def _changed(self, text: bytes) -> bytes:
        random = self._random
        start = random.randint(0, len(text))
        end = min(start + random.choice((0, 1, 3, 20)), len(text))
        piece = random.choice((*_PIECES, self._mark, f'"""{self._mark}"""'))
        repeated = piece.encode("utf-8", "surrogatepass")
        if random.random() < 0.2:
            repeated = text[start:end] * random.choice((2, 100))
        return text[:start] + repeated + text[end:]


def examine_inferred(caller: Caller, exchange: Exchange, outcome: Outcome) -> Iterator[Finding]:
    """Yield the differences between *outcome*, a repeated call and the core."""
    try:
        request = v1.InferToolsRequest.FromString(exchange.messages[0])
    except DecodeError:
        return
    first = answer_in(exchange.path, outcome)
    if first is None or first in SUDDEN:
        return
    again = answer_in(exchange.path, caller.send(exchange))
    if again is not None and again not in SUDDEN and again != first:
        yield Finding("another inference in a repeated call", f"{first}\n{again}", [exchange])
    try:
        with CORE:
            core: Any = inferred_to_proto(
                infer_tools(*source_from_proto(request, _LIMITS), _LIMITS)
            )
    except RequestError as refusal:
        core = refusal.reason.value
    except Exception as error:  # noqa: BLE001  (any exception is a finding)
        core = f"raised {type(error).__name__}: {error}"
    # Only the server has limits of seconds, of memory and of the size of an answer.
    if core != first and first != ErrorReason.LIMIT_EXCEEDED.value:
        yield Finding("another inference in the core", f"{first}\n{core}", [exchange])
