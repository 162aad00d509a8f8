"""The tab Validate: from a tool and arguments to a verdict, a place, and a repair."""

import json
import re
from typing import Any

import pytest
from playwright.sync_api import expect

from .conftest import Site, choose_example, editor, marked_text, selected_text

_SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer", "maximum": 7}},
    "required": ["city"],
    "additionalProperties": False,
}
_TOOL: dict[str, Any] = {"name": "get_weather", "inputSchema": _SCHEMA}


def test_a_pasted_tool_validates_typed_payloads(site: Site) -> None:
    """The verdict is updated while the user types."""
    page = site.open()
    editor(page, "Definitions").fill(json.dumps(_TOOL))
    editor(page, "JSON").fill('{"ctiy": "Oslo", "days": 10}')

    verdict = page.locator("#verdict")
    expect(page.locator("#verdict-status")).to_have_text("Invalid: 2 violations")
    expect(verdict).to_contain_text('unknown property "ctiy"; did you mean "city"')
    expect(verdict).to_contain_text("The arguments of the call to get_weather are not valid:")

    editor(page, "JSON").fill('{"city": "Oslo"}')
    expect(page.locator("#verdict-status")).to_have_text("Valid")
    expect(verdict.get_by_role("button")).to_have_count(0)


@pytest.mark.parametrize(
    ("form", "pointer"),
    [
        ('{"name": "first", "inputSchema": {"type": "object"}}', ""),
        ('[{"name": "zero", "inputSchema": {"type": "object"}}, %s]', "/1"),
        ('{"tools": [%s]}', "/tools/0"),
        ('{"jsonrpc": "2.0", "id": 1, "result": {"tools": [%s]}}', "/result/tools/0"),
    ],
)
def test_tools_are_read_in_each_form(site: Site, form: str, pointer: str) -> None:
    """One tool, an array, a result, or a message; the first of several is chosen."""
    page = site.open()
    tool = '{"name": "last", "inputSchema": {"type": "object", "required": ["a"]}}'
    editor(page, "Definitions").fill(form % tool if "%s" in form else form)
    names = re.findall(r'"name": "(\w+)"', editor(page, "Definitions").input_value())

    choice = page.get_by_role("combobox", name="Tool", exact=True)
    expect(choice.locator("option")).to_have_text(names)
    choice.select_option(names[-1])
    editor(page, "JSON").fill("{}")
    expected = "Valid" if names[-1] == "first" else "Invalid: 1 violation"
    expect(page.locator("#verdict-status")).to_have_text(expected)


def test_a_violation_links_to_payload_and_schema(site: Site) -> None:
    """The path has a reference, escapes and a repeated key."""
    tool = """{"tools": [{"name": "t", "inputSchema": {
      "type": "object",
      "properties": {"a/b": {"items": {"$ref": "#/$defs/x~1y"}}},
      "$defs": {"x/y": {"properties": {"n \\"\\u00e9\\"": {"type": "integer"}}}}
    }}]}"""
    page = site.open()
    editor(page, "Definitions").fill(tool)
    editor(page, "JSON").fill(r"""{
      "text": "} ] \\\" {\"a/b\": 1",
      "a/b": [{}, {"n \"é\"": "seven"}]
    }""")
    page.get_by_role("button", name="expected an integer").click()

    payload = editor(page, "JSON")
    expect(payload).to_be_focused()
    assert r'"n \"é\"": "seven"' == selected_text(payload)
    assert '"type": "integer"' == marked_text(page, "#tools-pane")


def test_the_repair_is_shown_and_applied(site: Site) -> None:
    """A diff shows it; unchanged parts keep their spelling; it can be undone."""
    page = site.open()
    payload = editor(page, "JSON")
    choose_example(page, "JSON in strings")
    before = payload.input_value()

    difference = page.get_by_role("region", name="Difference of the repair")
    expect(difference.locator(".removed")).to_have_count(3)
    expect(difference.locator(".added").first).to_contain_text('"when": {')
    page.get_by_role("button", name="Apply").click()

    expect(page.locator("#verdict-status")).to_have_text("Valid")
    expect(payload).to_have_value(re.compile(r'"hours": 1\.5\n'))
    payload.press("Control+z")
    expect(payload).to_have_value(before)
    expect(page.locator("#verdict-status")).to_have_text("Invalid: 3 violations")


def test_the_repair_keeps_numbers_as_they_are_spelled(site: Site) -> None:
    """Numbers may exceed the precision of JavaScript."""
    page = site.open()
    schema = {"type": "object", "properties": {"on": {"type": "boolean"}}}
    editor(page, "Definitions").fill(json.dumps({"name": "t", "inputSchema": schema}))
    editor(page, "JSON").fill('{"big": 12345678901234567890, "on": "true"}')
    page.get_by_role("button", name="Apply").click()

    expect(editor(page, "JSON")).to_have_value('{\n  "big": 12345678901234567890,\n  "on": true\n}')


def test_options_change_the_verdict(site: Site) -> None:
    """The options are unknown properties, defaults, and the protocol version."""
    page = site.open()
    tool = {"name": "t", "inputSchema": {"type": "object", "properties": {"a": {"default": 1}}}}
    editor(page, "Definitions").fill(json.dumps(tool))
    editor(page, "JSON").fill('{"b": 2}')
    expect(page.locator("#verdict-status")).to_have_text("Valid")

    page.get_by_text("Options", exact=True).click()
    page.get_by_label("Unknown properties").select_option("reject")
    expect(page.locator("#verdict-status")).to_have_text("Invalid: 1 violation")
    page.get_by_label("Unknown properties").select_option("report")
    expect(page.locator("#verdict-status")).to_have_text("Valid, with 1 warning")
    page.get_by_label("Apply defaults").check()
    expect(page.get_by_role("region", name="Difference of the repair")).to_contain_text('"a": 1')


def test_a_result_is_validated_against_the_output_schema(site: Site) -> None:
    """The place of the keyword is behind a reference of that schema."""
    page = site.open()
    choose_example(page, "A result against its output schema")
    page.get_by_role("button", name="expected a number").click()

    assert '"high": "warm"' == selected_text(editor(page, "JSON"))
    assert '"type": "number"' == marked_text(page, "#tools-pane")


def test_a_registered_tool_is_chosen_from_pages(site: Site) -> None:
    """The list is by server, in pages; the tool is validated by its name."""
    site.register("many", *({**_TOOL, "name": f"tool_{i:03}"} for i in range(60)))
    site.register("single", _TOOL)
    page = site.open()
    page.get_by_text("Registered", exact=True).click()
    tools = page.get_by_label("Registered tools")
    expect(tools.locator("option")).to_have_count(50)
    expect(editor(page, "Definitions")).not_to_be_editable()
    expect(page.locator("#tools-format")).to_be_hidden()
    expect(page.locator("#registered-note")).to_have_text("The first 50 tools")
    page.get_by_role("button", name="Load more").click()
    expect(tools.locator("option")).to_have_count(61)

    page.get_by_label("Server", exact=True).fill("single")
    expect(tools.locator("option")).to_have_text(["single / get_weather"])
    with page.expect_request("**/v1/validate") as sent:
        editor(page, "JSON").fill('{"city": 5}')
    request: Any = sent.value.post_data_json
    assert ("single", "get_weather") == (request["server"], request["name"])
    expect(page.locator("#verdict-status")).to_have_text("Invalid: 1 violation")
    page.get_by_role("button", name="expected a string").click()
    assert '"type": "string"' == marked_text(page, "#tools-pane")

    page.get_by_text("Pasted", exact=True).click()
    expect(page.get_by_role("combobox", name="Tool", exact=True)).to_have_value("get_forecast")


def test_an_error_has_location_and_suggestion(site: Site) -> None:
    """A click on the location marks the text in the schema."""
    page = site.open()
    editor(page, "Definitions").fill(
        '{"name": "t", "inputSchema": {"type": "object", "properties": {"a": {"type": "strin"}}}}'
    )
    expect(page.locator("#verdict-status")).to_have_text("Error: Invalid schema")
    expect(page.locator("#verdict")).to_contain_text('found "strin"; did you mean "string"?')
    expect(page.locator("#verdict")).to_contain_text("INVALID_SCHEMA")
    page.locator("#verdict .finding-place").click()
    assert '"type": "strin"' == marked_text(page, "#tools-pane")


def test_a_broken_definition_says_where(site: Site) -> None:
    """Text that is not JSON has a line and a column; JSON also has a location."""
    page = site.open()
    definitions = editor(page, "Definitions")
    definitions.fill('{\n  "name": "t",\n  "inputSchema": {"type": "object",}\n}')
    expect(page.locator("#verdict-status")).to_have_text("The definitions are not JSON")
    expect(page.locator("#tools-note")).to_have_text(
        'Not JSON at line 3, column 36: expected the name of a property, in "double quotes"'
    )
    expect(page.locator("#tools-pane mark.error")).to_have_text("}")

    definitions.fill(
        '[\n{"name": "t",\n "inputSchema": {"properties": {"a": {"minimum": "1"}}}}\n]'
    )
    expect(page.locator("#verdict .finding")).to_contain_text("/properties/a/minimum")
    expect(page.locator("#verdict .finding")).to_contain_text("line 3, column 39")
    page.get_by_role("tab", name="Convert").click()
    expect(page.locator("#convert-status")).to_have_text("Error: Invalid schema")
    expect(page.locator("#conversions .finding")).to_have_count(1)
    expect(page.locator("#conversions .finding")).to_contain_text("line 3, column 39")
    page.locator("#conversions .finding-place").click()
    assert '"minimum": "1"' == marked_text(page, "#tools-pane")


def test_malformed_json_has_a_verdict(site: Site) -> None:
    """The verdict has the position of the fault."""
    page = site.open()
    editor(page, "JSON").fill('{"city": "Os')

    expect(page.locator("#verdict")).to_contain_text("PAYLOAD_NOT_JSON")
    expect(page.locator("#verdict")).to_contain_text("line 1, column")
