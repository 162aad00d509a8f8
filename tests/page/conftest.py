"""The page of a real server, in a real Chromium.

Nothing is timed: every expectation waits for as long as a busy machine may need.
"""

import json
import shutil
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, expect, sync_playwright
from support.running import RunningServer
from support.shared_material import unavailable

_MILLISECONDS = 120_000
_FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)


class Site:
    """A server with the page, and the pages that a test has open."""

    def __init__(self, server: RunningServer, browser: Browser) -> None:
        self.server = server
        self.url = f"http://{server.admin_address}/"
        self._browser = browser
        self._closing = ExitStack()
        #: What must not happen: errors of scripts or of the policy, requests to others.
        self.faults: list[str] = []

    def open(self, fragment: str = "", *, width: int = 1400, **options: Any) -> Page:
        """Return the page, ready to be used."""
        context = self._browser.new_context(viewport={"width": width, "height": 900}, **options)
        self._closing.callback(context.close)
        context.set_default_timeout(_MILLISECONDS)
        page = context.new_page()
        page.on("console", self._note)
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("request", lambda request: self._note_request(request.url))
        page.goto(self.url + fragment)
        page.wait_for_selector("body[data-ready]")
        expect(page.locator(".pending")).to_have_count(0)
        return page

    def register(self, server: str, *tools: Any) -> None:
        """Register *tools* at the server."""
        body = json.dumps({"server": server, "tools": tools}).encode()
        request = urllib.request.Request(
            f"{self.url}v1/register-tools", body, {"content-type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=120) as response:
            assert 200 == response.status

    def close(self) -> None:
        """Close the pages, and fail if any did what none may."""
        self._closing.close()
        assert [] == self.faults

    def _note(self, message: ConsoleMessage) -> None:
        # Chromium's own report of a status such as 400, which the page shows.
        is_status = message.text.startswith("Failed to load resource")
        if message.type in {"error", "warning"} and not is_status:
            self.faults.append(message.text)

    def _note_request(self, url: str) -> None:
        if not url.startswith(self.url):
            self.faults.append(f"request beyond the server: {url}")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Return a Chromium that the tests of a module share."""
    chromium = shutil.which("chromium")
    if chromium is None:
        unavailable("no chromium on PATH; Debian has it as the package chromium")
    expect.set_options(timeout=_MILLISECONDS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=_FLAGS, timeout=0)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def page_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """Return a server with the page, which the tests of a module share."""
    running = RunningServer(tmp_path_factory.mktemp("server"), "--admin-listen", "127.0.0.1:0")
    yield running
    running.close()


@pytest.fixture
def site(page_server: RunningServer, browser: Browser) -> Iterator[Site]:
    """Return the page of the shared server, and check afterwards that it kept to its rules."""
    opened = Site(page_server, browser)
    yield opened
    opened.close()


@pytest.fixture
def own_site(tmp_path: Path, browser: Browser) -> Iterator[Site]:
    """Return the page of a server that the test may stop."""
    running = RunningServer(tmp_path, "--admin-listen", "127.0.0.1:0")
    opened = Site(running, browser)
    yield opened
    running.close()
    opened.close()


def choose_example(page: Page, title: str) -> None:
    """Choose an example by its title."""
    page.get_by_role("button", name="Examples").click()
    page.get_by_role("dialog").get_by_role("button", name=title).click()
    expect(page.locator(".pending")).to_have_count(0)


def editor(page: Page, label: str) -> Locator:
    """Return the text field with a label."""
    return page.get_by_label(label, exact=True)


def put(field: Locator, text: str) -> None:
    """Put a large text into a field: Chromium is slow to type many lines."""
    field.evaluate(
        "(field, text) => { field.value = text; field.dispatchEvent(new Event('input')); }", text
    )


def selected_text(field: Locator) -> str:
    """Return the selected text in a text field."""
    text: str = field.evaluate(
        "field => field.value.slice(field.selectionStart, field.selectionEnd)"
    )
    return text


def marked_text(page: Page, pane: str) -> str:
    """Return the text that is marked as chosen in the editor of a pane."""
    marks = page.locator(f"{pane} mark.selected")
    expect(marks.first).to_be_attached()
    return "\n".join(marks.all_text_contents())
