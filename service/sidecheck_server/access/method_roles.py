"""The roles that a caller needs for each method, by the method's full name."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from sidecheck_server.access.identity import Role

__all__ = ["ANY_TOKEN", "METHOD_ROLES", "NO_TOKEN", "roles_of"]

#: For methods that anybody may call.
NO_TOKEN: Final = None
#: For methods that need a token, whatever its roles.
ANY_TOKEN: Final[frozenset[Role]] = frozenset()

_VALIDATE: Final = frozenset({Role.VALIDATE})
_REGISTER: Final = frozenset({Role.REGISTER})
_ADMIN: Final = frozenset({Role.ADMIN})
#: Gateways have messages validated, and tools that servers list registered.
_GATEWAY: Final = _VALIDATE | _REGISTER

METHOD_ROLES: Final[Mapping[str, frozenset[Role] | None]] = MappingProxyType(
    {
        "sidecheck.v1.ValidationService/Validate": _VALIDATE,
        "sidecheck.v1.ValidationService/ValidateBatch": _VALIDATE,
        "sidecheck.v1.ValidationService/ValidateStream": _VALIDATE,
        "sidecheck.v1.ProtocolService/ListRules": _VALIDATE,
        "sidecheck.v1.ProtocolService/CheckToolNames": _VALIDATE,
        "sidecheck.v1.ProtocolService/CheckTools": _VALIDATE,
        "sidecheck.v1.ProtocolService/CheckElicitation": _VALIDATE,
        "sidecheck.v1.ProtocolService/CheckElicitationResult": _VALIDATE,
        "sidecheck.v1.ProtocolService/CheckSampling": _VALIDATE,
        "sidecheck.v1.ProtocolService/CheckToolResult": _VALIDATE,
        "sidecheck.v1.ProtocolService/NormalizeToolResult": _VALIDATE,
        "sidecheck.v1.ProtocolService/CheckMessage": _VALIDATE,
        "sidecheck.v1.ProtocolService/CheckBatch": _VALIDATE,
        "sidecheck.v1.ProtocolService/CheckSession": _VALIDATE,
        "sidecheck.v1.ConversionService/ConvertTools": _VALIDATE,
        "sidecheck.v1.ConversionService/ConvertToolCall": _VALIDATE,
        "sidecheck.v1.ConversionService/ConvertToolResult": _VALIDATE,
        "sidecheck.v1.InferenceService/InferTools": _VALIDATE,
        "sidecheck.v1.InferenceService/AdaptTool": _VALIDATE,
        "sidecheck.v1.RegistryService/RegisterTools": _REGISTER,
        "sidecheck.v1.RegistryService/GetTool": _VALIDATE,
        "sidecheck.v1.RegistryService/ListTools": _VALIDATE,
        "sidecheck.v1.RegistryService/DeleteTools": _REGISTER,
        "sidecheck.v1.RegistryService/WatchTools": _VALIDATE,
        "sidecheck.v1.RegistryService/CompareTools": _VALIDATE,
        # Clients ask for the limits before they register, too.
        "sidecheck.v1.InfoService/GetServerInfo": ANY_TOKEN,
        "envoy.service.ext_proc.v3.ExternalProcessor/Process": _GATEWAY,
        "agentgateway.dev.ext_mcp.ExtMcp/CheckRequest": _GATEWAY,
        "agentgateway.dev.ext_mcp.ExtMcp/CheckResponse": _GATEWAY,
        # Probes have no token.
        "grpc.health.v1.Health/Check": NO_TOKEN,
        "grpc.health.v1.Health/Watch": NO_TOKEN,
        # Names the services, as reflection does.
        "grpc.health.v1.Health/List": ANY_TOKEN,
        "grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo": ANY_TOKEN,
    }
)


def roles_of(method: str) -> frozenset[Role] | None:
    """Return the roles that calls of *method* need, all of them.

    A method that is not in the table is for administrators.
    """
    return METHOD_ROLES.get(method, _ADMIN)
