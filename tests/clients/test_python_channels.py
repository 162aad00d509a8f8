"""The Python client's channel: what it connects to and how it behaves."""

import json

import pytest
from sidecheck.channels import channel_options, channel_target, service_config
from sidecheck.v1 import (
    conversion_service_pb2,
    inference_service_pb2,
    info_service_pb2,
    protocol_service_pb2,
    registry_service_pb2,
    validation_service_pb2,
)
from sidecheck.wire import rpcs

FILES = (
    validation_service_pb2,
    registry_service_pb2,
    protocol_service_pb2,
    conversion_service_pb2,
    inference_service_pb2,
    info_service_pb2,
)
DECLARED = [service for file in FILES for service in file.DESCRIPTOR.services_by_name.values()]
CALLED = [value for value in vars(rpcs).values() if isinstance(value, rpcs.Rpc)]


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
def test_addresses_are_understood(address: str) -> None:
    """An address in a known form is the target as it stands."""
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
        "two words:1",
        "localhost:1\n",
    ],
)
def test_other_addresses_are_errors(address: str) -> None:
    """gRPC would guess what a broken address means; the client does not."""
    with pytest.raises(ValueError, match="is not an address"):
        channel_target(address)


def test_retries_are_for_unavailable_alone() -> None:
    """The service config holds the retry policy, no timeout, and nothing for streams."""
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
                    "maxAttempts": 4,
                    "initialBackoff": "0.02s",
                    "maxBackoff": "1s",
                    "backoffMultiplier": 4,
                    "retryableStatusCodes": ["UNAVAILABLE"],
                },
            },
            {
                "name": [
                    {"service": "sidecheck.v1.ValidationService", "method": "ValidateStream"},
                    {"service": "sidecheck.v1.ProtocolService", "method": "CheckSession"},
                ]
            },
        ]
    } == service_config("127.0.0.1:50151")


def test_every_service_is_named_in_full() -> None:
    """gRPC ignores a name that is not full in silence."""
    names = [name["service"] for name in service_config("h:1")["methodConfig"][0]["name"]]
    assert [service.full_name for service in DECLARED] == names


def test_every_rpc_of_the_api_is_called() -> None:
    """The table of procedures has each one that is declared, with its messages."""
    expected = {
        (
            f"/{service.full_name}/{method.name}",
            method.input_type.full_name,
            method.output_type.full_name,
        )
        for service in DECLARED
        for method in service.methods
    }
    assert expected == {
        (rpc.path, rpc.request.DESCRIPTOR.full_name, rpc.response.DESCRIPTOR.full_name)
        for rpc in CALLED
    }


def test_the_servers_behind_a_name_take_turns() -> None:
    """Only a name that asks for it is balanced."""
    assert [{"round_robin": {}}] == service_config("dns:///h:1")["loadBalancingConfig"]


def test_channel_options_are_whole() -> None:
    """Keepalive, reconnection, sizes and no proxy."""
    assert {
        "grpc.service_config": json.dumps(service_config("h:1")),
        "grpc.keepalive_time_ms": 30_000,
        "grpc.keepalive_timeout_ms": 10_000,
        "grpc.initial_reconnect_backoff_ms": 100,
        "grpc.max_reconnect_backoff_ms": 2_000,
        "grpc.max_send_message_length": -1,
        "grpc.max_receive_message_length": -1,
        "grpc.enable_http_proxy": 0,
    } == dict(channel_options("h:1"))
