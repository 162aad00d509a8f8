"""Lists of tools that are fetched page by page, and by several callers at the same time."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from sidecheck_server.config.policies import Policy
from sidecheck_server.proxy.checks import NotCheckedError
from sidecheck_server.proxy.messages import Message, read_message
from sidecheck_server.proxy.report import Report
from sidecheck_server.proxy.rulings import listing_pages
from sidecheck_server.proxy.rulings import listings as listings_module
from sidecheck_server.proxy.rulings.listing_pages import ListingFailed
from sidecheck_server.proxy.rulings.listings import Listings
from sidecheck_server.proxy.rulings.pending import request_of
from sidecheck_server.proxy.rulings.pins import PinnedTools
from support.finding_lines import codes
from support.running_proxy import local_checks

TOOLS = [
    {"name": name, "description": name, "inputSchema": {"type": "object"}} for name in "abcdef"
]


def message_of(value: Any) -> Message:
    """Return the message that *value* is."""
    message = read_message(json.dumps({"jsonrpc": "2.0", "id": 1, **value}).encode())
    assert isinstance(message, Message)
    return message


async def list_no_tools(_params: Mapping[str, bytes]) -> Message:
    """Return no page."""
    raise AssertionError("the proxy has no reason to ask for the list")


async def fetch(listings: Listings, cursor: Any, names: str, next_cursor: str | None) -> None:
    """Let *listings* rule on the page at *cursor*, with the tools called *names*."""
    request = message_of({"method": "tools/list", "params": {"cursor": cursor} if cursor else {}})
    result = {"tools": [tool for tool in TOOLS if str(tool["name"]) in names]}
    if next_cursor:
        result["nextCursor"] = next_cursor  # type: ignore[assignment]
    await listings.rule_result(message_of({"result": result}), request_of(request))


@pytest.mark.parametrize(
    ("pages", "pinned"),
    [
        pytest.param([(None, "ab", "2"), ("2", "cd", None)], "abcd", id="one list"),
        pytest.param(
            [(None, "ab", "2"), (None, "ab", "2"), ("2", "cd", None), ("2", "cd", None)],
            "abcd",
            id="two at once, the same cursors",
        ),
        pytest.param(
            [(None, "ab", "x"), (None, "ab", "y"), ("x", "cd", "z"), ("y", "cd", None)],
            "abcd",
            id="two at once, cursors of their own",
        ),
        pytest.param(
            [(None, "ab", "2"), (None, "ab", "2"), ("2", "cd", None)], "abcd", id="one given up"
        ),
        pytest.param([("2", "cd", None)], None, id="a page of an unknown list"),
        pytest.param([(None, "ab", "2"), (5, "cd", None)], None, id="a cursor that is no string"),
    ],
)
async def test_pages_of_lists(pages: Any, pinned: str | None, tmp_path: Path) -> None:
    """A list is complete with all pages that lead to its last, and only then pinned."""
    lock = tmp_path / "pins.json"
    with local_checks() as checks:
        report = Report(lambda _: None)
        listings = Listings(checks, Policy.AUDIT, PinnedTools(path=lock), report, list_no_tools)
        for page in pages:
            await fetch(listings, *page)

    tools = sorted(json.loads(lock.read_text())["tools"]) if lock.exists() else None
    assert (None if pinned is None else list(pinned)) == tools


@pytest.mark.parametrize("fails", [False, True])
async def test_callers_share_a_request_for_the_list(fails: bool) -> None:
    """The server is asked once; one that goes away takes the others' list with it not."""
    requests = 0
    answers = asyncio.Event()

    async def list_tools(_params: Mapping[str, bytes]) -> Message:
        nonlocal requests
        requests += 1
        await answers.wait()
        if fails:
            raise ListingFailed
        return message_of({"result": {"tools": TOOLS}})

    with local_checks() as checks:
        report = Report(lambda _: None)
        listings = Listings(checks, Policy.AUDIT, PinnedTools(), report, list_tools)
        first, *others = (asyncio.ensure_future(listings.find("a", {})) for _ in range(100))
        await asyncio.sleep(0)
        first.cancel()
        answers.set()
        outcomes = await asyncio.gather(*others, return_exceptions=True)

    assert 1 == requests
    if fails:
        assert {"TOOLS_NOT_LISTED"} == {
            e.reason for e in outcomes if isinstance(e, NotCheckedError)
        }
        assert len(others) == len({id(error) for error in outcomes})
    else:
        assert not any(isinstance(outcome, BaseException) for outcome in outcomes)


@pytest.mark.parametrize(
    ("bound", "value"), [("_MAX_PAGES", 3), ("_MAX_TOOLS", 3), ("_MAX_BYTES", 12)]
)
@pytest.mark.parametrize("asks", ["client", "proxy"])
async def test_a_list_without_an_end(
    bound: str, value: int, asks: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No part of it is taken for the whole: nothing is pinned, and no call passes."""
    monkeypatch.setattr(listing_pages, bound, value)
    monkeypatch.setattr(listings_module, "_MAX_PAGES", 3)
    requests = 0

    async def list_tools(_params: Mapping[str, bytes]) -> Message:
        nonlocal requests
        requests += 1
        return message_of({"result": {"tools": [], "nextCursor": f"c{requests}"}})

    lock, lines = tmp_path / "pins.json", list[str]()
    with local_checks() as checks:
        report = Report(lines.append)
        listings = Listings(checks, Policy.OFF, PinnedTools(path=lock), report, list_tools)
        if asks == "client":
            for number in range(6):
                cursor = f"c{number}" if number else None
                await fetch(listings, cursor, "abcdef"[number], f"c{number + 1}")
        else:
            for _ in range(2):
                with pytest.raises(NotCheckedError, match="no end"):
                    await listings.find("a", {})

    assert ["TOOLS_NOT_PINNED"] == [line.split(" ")[2] for line in codes("\n".join(lines))]
    assert (False, 0 if asks == "client" else 3) == (lock.exists(), requests)


@pytest.mark.parametrize(
    ("version", "pinned"), [("2025-11-25", "ab"), ("2026-07-28", "abcd"), ("", "ab")]
)
@pytest.mark.parametrize("asks", ["client", "proxy"])
async def test_an_empty_cursor(version: str, pinned: str, asks: str, tmp_path: Path) -> None:
    """It leads to a further page since 2026-07-28, and is the end in earlier versions."""
    pages = {None: ("ab", ""), "": ("cd", None)}
    key = "io.modelcontextprotocol/protocolVersion"
    call_params = {"_meta": json.dumps({key: version}).encode()} if version else {}

    def page_of(cursor: str | None) -> Message:
        names, next_cursor = pages[cursor]
        result: dict[str, Any] = {"tools": [tool for tool in TOOLS if str(tool["name"]) in names]}
        return message_of({"result": {**result, "nextCursor": next_cursor}})

    async def list_tools(params: Mapping[str, bytes]) -> Message:
        return page_of("" if "cursor" in params else None)

    lock = tmp_path / "pins.json"
    with local_checks() as checks:
        report = Report(lambda _: None)
        listings = Listings(checks, Policy.OFF, PinnedTools(path=lock), report, list_tools)
        if asks == "proxy":
            await listings.find("a", call_params)
        else:
            for params in ({}, {"cursor": ""}):
                request = message_of({"method": "tools/list", "params": params})
                page = page_of(params.get("cursor"))
                await listings.rule_result(page, request_of(request, version))

    assert list(pinned) == sorted(json.loads(lock.read_text())["tools"])
