"""Parts of a session that begin anew with another process or session of the server."""

from sidecheck_server.proxy.rulings.listings import Listings
from sidecheck_server.proxy.rulings.session import ProxySession

__all__ = ["Renewals"]


class Renewals:
    """Sessions and listings that begin anew when the server does."""

    def __init__(self) -> None:
        self._watched: list[tuple[Listings, ProxySession]] = []

    def watch(self, listings: Listings, session: ProxySession) -> None:
        """Begin *listings* and *session* anew after each renewal."""
        self._watched.append((listings, session))

    async def begin_anew(self) -> None:
        """List the tools again; accept ids of the server again."""
        for listings, session in self._watched:
            listings.expire()
            await session.reset()
