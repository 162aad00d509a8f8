"""The examples of the documentation print what their pages say."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sidecheck import BlockingClient
from support.running import RunningServer

from docs.generate.examples import REPOSITORY, example_pages, refresh

PAGES = [str(page.relative_to(REPOSITORY)) for page in example_pages()]


@pytest.fixture
def emptied(shared_server: RunningServer) -> Iterator[RunningServer]:
    """Return a server, and empty its registry afterwards."""
    yield shared_server
    with BlockingClient(shared_server.address, timeout=10) as client:
        for server in {tool.server for tool in client.list()}:
            client.delete_all(server)


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_of_a_page_have_the_shown_output(page: str, emptied: RunningServer) -> None:
    """`python -m docs.generate.examples` refreshes them."""
    text = Path(REPOSITORY, page).read_text(encoding="utf-8")

    assert text == refresh(text, emptied.address, emptied.admin_address)
