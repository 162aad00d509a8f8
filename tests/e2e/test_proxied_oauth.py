"""The OAuth client of the Python SDK, and a server that demands tokens, with a proxy between."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
import uvicorn
from fastmcp.server.auth.providers.in_memory import InMemoryOAuthProvider
from mcp import ClientSession
from mcp.client.auth import OAuthClientProvider
from mcp.client.auth.exceptions import OAuthFlowError
from mcp.client.streamable_http import streamable_http_client
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
from mcp.server.mcpserver import MCPServer
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata
from support.http_proxy import codes, proxied

_SECONDS = 300
_REDIRECT = "http://127.0.0.1:1/callback"


class Storage:
    """Tokens and client of one flow."""

    def __init__(self) -> None:
        self.tokens: Any = None
        self.client: Any = None

    async def get_tokens(self) -> Any:
        return self.tokens

    async def set_tokens(self, tokens: Any) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> Any:
        return self.client

    async def set_client_info(self, client_info: Any) -> None:
        self.client = client_info


def bind() -> socket.socket:
    """Return a socket at a free port."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    return listener


@contextmanager
def protected_server() -> Iterator[str]:
    """Yield the URL of a server that demands tokens, and issues them."""
    listener = bind()
    origin = f"http://127.0.0.1:{listener.getsockname()[1]}"
    registration = ClientRegistrationOptions(enabled=True, valid_scopes=["a"], default_scopes=["a"])
    provider = InMemoryOAuthProvider(base_url=origin, client_registration_options=registration)
    server = MCPServer(
        "protected",
        auth_server_provider=provider,
        auth=AuthSettings.model_validate(
            {
                "issuer_url": origin,
                "resource_server_url": f"{origin}/mcp",
                "client_registration_options": registration,
                "required_scopes": ["a"],
                "validate_token_resource": False,
            }
        ),
    )

    @server.tool()
    def add(a: int, b: int) -> int:
        """Sum of two numbers."""
        return a + b

    config = uvicorn.Config(server.streamable_http_app(), log_config=None, lifespan="on")
    running = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(running.serve(sockets=[listener])))
    thread.start()
    try:
        yield f"{origin}/mcp"
    finally:
        running.should_exit = True
        thread.join(timeout=_SECONDS)
        listener.close()


async def call(url: str) -> Any:
    """Return the content of a call of the server at *url*, after the flow for a token."""
    redirected: list[str] = []

    async def redirect(authorize_url: str) -> None:
        # The user agrees at once.
        async with httpx2.AsyncClient(timeout=_SECONDS, trust_env=False) as browser:
            redirected.append((await browser.get(authorize_url)).headers["location"])

    async def receive() -> AuthorizationCodeResult:
        query = parse_qs(urlsplit(redirected[-1]).query)
        return AuthorizationCodeResult.model_validate(
            {name: values[0] for name, values in query.items()}
        )

    metadata = OAuthClientMetadata.model_validate(
        {"client_name": "client", "redirect_uris": [_REDIRECT], "scope": "a"}
    )
    auth = OAuthClientProvider(
        url, metadata, Storage(), redirect_handler=redirect, callback_handler=receive
    )
    async with (
        httpx2.AsyncClient(auth=auth, timeout=_SECONDS, trust_env=False) as http,
        streamable_http_client(url, http_client=http) as streams,
        ClientSession(streams[0], streams[1]) as session,
    ):
        await session.initialize()
        result: Any = await session.call_tool("add", {"a": 1, "b": 2})
        return result.content[0].text


def proxy_at(url: str, public: str, *options: str) -> Any:
    """Return a proxy before the server at *url*, at the address of *public*."""
    listen = urlsplit(public).netloc
    return proxied(None, "--listen", listen, *options, url=url)


@pytest.mark.parametrize("options", [[], ["--enforce"]], ids=["audit", "enforce"])
async def test_a_client_gets_a_token(options: list[str]) -> None:
    """It accepts the proxy as the resource."""
    with bind() as free:
        public = f"http://127.0.0.1:{free.getsockname()[1]}/mcp"
    with (
        protected_server() as url,
        proxy_at(url, public, "--public-url", public, *options) as proxy,
    ):
        direct = await call(url)
        relayed = await call(public)
        err = proxy.end()

    assert "3" == direct == relayed
    assert [] == codes(err)


async def test_the_address_of_the_server_is_rejected() -> None:
    """Without the option, the resource is that of the server, which the client did not call."""
    with bind() as free:
        public = f"http://127.0.0.1:{free.getsockname()[1]}/mcp"
    with (
        protected_server() as url,
        proxy_at(url, public),
        pytest.raises(BaseExceptionGroup) as error,
    ):
        await call(public)

    assert "does not match expected" in _leaf(error.value)


def _leaf(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    assert isinstance(error, OAuthFlowError)
    return str(error)
