"""A client beside an attack: small valid calls at a steady pace, and how long each took.

``python -m hostile.bystander ADDRESS SECONDS`` prints the latencies in milliseconds as a
JSON array. It is a process of its own, so that it shares no interpreter with the attacker.
"""

import json
import sys
import time

import grpc
from sidecheck.v1 import registry_service_pb2, target_pb2, validation_service_pb2
from sidecheck.v1.registry_service_pb2_grpc import RegistryServiceStub
from sidecheck.v1.validation_service_pb2_grpc import ValidationServiceStub

__all__ = ["main"]

_PER_SECOND = 50
_SERVER, _NAME = "bystander", "small"
_TOOL = {
    "name": _NAME,
    "inputSchema": {
        "type": "object",
        "properties": {"query": {"type": "string"}, "limit": {"type": "integer", "minimum": 1}},
        "required": ["query"],
        "additionalProperties": False,
    },
}


def main() -> None:
    """Call for as long as the command line says, at the pace, whatever the server does."""
    address, seconds = sys.argv[1], float(sys.argv[2])
    target = target_pb2.Target(
        registered_tool=target_pb2.RegisteredTool(server=_SERVER, name=_NAME)
    )
    request = validation_service_pb2.ValidateRequest(
        target=target, subject=target_pb2.Subject(arguments=b'{"query": "x", "limit": 10}')
    )
    latencies: list[float] = []
    with grpc.insecure_channel(address) as channel:
        tool = target_pb2.InlineTool(json=json.dumps(_TOOL).encode())
        RegistryServiceStub(channel).RegisterTools(
            registry_service_pb2.RegisterToolsRequest(server=_SERVER, tools=[tool])
        )
        validate = ValidationServiceStub(channel).Validate
        assert validate(request, timeout=300).verdict.valid
        print("ready", flush=True)
        begun = time.perf_counter()
        turn = 0
        while (due := begun + turn / _PER_SECOND) < begun + seconds:
            turn += 1
            wait = due - time.perf_counter()
            if wait > 0:
                time.sleep(wait)
                due = time.perf_counter()
            # A call that comes late because the one before took long has waited too.
            assert validate(request, timeout=300).verdict.valid
            latencies.append((time.perf_counter() - due) * 1000)
    print(json.dumps([round(each, 2) for each in latencies]))


if __name__ == "__main__":
    main()
