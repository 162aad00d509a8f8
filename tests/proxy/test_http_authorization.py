"""Authorization metadata and challenges of the server, with the address of the proxy."""

import json
from collections.abc import Callable

import pytest
from sidecheck_server.proxy.http.authorization import PublicAddress
from starlette.requests import Request
from starlette.responses import Response
from support.http_mcp_server import HttpMcpServer
from support.http_proxy import post, proxied

SERVER = "https://tools.example"
METADATA = "/.well-known/oauth-protected-resource"


@pytest.mark.parametrize(
    ("public", "resource", "expected"),
    [
        ("http://127.0.0.1:8808/mcp", f"{SERVER}/mcp", "http://127.0.0.1:8808/mcp"),
        ("http://127.0.0.1:8808/mcp", f"{SERVER}/mcp/", "http://127.0.0.1:8808/mcp"),
        ("http://127.0.0.1:8808/mcp", SERVER, "http://127.0.0.1:8808"),
        ("https://gate.example/team/mcp", f"{SERVER}/mcp", "https://gate.example/team/mcp"),
        ("https://gate.example/team/mcp", f"{SERVER}/", "https://gate.example/team/"),
        ("https://gate.example/other", f"{SERVER}/mcp", "https://gate.example/other"),
        ("https://gate.example/other", SERVER, "https://gate.example"),
    ],
)
def test_the_resource(public: str, resource: str, expected: str) -> None:
    """Other properties stay as they are; a gateway may add a prefix to all paths."""
    rest = f'"authorization_servers": ["{SERVER}"], "n": 1.0'
    text = PublicAddress(public, "/mcp").rewrite_metadata(
        f'{{"resource": "{resource}", {rest}}}'.encode()
    )

    assert expected == json.loads(text)["resource"]
    assert b"1.0" in text
    assert [SERVER] == json.loads(text)["authorization_servers"]


@pytest.mark.parametrize("text", [b"", b"[]", b"{}", b'{"resource": 5}', b"<html>"])
def test_other_bodies_pass(text: bytes) -> None:
    """They are no metadata."""
    assert text == PublicAddress("http://a/mcp", "/mcp").rewrite_metadata(text)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (
            'Bearer realm="a, b", resource_metadata="{0}{1}/mcp", scope="x"',
            'Bearer realm="a, b", resource_metadata="{2}{1}/mcp", scope="x"',
        ),
        ("Bearer Resource_Metadata = {0}{1}", 'Bearer Resource_Metadata = "{2}{1}"'),
        ('Bearer realm="resource_metadata={0}{1}"', 'Bearer realm="resource_metadata={0}{1}"'),
        ('Bearer resource_metadata="{0}/other"', 'Bearer resource_metadata="{0}/other"'),
        ('Bearer realm="\\"', 'Bearer realm="\\"'),
        ("Bearer", "Bearer"),
    ],
)
def test_a_challenge(value: str, expected: str) -> None:
    """Only the address of the metadata changes."""
    public, places = "http://127.0.0.1:8808", (SERVER, METADATA)
    address = PublicAddress(f"{public}/mcp", "/mcp")
    headers = [
        (b"WWW-Authenticate", value.format(*places).encode()),
        (b"x", b'resource_metadata="a"'),
    ]

    assert [
        (b"WWW-Authenticate", expected.format(*places, public).encode()),
        headers[1],
    ] == address.rewrite_challenges(headers)


def test_a_challenge_is_read_in_linear_time() -> None:
    """A quote without an end is read once."""
    value = b'"\\' * 500_000

    assert [(b"www-authenticate", value)] == PublicAddress(
        "http://a/mcp", "/mcp"
    ).rewrite_challenges([(b"www-authenticate", value)])


@pytest.mark.parametrize("enforces", [False, True])
@pytest.mark.parametrize("has_public_url", [False, True])
def test_metadata_and_challenges(
    server: HttpMcpServer, *, has_public_url: bool, enforces: bool
) -> None:
    """Without the option they pass byte for byte."""
    origin = server.url.removesuffix("/mcp")
    body = f'{{ "resource": "{server.url}", "authorization_servers": ["{origin}"] }}'
    challenge: Callable[[str], str] = f'Bearer resource_metadata="{{}}{METADATA}/mcp"'.format

    async def answer(request: Request, text: bytes) -> Response | None:
        if request.url.path.startswith(METADATA):
            return Response(body, media_type="application/json")
        headers = {"www-authenticate": challenge(origin)}
        return Response(status_code=401, headers=headers) if b"tools/call" in text else None

    server.answer = answer
    options = [*(["--enforce"] if enforces else [])]
    if has_public_url:
        options += ["--public-url", "https://gate.example/team/mcp"]
    with proxied(server, *options) as proxy:
        refused = post(proxy)
        place = proxy.url.replace("/mcp", METADATA)
        derived = proxy.client.get(f"{place}/team/mcp" if has_public_url else f"{place}/mcp")
        target = server.targets[-1]
        named = proxy.client.get(f"{place}/mcp")

    assert (401, f"{METADATA}/mcp") == (refused.status_code, target)
    gate = "https://gate.example/team"
    assert challenge(gate if has_public_url else origin) == refused.headers["www-authenticate"]
    changed = body.replace(server.url, f"{gate}/mcp")
    if has_public_url:
        assert json.loads(changed) == named.json() == derived.json()
    else:
        assert body == named.text == derived.text
