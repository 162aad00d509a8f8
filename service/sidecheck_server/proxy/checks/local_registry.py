"""Checks by the services of this process, and access to their registry, for gateways."""

from collections.abc import Sequence
from typing import Final

from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.context import check_version_known
from sidecheck_server.proxy.checks.local import PACKAGE, LocalChecks, ObserveCalls, unobserved
from sidecheck_server.services.container import Services
from sidecheck_server.services.registration import Registration
from sidecheck_server.services.resolution import require_binding
from sidecheck_server.services.targets import InlineTool

__all__ = ["LocalRegistryChecks"]

_GET_TOOL: Final = f"{PACKAGE}.RegistryService/GetTool"
_REGISTER_TOOLS: Final = f"{PACKAGE}.RegistryService/RegisterTools"
_DELETE_TOOLS: Final = f"{PACKAGE}.RegistryService/DeleteTools"


class LocalRegistryChecks(LocalChecks):
    """Checks of *services* and their registry, as `LocalChecks`."""

    def __init__(
        self, services: Services, limits: Limits, observe: ObserveCalls = unobserved
    ) -> None:
        super().__init__(services, limits, observe)
        self._registry = services.registry
        self._registrar = services.registrar
        self._writer = services.registry_writer

    async def registered_tool(self, server: str, name: str) -> bytes:
        """Return the definition of a registered tool.

        Raises:
            NotCheckedError: UNKNOWN_TOOL, or the registry cannot be read.
        """
        with self.call(_GET_TOOL):
            return require_binding(self._registry, server, name).definition.json

    async def register(
        self, server: str, definitions: Sequence[bytes], protocol_version: str
    ) -> list[bool]:
        """Register *definitions*; return whether each was accepted.

        Raises:
            NotCheckedError: the registry cannot be written.
        """
        with self.call(_REGISTER_TOOLS):
            check_version_known(protocol_version)
            batch_size, accepted = self._limits.batch_items, list[bool]()
            for start in range(0, len(definitions), batch_size):
                tools = tuple(map(InlineTool, definitions[start : start + batch_size]))
                result = await self._registrar.register(
                    Registration(server, tools, protocol_version=protocol_version)
                )
                accepted += [outcome.action is not None for outcome in result.outcomes]
            return accepted

    async def delete(self, server: str, names: Sequence[str]) -> None:
        """Delete the registered tools *names*.

        Raises:
            NotCheckedError: the registry cannot be written.
        """
        with self.call(_DELETE_TOOLS):
            await self._writer.delete(server, list(names))
