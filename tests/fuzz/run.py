"""Run of random exchanges with a real server for a given time."""

import time
from collections import Counter, deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from random import Random
from typing import Any

import grpc
from fuzz.check_answers import examine_answer
from fuzz.conversions import CONVERSION, examine_conversion
from fuzz.exchanges import Caller, Ending, Exchange
from fuzz.materials import Material
from fuzz.messages import SERVERS, Writer
from fuzz.mutation import corrupt
from fuzz.normalizations import NORMALIZE, PROJECT, examine_normalization
from fuzz.properties import Finding, examine_outcome
from fuzz.protocol_requests import SERVICE
from fuzz.rpcs import RPCS, Rpc, reachable_fields, rpc_named
from fuzz.sources import INFER, examine_inferred
from fuzz.texts import marks_in
from fuzz.validations import VALIDATE, examine_validation
from fuzz.watched import WatchedServer, unexpected
from google.protobuf.message_factory import GetMessageClass
from sidecheck.v1.registry_service_pb2 import RegisterToolsRequest, RegisterToolsResponse
from sidecheck.v1.registry_service_pb2_grpc import RegistryServiceStub
from sidecheck.v1.target_pb2 import InlineTool

__all__ = ["Run", "Tally"]

_FIELDS = frozenset().union(*(reachable_fields(rpc.request) for rpc in RPCS))
_AT_ONCE = 4
_ROUNDS_BETWEEN_LOOKS = 25
_REMEMBERED = 1000
_MOST_ALIKE = 2
"""Maximum number of recorded findings of one kind."""


@dataclass(slots=True)
class Tally:
    """Coverage and findings of a run."""

    #: Calls by method and status.
    calls: Counter[tuple[str, str]] = field(default_factory=Counter)
    #: Number of validations that were compared with repetition, batch, stream and core.
    validations: int = 0
    #: Full names of all fields that were sent.
    fields: set[str] = field(default_factory=set)
    #: Memory of the server and of its workers in megabytes, at each look.
    memory: list[tuple[float, float]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def missing_methods(self) -> set[str]:
        """Return the methods without a successful call, as ``Service/Method``."""
        answered = {method for method, code in self.calls if code in {"OK", "CANCELLED"}}
        return {rpc.path.rpartition(".")[2] for rpc in RPCS} - answered

    def missing_fields(self) -> set[str]:
        """Return the full names of the request fields that were never sent."""
        return set(_FIELDS) - self.fields

    def is_complete(self) -> bool:
        """Return whether every method has a successful call and every field was sent."""
        return not self.missing_methods() and not self.missing_fields()

    def growth(self) -> float:
        """Return the growth of the server's memory after the first third, in megabytes."""
        server = [megabytes for megabytes, _ in self.memory]
        third = len(server) // 3
        return max(server[third:], default=0) - max(server[: third + 1], default=0)

    def __str__(self) -> str:
        covered = f"{self.calls.total():,} calls, {self.validations:,} of them validations"
        lines = [f"{covered}; {len(self.findings)} findings"]
        methods = sorted({method for method, _ in self.calls})
        for method in methods:
            codes = {code: n for (of, code), n in sorted(self.calls.items()) if of == method}
            lines.append(f"  {method}: {codes}")
        if self.memory:
            steps = [f"{server:.0f}+{workers:.0f}" for server, workers in self.memory]
            listed_steps = " ".join(steps[:: max(len(steps) // 12, 1)])
            lines.append(f"  memory of the server + its workers, MB: {listed_steps}")
        return "\n".join(lines)


class Run:
    """A run against a server; the same seed makes the same exchanges."""

    def __init__(self, server: WatchedServer, seed: str) -> None:
        self.tally = Tally()
        self._server = server
        self._caller = Caller(server.address)
        self._seed = seed
        self._material = Material()
        self._serial = 0
        self._digests: list[str] = []
        self._recent: deque[Exchange] = deque(maxlen=_REMEMBERED)
        # Requests have `min_revision` 1.
        with grpc.insecure_channel(server.address) as channel:
            tool = InlineTool(json=b'{"name": "first", "inputSchema": {"type": "object"}}')
            request = RegisterToolsRequest(server="first", tools=[tool])
            RegistryServiceStub(channel).RegisterTools(request)

    def close(self) -> None:
        """Close the channel."""
        self._caller.close()

    def go(
        self,
        seconds: float,
        *,
        most_findings: int = 3,
        least_rounds: int = 0,
        most_rounds: int = 0,
    ) -> None:
        """Make exchanges for *seconds*, or until there are *most_findings*.

        It makes at least *least_rounds* rounds, and continues up to *most_rounds* until the
        coverage is complete.
        """
        end = time.monotonic() + seconds
        rounds = 0
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            while (
                time.monotonic() < end
                or rounds < least_rounds
                or (rounds < most_rounds and not self.tally.is_complete())
            ):
                exchanges = [self._next() for _ in range(_AT_ONCE)]
                self._recent.extend(exchanges)
                for findings in pool.map(self.examine, exchanges):
                    self._note(findings)
                rounds += 1
                if rounds % _ROUNDS_BETWEEN_LOOKS == 0:
                    self.look()
                if len(self.tally.findings) >= most_findings:
                    return
        self.look()

    def examine(self, exchange: Exchange) -> list[Finding]:
        """Make one exchange, and return the findings about its outcome."""
        outcome = self._caller.send(exchange)
        method = exchange.path.rpartition(".")[2]
        self.tally.calls[method, outcome.code.name] += 1
        if exchange.path.endswith("/RegisterTools") and outcome.code is grpc.StatusCode.OK:
            self._learn(outcome.responses[0])
        findings = list(examine_outcome(exchange, outcome))
        if exchange.path == VALIDATE:
            self.tally.validations += 1
            findings += examine_validation(self._caller, exchange, outcome)
        elif exchange.path.startswith(SERVICE):
            findings += examine_answer(self._caller, exchange, outcome)
            findings += examine_normalization(self._caller, exchange, outcome)
        elif exchange.path.startswith(CONVERSION):
            findings += examine_conversion(self._caller, exchange, outcome)
        elif exchange.path == INFER:
            findings += examine_inferred(self._caller, exchange, outcome)
        return findings

    def look(self) -> None:
        """Check the health of the server, and its log."""
        self.tally.memory.append(self._server.megabytes())
        recent = list(self._recent)
        self._note(
            [Finding("unhealthy", fault, recent) for fault in self._server.faults(self._caller)]
        )
        self._note(self._examine_log(recent))

    def retry(self, exchange: Exchange) -> list[Finding]:
        """Make one exchange, and return the findings about its outcome and the log."""
        return [*self.examine(exchange), *self._examine_log([exchange])]

    def _examine_log(self, sent: list[Exchange]) -> list[Finding]:
        findings = []
        left = {exchange.path for exchange in sent if exchange.ending is Ending.CANCELLED}
        for entry in self._server.log():
            serials = marks_in(entry.encode())
            if serials:
                senders = [exchange for exchange in sent if exchange.serial in serials] or sent
                findings.append(Finding("contents of a request in the log", entry.strip(), senders))
            wrong = unexpected(entry, left)
            if wrong is not None:
                findings.append(Finding("error in the log", wrong, sent))
        return findings

    def _note(self, findings: list[Finding]) -> None:
        for finding in findings:
            alike = [similar for similar in self.tally.findings if similar.kind == finding.kind]
            if len(alike) < _MOST_ALIKE:
                self.tally.findings.append(finding)

    def _learn(self, response: bytes) -> None:
        for outcome in RegisterToolsResponse.FromString(response).outcomes:
            self._digests += [outcome.definition_digest, outcome.input_schema_digest]
        del self._digests[:-20]

    def _next(self) -> Exchange:
        self._serial += 1
        random = Random(f"{self._seed}/{self._serial}")
        # Digests come from responses, which are the same in each run with the seed.
        writer = Writer(random, self._material, self._serial, self._digests)
        rpc = rpc_named(VALIDATE) if random.random() < 0.35 else random.choice(RPCS)
        count = random.choice((0, 1, 2, 3, 8)) if rpc.many_requests else 1
        messages = tuple(self._message(random, writer, rpc) for _ in range(count))
        self.tally.fields |= writer.fields
        ending = Ending.CLOSED
        if rpc.many_requests or rpc.many_responses or random.random() < 0.02:
            endings = (Ending.CLOSED, Ending.CLOSED, Ending.HELD, Ending.CANCELLED)
            ending = random.choice(endings)
        if self._serial % 500 == 0:
            return self._delete_tools(random)
        return Exchange(self._serial, rpc.path, messages, ending)

    def _message(self, random: Random, writer: Writer, rpc: Rpc) -> bytes:
        message: Any
        sound = random.random() < 0.7
        if sound and rpc.path == VALIDATE:
            message = writer.validation(rpc.request)
        elif sound and rpc.path in (NORMALIZE, PROJECT):
            message = writer.normalization(rpc.request)
        elif sound and rpc.path == INFER:
            message = writer.source()
        elif sound and rpc.path.startswith(SERVICE):
            message = writer.protocol_request(rpc.request)
        elif sound and rpc.path.startswith(CONVERSION):
            message = writer.conversion(rpc.request)
        elif sound and rpc.path.endswith("/RegisterTools"):
            message = writer.registration(rpc.request)
        else:
            message = writer.write(rpc.request)
        data = message.SerializeToString()
        return corrupt(random, data, rpc.request) if random.random() < 0.3 else data

    def _delete_tools(self, random: Random) -> Exchange:
        """Return a request that deletes the tools of a server, so the registry stays small."""
        rpc = next(rpc for rpc in RPCS if rpc.path.endswith("/DeleteTools"))
        request = {"server": random.choice(SERVERS), "all": True}
        message = _message_of(rpc, request)
        return Exchange(self._serial, rpc.path, (message,))


def _message_of(rpc: Rpc, fields: dict[str, Any]) -> bytes:
    return GetMessageClass(rpc.request)(**fields).SerializeToString()
