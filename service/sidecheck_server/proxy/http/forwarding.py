"""Requests of clients, forwarded to the server, and addresses in its responses."""

from collections.abc import AsyncIterator

from sidecheck_server.proxy.http.authorization import PublicAddress
from sidecheck_server.proxy.http.encodings import EncodingError
from sidecheck_server.proxy.http.exchange import CountedRequest
from sidecheck_server.proxy.http.headers import BODY_HEADERS, end_to_end_headers
from sidecheck_server.proxy.http.upstream import BodyTooLargeError, Upstream, UpstreamResponse

__all__ = ["Forwarder"]

_OK = 200


class Forwarder:
    """Forwards requests to *upstream*; rewrites addresses in its responses.

    *public_url* is the URL under which clients call the proxy, "" to leave authorization metadata
    as they are.
    """

    def __init__(self, upstream: Upstream, public_url: str) -> None:
        self._upstream = upstream
        path = upstream.target.decode("latin-1").partition("?")[0]
        self._public_address = PublicAddress(public_url, path) if public_url else None

    async def send(
        self,
        request: CountedRequest,
        body: bytes | AsyncIterator[bytes] | None,
        *,
        keeps_encoding: bool = False,
    ) -> UpstreamResponse:
        """Send *request* with *body*, and return the response.

        With *keeps_encoding*, *body* has the content encoding of *request*.

        Raises:
            UpstreamError: the server does not respond.
        """
        path: bytes = request.scope["raw_path"]
        is_server = self._upstream.is_server(path)
        is_read = is_server or self._is_metadata_path(path)
        excluded = {b"accept-encoding"} if is_read else set[bytes]()
        if is_server and not keeps_encoding:
            excluded |= BODY_HEADERS
        if not isinstance(body, AsyncIterator):
            excluded.add(b"content-length")
        headers = end_to_end_headers(request.headers.raw, excluded)
        if is_read:
            # The proxy reads these bodies.
            headers.append((b"accept-encoding", b"identity"))
        if self._public_address is not None:
            path = self._public_address.find_server_path(path)
        target = self._upstream.build_target(path, request.scope["query_string"])
        response = await self._upstream.send(request.method, target, headers, body)
        if self._public_address is not None:
            response.raw_headers = self._public_address.rewrite_challenges(response.raw_headers)
        return response

    def rewrite_location(self, response: UpstreamResponse) -> bool:
        """Point a redirection within the server at the proxy; return whether it is one."""
        location = response.location
        target = None if location is None else self._upstream.resolve_location(location)
        if target is not None:
            response.set_location(target)
        return target is not None

    async def read_metadata(
        self, request: CountedRequest, response: UpstreamResponse, limit: int
    ) -> bytes | None:
        """Return authorization metadata in *response* with the address of the proxy.

        None if *response* has none, or is to pass as it is.

        Raises:
            ByteBudgetError: the budget of held bytes is exhausted.
            UpstreamError: the body is incomplete.
        """
        is_json = response.status == _OK and response.media_type == "application/json"
        if (
            self._public_address is None
            or not self._is_metadata_path(request.scope["raw_path"])
            or not is_json
        ):
            return None
        try:
            text = await response.read(limit, request.response_bytes)
        except (BodyTooLargeError, EncodingError):
            return None
        return self._public_address.rewrite_metadata(text)

    def _is_metadata_path(self, path: bytes) -> bool:
        return self._public_address is not None and self._public_address.is_metadata_path(path)
