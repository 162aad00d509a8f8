"""Tools pass the whole chain: no part of Sidecheck refuses what another one made."""

import json
from collections.abc import AsyncIterator

import pytest
import sidecheck
from chain.corpus import corpus
from chain.functions import FUNCTIONS, SOURCE
from chain.in_process import InProcess
from chain.links import Links, Tool, walk
from chain.over_the_wire import OverTheWire
from sidecheck_server.core.infer.types import InferenceOptions
from sidecheck_server.core.mcp.context import VERSIONS
from sidecheck_server.services.container import Services
from support.running import RunningServer


@pytest.fixture(params=["in process", "over the wire"])
async def links(
    request: pytest.FixtureRequest, services: Services, chain_server: RunningServer
) -> AsyncIterator[Links]:
    if request.param == "in process":
        yield InProcess(services)
    else:
        async with sidecheck.Client(chain_server.address, timeout=300) as client:
            yield OverTheWire(client)


async def infer(links: Links, services: Services, client_address: str) -> dict[str, bytes]:
    """Return the definitions of the functions by name, by the way of *links*."""
    if isinstance(links, InProcess):
        tools = (await services.inferrer.infer(SOURCE, InferenceOptions())).tools
        texts = [tool.json for tool in tools]
    else:
        async with sidecheck.Client(client_address, timeout=300) as client:
            inferred = await client.inference.infer_tools(SOURCE)
        texts = [bytes(tool.json) for tool in inferred.tools]
    return {json.loads(text)["name"]: text for text in texts}


@pytest.mark.parametrize("version", VERSIONS)
async def test_inferred_tools(
    links: Links, services: Services, chain_server: RunningServer, version: str
) -> None:
    """Three hundred functions pass from their source text to the results of their calls."""
    definitions = await infer(links, services, chain_server.address)
    assert FUNCTIONS.keys() == definitions.keys()
    tools = [Tool(name, definitions[name], *FUNCTIONS[name]) for name in FUNCTIONS]

    assert len(FUNCTIONS) == await walk(tools, links, f"inferred {version}", version)


@pytest.mark.corpus
@pytest.mark.parametrize("version", VERSIONS)
async def test_tools_of_servers(links: Links, version: str) -> None:
    """Servers list five hundred tools, a hundred under each version."""
    share = corpus()[VERSIONS.index(version) :: len(VERSIONS)]

    assert await walk(share, links, f"corpus {version}", version) > len(share) // 2
