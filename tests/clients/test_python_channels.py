"""Addresses, service config and channel options of the Python client."""

import json
from importlib import import_module
from pathlib import Path

import pytest
from sidecheck import v1
from sidecheck._transport.channels import channel_options, channel_target, service_config
from sidecheck.wire.rpcs import RPCS, SERVICES, STREAMS

V1 = Path(v1.__path__[0])


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1:50151",
        "sidecheck.svc.cluster.local:50151",
        "[::1]:50151",
        "dns:///sidecheck:50151",
        "unix:/run/sidecheck.sock",
        "unix:///run/sidecheck.sock",
        "unix:sidecheck.sock",
    ],
)
def test_valid_addresses_are_accepted(address: str) -> None:
    """A valid address is the target of the channel, unchanged."""
    assert address == channel_target(address)


@pytest.mark.parametrize(
    "address",
    [
        "",
        "localhost",
        "localhost:",
        "localhost:0",
        "localhost:65536",
        "localhost:http",
        "::1:50151",
        "http://localhost:50151",
        "dns:///localhost",
        "dns:localhost:50151",
        "/run/sidecheck.sock",
        "unix:",
        "unix:///",
        "unix://host/run/sidecheck.sock",
        "two words:1",
        "localhost:\u0967",
        "localhost:1\n",
    ],
)
def test_invalid_addresses_are_errors(address: str) -> None:
    """The client rejects addresses that gRPC would interpret by guessing."""
    with pytest.raises(ValueError, match="invalid address"):
        channel_target(address)


def test_only_unavailable_is_retried() -> None:
    """The service config has a retry policy but no timeouts, and exempts streams."""
    assert {
        "methodConfig": [
            {
                "name": [
                    {"service": "sidecheck.v1.ValidationService"},
                    {"service": "sidecheck.v1.RegistryService"},
                    {"service": "sidecheck.v1.ProtocolService"},
                    {"service": "sidecheck.v1.ConversionService"},
                    {"service": "sidecheck.v1.InferenceService"},
                    {"service": "sidecheck.v1.InfoService"},
                ],
                "retryPolicy": {
                    "maxAttempts": 5,
                    "initialBackoff": "0.01s",
                    "maxBackoff": "1s",
                    "backoffMultiplier": 4,
                    "retryableStatusCodes": ["UNAVAILABLE"],
                },
            },
            {
                "name": [
                    {"service": "sidecheck.v1.ValidationService", "method": "ValidateStream"},
                    {"service": "sidecheck.v1.RegistryService", "method": "WatchTools"},
                    {"service": "sidecheck.v1.ProtocolService", "method": "CheckSession"},
                ]
            },
        ]
    } == service_config("127.0.0.1:50151")


def test_retries_apply_to_all_services() -> None:
    """gRPC silently ignores a service name that is not fully qualified."""
    declared = {
        service.full_name
        for file in V1.glob("*_service_pb2.py")
        for service in import_module(
            f"sidecheck.v1.{file.stem}"
        ).DESCRIPTOR.services_by_name.values()
    }
    names = [name["service"] for name in service_config("h:1")["methodConfig"][0]["name"]]
    assert [*SERVICES] == names
    assert declared == set(names)


def test_rpcs_are_read_from_the_descriptors() -> None:
    """RPCS has the path and the message types of every RPC; STREAMS has the streams."""
    rpcs = {rpc.path: (rpc.request.__name__, rpc.response.__name__) for rpc in RPCS}
    assert ("ValidateRequest", "ValidateResponse") == rpcs[
        "/sidecheck.v1.ValidationService/Validate"
    ]
    assert len(RPCS) == len(rpcs) == len({rpc.request for rpc in RPCS})
    assert ["ValidateStream", "WatchTools", "CheckSession"] == [rpc.name for rpc in STREAMS]


def test_servers_of_a_dns_name_are_load_balanced() -> None:
    """Addresses with the scheme ``dns:`` use round robin."""
    assert [{"round_robin": {}}] == service_config("dns:///h:1")["loadBalancingConfig"]


def test_channel_options_are_complete() -> None:
    """The options set keepalive, reconnection, message sizes and no proxy."""
    assert {
        "grpc.service_config": json.dumps(service_config("h:1")),
        "grpc.keepalive_time_ms": 30_000,
        "grpc.keepalive_timeout_ms": 10_000,
        "grpc.initial_reconnect_backoff_ms": 100,
        "grpc.max_reconnect_backoff_ms": 500,
        "grpc.max_send_message_length": -1,
        "grpc.max_receive_message_length": -1,
        "grpc.enable_http_proxy": 0,
    } == dict(channel_options("h:1"))
