"""The page for people who use a keyboard, a screen reader, a small screen, or the dark."""

from typing import Any, Literal

import pytest
from playwright.sync_api import Page, expect
from support.page_checks import page_checks

from .conftest import Site, choose_example, editor, selected_text

_TITLES = (
    "JSON in strings",
    "A list of tools with faults",
    "A tool for eight provider APIs",
    "Two versions of a tool",
    "Python functions",
    "A broken message",
    "A transcript",
)

#: Parts that must be scrolled sideways. The editor is not one: a line of JSON may be of any length.
_SCROLLING = """() => [...document.querySelectorAll('body *')].filter(part =>
    part.checkVisibility() && part.scrollWidth > part.clientWidth &&
    part.matches(':not(textarea)') && /auto|scroll/.test(getComputedStyle(part).overflowX)
).map(part => part.outerHTML.slice(0, 100))"""


def _violations(page: Page) -> list[Any]:
    """Return what axe finds, at WCAG 2.2 AA and its own advice."""
    page.evaluate((page_checks() / "axe-core" / "axe.min.js").read_text())
    result = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        (violation["id"], node["target"], node.get("failureSummary"))
        for violation in result["violations"]
        for node in violation["nodes"]
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_reports_no_violations(site: Site, scheme: Literal["light", "dark"]) -> None:
    """The checks include all tabs, all dialogs and the contrast."""
    page = site.open(color_scheme=scheme)
    for title in _TITLES:
        choose_example(page, title)
        closed = page.locator("details:not([open]) > summary:visible")
        while closed.count():
            closed.first.click()
        assert [] == _violations(page), title
    for name in ("Examples", "Copy as", "Token"):
        page.get_by_role("button", name=name).click()
        expect(page.get_by_role("dialog")).to_be_visible()
        assert [] == _violations(page), name
        page.keyboard.press("Escape")
    page.get_by_role("tab", name="Validate").click()
    page.get_by_text("Registered", exact=True).click()
    expect(page.locator("#verdict-status")).to_have_text("Choose a tool to validate against")
    assert [] == _violations(page)


@pytest.mark.parametrize("width", [360, 800, 1600])
def test_nothing_is_wider_than_the_screen(site: Site, width: int) -> None:
    """Code blocks scroll."""
    page = site.open(width=width)
    for title in _TITLES:
        choose_example(page, title)
        expect(page.locator(".pending")).to_have_count(0)
        assert width == page.evaluate("document.documentElement.scrollWidth"), title
    page.get_by_role("button", name="Copy as").click()
    assert width == page.evaluate("document.documentElement.scrollWidth")


def test_a_phone_shows_the_verdict_and_all_tabs_at_once(site: Site) -> None:
    """The headline and a violation are in view beside the payload; nothing is scrolled."""
    page = site.open(width=390)
    expect(page.locator("#verdict-status")).to_have_text("Invalid: 3 violations")
    expect(page.locator("#payload-text")).to_be_in_viewport()
    expect(page.locator("#verdict-status")).to_be_in_viewport(ratio=1)
    expect(page.locator("#verdict .finding").first).to_be_in_viewport(ratio=1)
    for tab in page.get_by_role("tab").all():
        expect(tab).to_be_in_viewport(ratio=1)
    page.get_by_role("tab", name="Transcript").click()
    expect(page.locator("#transcript-status")).to_be_in_viewport(ratio=1)
    assert [] == page.evaluate(_SCROLLING)


def test_the_main_path_needs_a_keyboard_alone(site: Site) -> None:
    """It goes from the tab to a violation, its location, its correction, and the verdict."""
    page = site.open()
    keys = page.keyboard
    page.get_by_role("tab", name="Validate").focus()
    keys.press("ArrowRight")
    expect(page.get_by_role("tab", name="Check tools")).to_be_focused()
    expect(page.get_by_role("tabpanel", name="Check tools")).to_be_visible()
    keys.press("End")
    expect(page.get_by_role("tab", name="Transcript")).to_be_focused()
    keys.press("ArrowRight")
    expect(page.get_by_role("tab", name="Validate")).to_be_focused()

    payload = editor(page, "JSON")
    _tab_until_focused(page, "#payload-text")
    keys.press("Control+a")
    keys.type('{"city": 5}')
    expect(page.locator("#verdict-status")).to_have_text("Invalid: 1 violation")
    _tab_until_focused(page, "#verdict .finding-place")
    keys.press("Enter")
    expect(payload).to_be_focused()
    assert '"city": 5' == selected_text(payload)
    keys.type('"city": "Oslo"')
    expect(page.locator("#verdict-status")).to_have_text("Valid")


def test_focus_can_be_seen(site: Site) -> None:
    """Every focusable element is tested."""
    page = site.open()
    for _ in range(14):
        page.keyboard.press("Tab")
        shown = page.evaluate(
            """() => {
              const focused = document.activeElement;
              const part = focused.matches(".switch input") ? focused.nextElementSibling : focused;
              return getComputedStyle(part).outlineStyle;
            }"""
        )
        assert "none" != shown, page.evaluate("document.activeElement.outerHTML")


def test_the_verdict_is_announced(site: Site) -> None:
    """Only its headline is announced."""
    page = site.open()
    status = page.locator("#verdict-status")
    expect(status).to_have_attribute("aria-live", "polite")
    expect(status).to_have_role("status")
    expect(page.locator("#verdict [aria-live]")).to_have_count(0)


def _tab_until_focused(page: Page, selector: str) -> None:
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    pytest.fail(f"the key Tab does not lead to {selector}")
