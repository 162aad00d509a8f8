"""The tabs beside Validate."""

import json
import re

from playwright.sync_api import expect

from .conftest import Site, choose_example, editor, marked_text, selected_text


def test_each_tool_has_its_disposition_and_findings(site: Site) -> None:
    """A finding links to its location in the list."""
    page = site.open()
    choose_example(page, "A list of tools with faults")

    expect(page.locator("#check-status")).to_have_text("4 tools: 1 keep, 1 warn, 2 drop")
    outcomes = page.locator("#check-outcomes .part")
    expect(outcomes.locator("h3")).to_have_text(["search", "send mail", "delete_all", "resize"])
    expect(outcomes.locator(".part-head .badge")).to_have_text(["keep", "warn", "drop", "drop"])
    page.get_by_role("button", name='found "intger"').click()
    assert '"type": "intger"' == selected_text(editor(page, "Definitions"))
    assert '"type": "intger"' == marked_text(page, "#tools-pane")

    page.get_by_role("combobox", name="Report").select_option("error")
    expect(page.locator("#check-outcomes .finding")).to_have_count(2)


def test_a_finding_links_to_its_clause(site: Site) -> None:
    """The link is to the chosen version; the page fetches it only on a click."""
    page = site.open()
    choose_example(page, "A list of tools with faults")
    link = page.get_by_role("link", name="Specification").first
    expect(link).to_have_attribute("href", re.compile("/specification/2025-11-25/"))
    page.get_by_label("MCP version").select_option("2025-06-18")

    expect(link).to_have_attribute("href", re.compile("/specification/2025-06-18/"))
    expect(link).to_have_attribute("rel", "noopener noreferrer")


def test_a_tool_is_converted_for_every_api(site: Site) -> None:
    """Results are side by side with their losses; strict mode changes them."""
    page = site.open()
    choose_example(page, "A tool for eight provider APIs")
    expect(page.locator("#convert-status")).to_have_text("Converted for 9 of 9 APIs")
    cards = page.locator("#conversions .card")
    expect(cards).to_have_count(9)
    anthropic = page.get_by_role("region", name="Anthropic", exact=True)
    expect(anthropic).to_contain_text("Not strict")
    expect(anthropic).to_contain_text('"input_schema": {')

    ollama = page.get_by_role("region", name="Ollama", exact=True)
    ollama.get_by_role("button", name=re.compile("^widened pattern ")).click()
    assert r'"pattern": "^[^/]+$"' == selected_text(editor(page, "Definitions"))

    page.get_by_text("Always", exact=True).click()
    expect(page.locator("#convert-status")).to_have_text(re.compile("^Converted for [1-8] of 9"))
    gemini = page.get_by_role("region", name="Gemini", exact=True)
    expect(gemini).to_contain_text("Gemini has no strict mode")
    openai = page.get_by_role("region", name="OpenAI Chat", exact=True)
    expect(openai.locator(".badge.good")).to_have_text("Strict")
    expect(openai).to_contain_text(re.compile(r"\d+ losses: .*\d equivalent"))


def test_the_converted_tool_keeps_its_numbers(site: Site) -> None:
    """They have the spelling of the definition."""
    page = site.open("#tab=convert")
    schema = {"type": "object", "properties": {"n": {"maximum": 12345678901234567890}}}
    editor(page, "Definitions").fill(json.dumps({"name": "t", "inputSchema": schema}))

    anthropic = page.get_by_role("region", name="Anthropic", exact=True)
    expect(anthropic).to_contain_text('"maximum": 12345678901234567890')


def test_a_message_has_findings_and_the_response_that_is_due(site: Site) -> None:
    """They depend on the sender and the version."""
    page = site.open()
    choose_example(page, "A broken message")
    expect(page.locator("#message-status")).to_have_text("Invalid: 2 violations")
    page.get_by_role("button", name="expected a string, found 5").click()
    assert '"name": 5' == selected_text(editor(page, "JSON-RPC message"))
    page.get_by_text("Error response to send").click()
    expect(page.locator("#message-outcome")).to_contain_text('"code": -32602')

    page.get_by_label("Sender").select_option("server")
    expect(page.locator("#message-outcome")).to_contain_text("METHOD_")


def test_a_response_is_checked_by_the_method_it_answers(site: Site) -> None:
    """The response itself does not have the method."""
    page = site.open("#tab=message")
    page.get_by_label("Sender").select_option("server")
    message = {"jsonrpc": "2.0", "id": 1, "result": {"tools": 5}}
    editor(page, "JSON-RPC message").fill(json.dumps(message))
    expect(page.locator("#message-status")).to_have_text("Valid")

    page.get_by_label("Answers").fill("tools/list")
    expect(page.locator("#message-outcome")).to_contain_text("expected an array")


def test_a_transcript_is_checked_as_one_session(site: Site) -> None:
    """Rules that span messages are applied; a finding leads to its place in its line."""
    page = site.open()
    choose_example(page, "A transcript")
    expect(page.locator("#transcript-status")).to_have_text("6 messages: 3 errors")
    outcome = page.locator("#session-outcome")
    expect(outcome.locator(".message-summary").first).to_have_text("initialize #1")
    page.get_by_role("button", name="an earlier request has this id").click()
    transcript = editor(page, "Messages, one per line")
    assert '"id": 1' == selected_text(transcript)
    line = transcript.evaluate("it => it.value.slice(0, it.selectionStart).split('\\n').length")
    assert 4 == line

    ping = '{"jsonrpc": "2.0", "id": 5, "method": "ping"}'
    transcript.fill(f"{ping}\nnot JSON\n\n{ping}\n")
    expect(outcome.locator(".message-number")).to_have_text(["1", "2", "4"])
    expect(outcome).to_contain_text("PAYLOAD_NOT_JSON")


def test_a_partial_transcript_is_checked(site: Site) -> None:
    """Rules that need the whole session do not apply."""
    page = site.open("#tab=transcript")
    call = {"jsonrpc": "2.0", "id": 9, "result": {}}
    line = json.dumps({"direction": "server", "message": call})
    editor(page, "Messages, one per line").fill(line)
    expect(page.locator("#session-outcome")).to_contain_text("RESPONSE_")

    page.get_by_label("From the beginning of the session").uncheck()
    expect(page.locator("#transcript-status")).to_have_text("1 message: no findings")


def test_two_versions_are_compared(site: Site) -> None:
    """A change leads to its place on both sides; a breaking one has a payload as its proof."""
    page = site.open()
    choose_example(page, "Two versions of a tool")
    expect(page.locator("#compare-status")).to_have_text("Breaking: 4 changes")
    outcome = page.locator("#compare-outcome")
    expect(outcome.locator(".part-head")).to_have_text(["breakingsearchchanged"])
    expect(outcome.locator(".finding .badge")).to_have_text(
        ["cosmetic", "breaking", "breaking", "compatible"]
    )
    page.get_by_role("button", name='type changed from "number" to "integer"').click()
    assert '"type": "number"' == selected_text(editor(page, "Old definitions"))
    assert '"type": "integer"' == selected_text(editor(page, "New definitions"))
    added = outcome.locator(".finding", has_text='the required property "folder" was added')
    added.get_by_text("Payload that proves it").click()
    expect(added.locator("pre")).to_have_text(re.compile('^{"query"'))

    page.get_by_label("Open objects").select_option("as-written")
    expect(outcome.locator(".finding .badge")).to_have_text(
        ["cosmetic", "breaking", "breaking", "breaking"]
    )
    editor(page, "New definitions").fill(editor(page, "Old definitions").input_value())
    expect(page.locator("#compare-status")).to_have_text("No changes")
    editor(page, "New definitions").fill('[{"name": "search",\n}]')
    expect(page.locator("#compare-status")).to_have_text("The new definitions are not JSON")
    expect(page.locator("#new-note")).to_have_text(
        'Not JSON at line 2, column 1: expected the name of a property, in "double quotes"'
    )


def test_tools_are_inferred_from_source_text(site: Site) -> None:
    """A diagnostic and a tool lead to their places; the functions can be chosen."""
    page = site.open()
    choose_example(page, "Python functions")
    expect(page.locator("#infer-status")).to_have_text("1 tool, 1 error")
    source = editor(page, "Python source")
    page.get_by_role("button", name="UNRESOLVED_NAME line 14, column 19").click()
    assert "Stream" == selected_text(source)
    page.get_by_role("button", name="line 4", exact=True).click()
    assert selected_text(source).startswith("def get_forecast(city: str")
    definition = page.get_by_role("region", name="Definition of get_forecast")
    expect(definition).to_contain_text('"description": "Name of the city."')

    page.get_by_label("Functions").fill("get_forecast")
    expect(page.locator("#infer-status")).to_have_text("1 tool")
    page.get_by_label("Functions").fill("watch")
    page.get_by_label("Types without a schema").select_option("any")
    expect(page.locator("#infer-status")).to_have_text("1 tool, 1 warning")
    source.fill("def broken(:")
    expect(page.locator("#infer-outcome")).to_contain_text("line 1, column 12")


def test_tools_go_with_the_tabs_that_need_them(site: Site) -> None:
    """Definitions of one tab are available in the next."""
    page = site.open()
    tool = '{"name": "kept", "inputSchema": {"type": "object"}}'
    editor(page, "Definitions").fill(tool)
    page.get_by_role("tab", name="Check tools").click()
    expect(page.locator("#check-outcomes h3")).to_have_text(["kept"])
    page.get_by_role("tab", name="Convert").click()
    expect(page.locator("#conversions")).to_contain_text('"name": "kept"')

    expect(editor(page, "Definitions")).to_have_value(tool)
