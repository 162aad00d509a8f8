"""Payloads that would be markup elsewhere, and large ones."""

import json

import pytest
from playwright.sync_api import Page, expect

from .conftest import Site, editor, put, selected_text

_MARKUP = '<img src=x onerror="window.ran = 1"><script>window.ran = 1</script>\'"</textarea>'


def _tool() -> dict[str, object]:
    schema = {
        "type": "object",
        "properties": {
            _MARKUP: {"enum": [_MARKUP], "description": _MARKUP},
            "n": {"type": "object"},
        },
        "required": [_MARKUP],
        "additionalProperties": False,
    }
    return {"name": _MARKUP, "title": _MARKUP, "description": _MARKUP, "inputSchema": schema}


def _expect_text(page: Page) -> None:
    """Expect that the markup is on the page as text, and that nothing of it became an element."""
    assert page.evaluate("window.ran") is None
    assert 0 == page.locator("img[src=x], main script").count()


def test_markup_is_shown_as_text_everywhere(site: Site) -> None:
    """Names, keys, values, versions, methods, and messages of the server are tested."""
    definition, markup = json.dumps(_tool()), json.dumps(_MARKUP)
    page = site.open()
    editor(page, "Definitions").fill(definition)
    editor(page, "JSON").fill(f'{{{markup}: 5, "{_MARKUP[:4]}": {markup}, "n": "{{}}"}}')
    expect(page.locator("#verdict")).to_contain_text("<img src=x onerror=")
    expect(page.get_by_role("region", name="Difference of the repair")).to_contain_text("<script>")
    _expect_text(page)
    page.locator("#verdict .finding-place").first.click()
    page.get_by_role("button", name="Copy as").click()
    for language in ("curl", "Python", "Command line"):
        page.get_by_role("dialog").get_by_text(language, exact=True).click()
        expect(page.get_by_role("region", name="Text to copy")).to_contain_text("<script>")
    page.keyboard.press("Escape")
    _expect_text(page)

    for tab, places in (("Check tools", "#check-outcomes"), ("Convert", "#conversions")):
        page.get_by_role("tab", name=tab).click()
        expect(page.locator(places)).to_contain_text("<img src=x onerror=")
        _expect_text(page)
    message = f'{{"jsonrpc": {markup}, "id": {markup}, "method": {markup}, {markup}: 1}}'
    page.get_by_role("tab", name="Message").click()
    editor(page, "JSON-RPC message").fill(message)
    page.get_by_label("Answers").fill(_MARKUP)
    expect(page.locator("#message-outcome")).to_contain_text("<img src=x")
    page.get_by_role("tab", name="Transcript").click()
    editor(page, "Messages, one per line").fill(message)
    expect(page.locator("#session-outcome")).to_contain_text("<img src=x")
    _expect_text(page)
    page.get_by_role("button", name="Copy link").click()
    _expect_text(site.open(page.evaluate("location.hash")))


def test_markup_in_registered_tools_stays_text(site: Site) -> None:
    """The list and the details of a tool are tested."""
    site.register(_MARKUP, _tool())
    page = site.open()
    page.get_by_text("Registered", exact=True).click()
    page.get_by_label("Server", exact=True).fill(_MARKUP)

    tools = page.get_by_label("Registered tools")
    expect(tools.locator("option")).to_have_text([f"{_MARKUP} / {_MARKUP}"])
    _expect_text(page)


def test_errors_of_any_server_are_shown_as_text(site: Site) -> None:
    """Only https links are active."""
    page = site.open()
    problem = {
        "type": "javascript:window.ran=1",
        "title": _MARKUP,
        "status": 400,
        "detail": _MARKUP,
        "reason": _MARKUP,
        "violations": [{"instance_location": _MARKUP, "code": _MARKUP, "message": _MARKUP}],
    }
    page.route("**/v1/validate", lambda route: route.fulfill(status=400, json=problem))
    editor(page, "JSON").fill("{}")

    expect(page.locator("#verdict")).to_contain_text("<img src=x onerror=")
    expect(page.locator("#verdict a")).to_have_count(0)
    _expect_text(page)


@pytest.mark.parametrize("shape", ["lines", "one line", "escapes"])
def test_a_megabyte_is_validated_and_shown(site: Site, shape: str) -> None:
    """The number of elements is small; a click leads to a fault at the end."""
    count = 30_000
    entries = {f"key_{index}": "value" * 3 for index in range(count)}
    payload = json.dumps({**entries, "last": "5"}, indent=None if shape == "one line" else 1)
    if shape == "escapes":
        payload = json.dumps({"text": '\\"' * 200_000, "last": "5"})
    assert 500_000 < len(payload) < 1_048_576
    page = site.open()
    tool = {
        "name": "t",
        "inputSchema": {"type": "object", "properties": {"last": {"type": "integer"}}},
    }
    editor(page, "Definitions").fill(json.dumps(tool))
    put(editor(page, "JSON"), payload)
    expect(page.locator("#verdict-status")).to_have_text("Invalid: 1 violation")
    assert 2_000 > page.evaluate("document.querySelectorAll('*').length")

    page.get_by_role("button", name="expected an integer").click()
    assert '"last": "5"' == selected_text(editor(page, "JSON"))
    page.get_by_role("button", name="Apply").click()
    expect(page.locator("#verdict-status")).to_have_text("Valid")
    page.get_by_role("tab", name="Message").click()
    expect(page.locator("#message-status")).to_have_text("Invalid: 2 violations")


def test_a_thousand_tools_are_checked_and_shown(site: Site) -> None:
    """The page shows a limited number of them."""
    tools = [{"name": f"tool {index}", "inputSchema": {"type": "object"}} for index in range(1_000)]
    page = site.open("#tab=check")
    put(editor(page, "Definitions"), json.dumps({"tools": tools}))

    expect(page.locator("#check-status")).to_have_text("1,000 tools: 0 keep, 1000 warn, 0 drop")
    expect(page.locator("#check-outcomes")).to_contain_text("and 700 tools more")


def test_deep_nesting_does_no_harm(site: Site) -> None:
    """Neither the page nor the server fails."""
    page = site.open()
    put(editor(page, "JSON"), "[" * 100_000)
    expect(page.locator("#verdict")).to_contain_text("nest too deeply")
    put(editor(page, "JSON"), "[" * 50_000 + "]" * 50_000)
    expect(page.locator("#verdict-status")).not_to_have_text("Valid")
    editor(page, "JSON").fill('{"city": "Oslo"}')

    expect(page.locator("#verdict-status")).to_have_text("Valid")
