"""Differences of two catalogues, as the changes that lead from the one to the other."""

from sidecheck_server.registry.catalogue import Catalogue
from sidecheck_server.registry.definitions import Binding, Change

__all__ = ["differences"]


def differences(before: Catalogue, after: Catalogue) -> list[Change]:
    """Return changes that lead from *before* to *after*, one for each server that differs.

    There is at least one, which has the revision. Takes time proportional to both.
    """
    unbound: dict[str, list[str]] = {}
    bound: dict[str, list[Binding]] = {}
    for _, binding in before.bindings.starting_at(()):
        if after.find(binding.server, binding.name) is None:
            unbound.setdefault(binding.server, []).append(binding.name)
    for _, binding in after.bindings.starting_at(()):
        if before.find(binding.server, binding.name) != binding:
            bound.setdefault(binding.server, []).append(binding)
    servers = sorted(unbound.keys() | bound.keys()) or [""]
    return [
        Change(
            after.revision,
            server,
            tuple(unbound.get(server, ())),
            tuple(bound.get(server, ())),
            is_reload=True,
            is_continued=server != servers[-1],
            id=after.change_id,
        )
        for server in servers
    ]
