"""Quotas of the registry: limits of the tools of one server, and of all servers."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Annotated

from sidecheck_server.core.errors import ErrorReason, RequestError

__all__ = ["ExceededQuota", "RegistryQuotas", "Usage", "check_growth", "exceeded_quotas"]


@dataclass(frozen=True, slots=True)
class RegistryQuotas:
    """Quotas that bound the memory and the file of the registry.

    Bytes are those of definitions, documents and the documents' URIs, counted once for every
    name bound to them. The overhead of a tool is about 1.5 KB of memory.
    """

    tools: Annotated[int, "Most tools of all servers together."] = 50_000
    servers: Annotated[int, "Most servers that have tools."] = 10_000
    bytes: Annotated[
        int, "Largest size of the definitions and documents of all tools, in bytes."
    ] = 64 << 20
    server_tools: Annotated[int, "Most tools of one server."] = 20_000
    server_bytes: Annotated[
        int, "Largest size of the definitions and documents of one server's tools, in bytes."
    ] = 32 << 20


@dataclass(frozen=True, slots=True)
class Usage:
    """Amounts in the registry and for one server, named like their quotas."""

    tools: int = 0
    servers: int = 0
    bytes: int = 0
    server_tools: int = 0
    server_bytes: int = 0


@dataclass(frozen=True, slots=True)
class ExceededQuota:
    """A quota that is exceeded."""

    quota: str
    limit: int
    usage: int


_EXCESSES: Mapping[str, str] = MappingProxyType(
    {
        "tools": "{usage:,} tools in the registry",
        "servers": "{usage:,} servers with tools in the registry",
        "bytes": "{usage:,} bytes of definitions and documents in the registry",
        "server_tools": "{usage:,} tools of the server",
        "server_bytes": "{usage:,} bytes of definitions and documents of the server",
    }
)
"""Descriptions of the amount that exceeds a quota, by the name of the quota."""


def exceeded_quotas(usages: Iterable[Usage], quotas: RegistryQuotas) -> tuple[ExceededQuota, ...]:
    """Return the quotas that any of *usages* exceeds, each with the largest usage."""
    largest: dict[str, int] = {}
    for usage in usages:
        for name, amount in asdict(usage).items():
            largest[name] = max(amount, largest.get(name, 0))
    return tuple(
        ExceededQuota(name, limit, largest[name])
        for name, limit in asdict(quotas).items()
        if largest.get(name, 0) > limit
    )


def check_growth(before: Usage, after: Usage, quotas: RegistryQuotas) -> None:
    """Reject a registration that would turn the usage *before* into *after*.

    An amount may exceed its quota if the quota was lowered, but then it may not grow.

    Raises:
        RequestError: QUOTA_EXCEEDED.
    """
    earlier = asdict(before)
    for exceeded in exceeded_quotas((after,), quotas):
        if exceeded.usage > earlier[exceeded.quota]:
            raise RequestError(
                ErrorReason.QUOTA_EXCEEDED,
                f"the registration would lead to {_EXCESSES[exceeded.quota]}".format(
                    usage=exceeded.usage
                )
                + f", more than the quota of {exceeded.limit:,} ({exceeded.quota}), so nothing "
                "was registered; delete tools that are not used, or raise the quota in the "
                f"server's setting registry_quotas.{exceeded.quota}",
                {
                    "quota": exceeded.quota,
                    "limit": str(exceeded.limit),
                    "usage": str(exceeded.usage),
                },
            )
