"""The state of the page in its address."""

import re

import pytest
from playwright.sync_api import expect

from .conftest import Site, choose_example, editor


@pytest.mark.parametrize(
    ("title", "status"),
    [
        ("JSON in strings", "#verdict-status"),
        ("A result against its output schema", "#verdict-status"),
        ("A list of tools with faults", "#check-status"),
        ("A tool for eight provider APIs", "#convert-status"),
        ("Two versions of a tool", "#compare-status"),
        ("Python functions", "#infer-status"),
        ("A broken message", "#message-status"),
        ("A transcript", "#transcript-status"),
    ],
)
def test_a_link_shows_another_person_the_same(site: Site, title: str, status: str) -> None:
    """All of it is in the fragment, and nothing in what the server sees."""
    page = site.open()
    choose_example(page, title)
    shown = page.locator(status)
    expect(shown).to_have_text(re.compile(r"\w"))
    expect(shown).not_to_have_text("")
    page.get_by_role("button", name="Copy link").click()
    text = shown.inner_text()
    fragment = page.evaluate("location.hash")

    second_page = site.open(fragment)
    expect(second_page.locator(status)).to_have_text(text)
    assert "" == second_page.evaluate("location.search")


def test_options_and_version_are_in_the_link(site: Site) -> None:
    """Only values other than the defaults are."""
    page = site.open()
    page.get_by_label("MCP version").select_option("2025-06-18")
    page.get_by_text("Options", exact=True).click()
    page.get_by_label("Unknown properties").select_option("strip")
    page.get_by_label("Assert formats").check()
    page.get_by_role("button", name="Copy link").click()

    second_page = site.open(page.evaluate("location.hash"))
    expect(second_page.get_by_label("MCP version")).to_have_value("2025-06-18")
    expect(second_page.locator("#unknown-arguments")).to_have_value("strip")
    expect(second_page.locator("#assert-formats")).to_be_checked()
    expect(second_page.locator("#coercion")).to_have_value("safe-scalars")


def test_a_link_opens_a_registered_tool(site: Site) -> None:
    """It has the server and the name, and not the definition."""
    schema = {"type": "object", "required": ["linked"]}
    site.register("linked", {"name": "a", "inputSchema": {"type": "object"}})
    site.register("linked", {"name": "b", "inputSchema": schema})
    page = site.open("#tab=validate&server=linked&tool=b&payload=%7B%7D")

    expect(page.get_by_label("Registered tools")).to_have_value("linked / b")
    expect(page.locator("#verdict")).to_contain_text('"linked" is required')
    page.get_by_role("button", name="Copy link").click()
    assert "required" not in page.evaluate("location.hash")


def test_an_oversized_text_is_not_in_the_link(site: Site) -> None:
    """The page reports it; the link still has the tab."""
    page = site.open()
    editor(page, "JSON").fill(f'{{"city": "{"x" * 9_000}"}}')
    page.get_by_role("button", name="Copy link").click()

    expect(page.get_by_role("button", name="Too large for a link")).to_be_visible()
    assert "#tab=validate" == page.evaluate("location.hash")


def test_another_link_in_the_same_window_is_followed(site: Site) -> None:
    """The user may paste an address over the present one."""
    page = site.open()
    page.evaluate("location.hash = '#tab=message&message=%5B%5D'")

    expect(page.get_by_role("tab", name="Message")).to_have_attribute("aria-selected", "true")
    expect(editor(page, "JSON-RPC message")).to_have_value("[]")
