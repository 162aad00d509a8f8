"""Configuration of Envoy, from the settings of the service.

The names are those of Envoy's API v3, https://www.envoyproxy.io/docs/envoy/v1.39.3/api-v3.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from sidecheck_server.config.settings import Settings
from sidecheck_server.rpc.sockets import shared_addresses
from sidecheck_server.server.envoy.certificate_files import AUTHORITIES, CERTIFICATE

__all__ = ["STAT_PREFIX", "bootstrap"]

STAT_PREFIX: Final = "sidecheck"
"""Prefix of the statistics of calls, ``http.sidecheck``."""

_APPLICATION: Final = "sidecheck_server.server.envoy.serving:application"

_TYPE: Final = "@type"
_TYPES: Final = "type.googleapis.com/envoy."

_HANDSHAKE_SECONDS: Final = 5
_HEADERS_SECONDS: Final = 10
_PING_SECONDS: Final = 60
_PING_TIMEOUT_SECONDS: Final = 20

_CONNECTION_BUFFER_BYTES: Final = 1 << 20
"""Bytes of a connection that are read ahead, or written but not sent, before it must wait."""

_STREAM_WINDOW_BYTES: Final = 256 << 10
"""Flow-control window of each call; a call that waits for admission holds no more."""

_CONNECTIONS_PER_SECOND: Final = 1_000
"""New connections of a second beyond which further ones are closed.

A TLS handshake takes about a millisecond of a processor.
"""

_HEAP_BYTES_BEYOND_MESSAGES: Final = 256 << 20
"""Memory of Envoy itself, without the messages in flight, and without Python's."""


def bootstrap(
    settings: Settings, module: Path, admin_socket: Path, certificates: Path | None
) -> Mapping[str, Any]:
    """Return the configuration for *settings*.

    *module* is pyvoy's, *admin_socket* the path of the unix socket of Envoy's own interface, and
    *certificates* the folder of `write_certificates`, or None without TLS.
    """
    first, *others = _addresses(settings)
    return {
        # Required by files of secrets.
        "node": {"id": STAT_PREFIX, "cluster": STAT_PREFIX},
        "admin": {"address": {"pipe": {"path": str(admin_socket), "mode": 0o600}}},
        "stats_config": {
            "stats_matcher": {
                "inclusion_list": {"patterns": [{"prefix": f"http.{STAT_PREFIX}.downstream_rq_"}]}
            }
        },
        "overload_manager": _overload_manager(settings),
        "static_resources": {
            # One listener, since each would have an application of its own, on its own thread.
            "listeners": [
                {
                    "name": "calls",
                    "address": first,
                    "additional_addresses": [{"address": address} for address in others],
                    "per_connection_buffer_limit_bytes": _CONNECTION_BUFFER_BYTES,
                    "filter_chains": [
                        {
                            "filters": [_connection_rate(), _http_connections(settings, module)],
                            **(_tls(settings, certificates) if certificates else {}),
                        }
                    ],
                }
            ]
        },
    }


def _addresses(settings: Settings) -> list[Mapping[str, Any]]:
    addresses: list[Mapping[str, Any]] = []
    if settings.listen:
        for ip, port in shared_addresses(settings.listen):
            addresses.append({"socket_address": {"address": ip, "port_value": port}})
    if settings.unix_socket is not None:
        mode = int(settings.unix_socket_mode, 8)
        addresses.append({"pipe": {"path": str(settings.unix_socket.absolute()), "mode": mode}})
    return addresses


def _overload_manager(settings: Settings) -> Mapping[str, Any]:
    heap_bytes = _HEAP_BYTES_BEYOND_MESSAGES + 2 * settings.transport.bytes_in_flight
    return {
        "refresh_interval": "0.25s",
        "resource_monitors": [
            {
                "name": "envoy.resource_monitors.fixed_heap",
                "typed_config": {
                    _TYPE: f"{_TYPES}extensions.resource_monitors.fixed_heap.v3.FixedHeapConfig",
                    "max_heap_size_bytes": heap_bytes,
                },
            },
            {
                "name": "envoy.resource_monitors.global_downstream_max_connections",
                "typed_config": {
                    _TYPE: f"{_TYPES}extensions.resource_monitors.downstream_connections.v3."
                    "DownstreamConnectionsConfig",
                    "max_active_downstream_connections": settings.transport.connections,
                },
            },
        ],
        "actions": [
            {
                "name": "envoy.overload_actions.stop_accepting_requests",
                "triggers": [
                    {
                        "name": "envoy.resource_monitors.fixed_heap",
                        "threshold": {"value": 0.95},
                    }
                ],
            }
        ],
    }


def _connection_rate() -> Mapping[str, Any]:
    return {
        "name": "envoy.filters.network.local_ratelimit",
        "typed_config": {
            _TYPE: f"{_TYPES}extensions.filters.network.local_ratelimit.v3.LocalRateLimit",
            "stat_prefix": STAT_PREFIX,
            "token_bucket": {
                "max_tokens": _CONNECTIONS_PER_SECOND,
                "tokens_per_fill": _CONNECTIONS_PER_SECOND // 10,
                "fill_interval": "0.1s",
            },
        },
    }


def _http_connections(settings: Settings, module: Path) -> Mapping[str, Any]:
    limits = settings.transport
    return {
        "name": "envoy.filters.network.http_connection_manager",
        "typed_config": {
            _TYPE: f"{_TYPES}extensions.filters.network.http_connection_manager.v3."
            "HttpConnectionManager",
            "stat_prefix": STAT_PREFIX,
            # The peer is the address of the connection, whatever X-Forwarded-For says.
            "use_remote_address": True,
            "skip_xff_append": True,
            "generate_request_id": False,
            "server_header_transformation": "PASS_THROUGH",
            "max_request_headers_kb": min(-(-limits.metadata_bytes >> 10), 8192),
            "request_headers_timeout": f"{_HEADERS_SECONDS}s",
            # Streams may be idle for any time.
            "stream_idle_timeout": "0s",
            "drain_timeout": f"{limits.connection_end_seconds}s",
            "common_http_protocol_options": {
                "idle_timeout": f"{limits.connection_idle_seconds}s",
                "max_connection_duration": f"{limits.connection_age_seconds}s",
            },
            "http2_protocol_options": {
                "max_concurrent_streams": limits.connection_calls,
                "initial_stream_window_size": _STREAM_WINDOW_BYTES,
                "initial_connection_window_size": _CONNECTION_BUFFER_BYTES,
                "connection_keepalive": {
                    "interval": f"{_PING_SECONDS}s",
                    "timeout": f"{_PING_TIMEOUT_SECONDS}s",
                },
            },
            "route_config": {"virtual_hosts": [{"name": "any", "domains": ["*"]}]},
            "http_filters": [
                {
                    "name": "envoy.filters.http.grpc_web",
                    "typed_config": {_TYPE: f"{_TYPES}extensions.filters.http.grpc_web.v3.GrpcWeb"},
                },
                {
                    "name": "pyvoy",
                    "typed_config": {
                        _TYPE: f"{_TYPES}extensions.filters.http.dynamic_modules.v3."
                        "DynamicModuleFilter",
                        "dynamic_module_config": {"module": {"local": {"filename": str(module)}}},
                        "filter_name": "pyvoy",
                        "filter_config": {
                            _TYPE: "type.googleapis.com/google.protobuf.StringValue",
                            "value": json.dumps(
                                {
                                    "app": _APPLICATION,
                                    "interface": "asgi",
                                    "root_path": "",
                                    "lifespan": True,
                                    "loop": "uvloop",
                                }
                            ),
                        },
                        "terminal_filter": True,
                    },
                },
            ],
        },
    }


def _tls(settings: Settings, certificates: Path) -> Mapping[str, Any]:
    def secret(name: str) -> Mapping[str, Any]:
        file = {"path": str(certificates / f"{name}.json")}
        source = {"path_config_source": file, "resource_api_version": "V3"}
        return {"name": name, "sds_config": source}

    has_authorities = settings.tls_client_ca is not None
    return {
        "transport_socket_connect_timeout": f"{_HANDSHAKE_SECONDS}s",
        "transport_socket": {
            "name": "envoy.transport_sockets.tls",
            "typed_config": {
                _TYPE: f"{_TYPES}extensions.transport_sockets.tls.v3.DownstreamTlsContext",
                "require_client_certificate": has_authorities,
                "common_tls_context": {
                    "alpn_protocols": ["h2", "http/1.1"],
                    "tls_params": {"tls_minimum_protocol_version": "TLSv1_2"},
                    "tls_certificate_sds_secret_configs": [secret(CERTIFICATE)],
                    **(
                        {"validation_context_sds_secret_config": secret(AUTHORITIES)}
                        if has_authorities
                        else {}
                    ),
                },
            },
        },
    }
