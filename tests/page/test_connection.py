"""Answers that come late, servers that stop, and tokens."""

import hashlib
import re
from pathlib import Path

from playwright.sync_api import Browser, Route, expect
from support.running import RunningServer

from .conftest import Site, editor

_TOOL = '{"name": "t", "inputSchema": {"type": "object", "required": ["a", "b"]}}'


def test_a_late_answer_to_an_earlier_text_is_never_shown(site: Site) -> None:
    """Its request is aborted when the text changes."""
    page = site.open()
    editor(page, "Definitions").fill(_TOOL)
    expect(page.locator("#verdict-status")).to_have_text(re.compile("violations"))
    routes: list[Route] = []
    page.route(
        "**/v1/validate",
        lambda route: (
            routes.append(route) if "first" in str(route.request.post_data) else route.continue_()
        ),
    )
    statuses = page.evaluate_handle(
        """() => {
          const seen = [];
          const status = document.getElementById("verdict-status");
          const note = () => seen.push(status.textContent);
          new MutationObserver(note).observe(status, {childList: true});
          return seen;
        }"""
    )
    with page.expect_request(re.compile("/v1/validate")) as first:
        editor(page, "JSON").fill('{"a": "first"}')
    # The request is seen before it is handed to the route.
    while not routes:
        page.wait_for_timeout(10)
    with page.expect_event("requestfailed", lambda request: request == first.value):
        editor(page, "JSON").fill('{"a": 1, "b": "second"}')
    expect(page.locator("#verdict-status")).to_have_text("Valid")
    [late] = routes
    late.fulfill(json={"verdict": {"valid": False, "violations": []}})
    editor(page, "JSON").fill('{"a": 1, "b": 3}')
    expect(page.locator("#verdict.pending")).to_have_count(0)

    assert {"Valid"} == set(statuses.json_value())


def test_a_lost_server_is_reported_and_used_once_it_is_back(own_site: Site, tmp_path: Path) -> None:
    """The next change of the text reaches it without a reload."""
    page = own_site.open()
    expect(page.locator("#connection")).to_have_text("Connected")
    own_site.server.terminate()
    editor(page, "JSON").fill('{"city": "Os"}')
    expect(page.locator("#verdict-status")).to_have_text("The server does not answer")
    expect(page.locator("#connection")).to_have_text("The server does not answer")
    expect(page.locator("#verdict")).to_contain_text("The next change of the input asks it again")

    (tmp_path / "again").mkdir()
    again = RunningServer(
        tmp_path / "again", "--admin-listen", own_site.url.removeprefix("http://").rstrip("/")
    )
    try:
        editor(page, "JSON").fill('{"city": "Oslo"}')
        expect(page.locator("#verdict-status")).to_have_text("Valid")
        expect(page.locator("#connection")).to_have_text("Connected")
    finally:
        again.close()


def test_the_page_asks_for_a_token_and_stores_it_in_memory(
    tmp_path: Path, browser: Browser
) -> None:
    """The token is neither in the link nor in the storage of the browser."""
    token = f"sct_page-{'x' * 40}"
    digest = hashlib.sha256(token.encode()).hexdigest()
    file = tmp_path / "tokens.toml"
    file.write_text(f'[[tokens]]\nname = "p"\nsha256 = "{digest}"\nroles = ["validate"]\n')
    flags = ("--admin-listen", "127.0.0.1:0", "--tokens-file", str(file))
    server = RunningServer(tmp_path, *flags)
    site = Site(server, browser)
    try:
        page = site.open()
        expect(page.locator("#verdict-status")).to_have_text("Error: Unauthenticated")
        page.get_by_role("button", name="Enter token").click()
        page.get_by_label("Bearer token").fill("wrong")
        page.keyboard.press("Enter")
        expect(page.locator("#verdict")).to_contain_text("UNAUTHENTICATED")
        page.get_by_role("button", name="Token", exact=False).first.click()
        page.get_by_label("Bearer token").fill(token)
        page.get_by_role("button", name="Use", exact=True).click()

        expect(page.locator("#verdict-status")).to_have_text(re.compile("^Invalid"))
        expect(page.get_by_label("MCP version").locator("option")).to_have_count(6)
        page.get_by_role("button", name="Copy link").click()
        assert token not in page.url
        stored = page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])")
        assert "[{},{}]" == stored
        assert [] == page.context.cookies()
        page.get_by_role("button", name="Copy as").click()
        expect(page.get_by_role("region", name="Text to copy")).to_contain_text(
            "Authorization: Bearer $SIDECHECK_TOKEN"
        )
        page.reload()
        expect(page.locator("#verdict-status")).to_have_text("Error: Unauthenticated")
    finally:
        server.close()
        site.close()


def test_a_page_without_permitted_callers_is_not_served(tmp_path: Path, browser: Browser) -> None:
    """An admin address beyond loopback needs the setting admin_open."""
    server = RunningServer(tmp_path, "--admin-listen", "0.0.0.0:0")
    try:
        page = browser.new_page()
        response = page.goto(f"http://{server.admin_address.replace('0.0.0.0', '127.0.0.1')}/")
        assert response is not None
        assert 403 == response.status
        assert "admin_open" in page.content()
        page.close()
    finally:
        server.close()
