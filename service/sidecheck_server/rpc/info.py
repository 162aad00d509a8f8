"""InfoService: version, limits and features of the server."""

from importlib.metadata import version

from sidecheck.v1.info_service_pb2 import (
    EngineInfo,
    GetServerInfoRequest,
    GetServerInfoResponse,
)
from sidecheck.v1.info_service_pb2_grpc import InfoServiceServicer

from sidecheck_server import __version__
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.context import VERSIONS
from sidecheck_server.core.schemas.dialects import DIALECTS
from sidecheck_server.registry import Registry
from sidecheck_server.rpc.handler import rpc_handler
from sidecheck_server.rpc.mapping.fields import limits_to_proto

__all__ = ["InfoServicer"]

_ENGINES = (("fast", "fastjsonschema"), ("complete", "jsonschema"))


class InfoServicer(InfoServiceServicer):
    """Serves InfoService."""

    def __init__(self, registry: Registry, default_version: str, limits: Limits) -> None:
        self._registry = registry
        self._response = GetServerInfoResponse(
            version=__version__,
            limits=limits_to_proto(limits),
            dialects=list(DIALECTS),
            protocol_versions=VERSIONS,
            default_protocol_version=default_version,
            engines=[
                EngineInfo(name=name, library=library, version=version(library))
                for name, library in _ENGINES
            ],
        )

    @rpc_handler
    async def GetServerInfo(  # noqa: N802
        self, _request: GetServerInfoRequest
    ) -> GetServerInfoResponse:
        """Return the version, the limits and the features of the server."""
        self._response.registry_revision = self._registry.revision
        return self._response
