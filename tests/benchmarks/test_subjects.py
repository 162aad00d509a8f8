"""The tools that are measured are the same in every clone."""

import json
from collections.abc import Callable
from types import ModuleType

import jsonschema
import pytest

TOOLS = [
    "open_ticket (102 B)",
    "clock_now (120 B)",
    "read_sensor (349 B)",
    "search_library (561 B)",
    "git_log (698 B)",
    "book_room (732 B)",
    "write_file (895 B)",
    "fetch_page (911 B)",
    "place_order (1.4 KB)",
    "list_issues (1.4 KB)",
    "send_parcel (1.4 KB)",
    "query_rows (1.7 KB)",
    "list_shipments (1.9 KB)",
    "create_event (2.3 KB)",
    "draw_shapes (4.4 KB)",
    "write_document (5.4 KB)",
    "save_report (5.8 KB)",
    "apply_workload (6.7 KB)",
    "search_records (41.5 KB)",
    "save_automation (49.6 KB)",
]


@pytest.mark.parametrize("has_shared_material", [True, False])
def test_the_tools_need_no_material_from_elsewhere(
    script: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch, has_shared_material: bool
) -> None:
    """Names and sizes show that generated definitions do not change either."""
    if not has_shared_material:
        monkeypatch.setenv("SIDECHECK_SHARED", "/nowhere")
    subjects = script("harness.subjects").all_subjects()

    assert TOOLS == [subject.title for subject in subjects]


def test_payloads_are_what_their_names_say(script: Callable[[str], ModuleType]) -> None:
    """Another implementation decides."""
    for subject in script("harness.subjects").all_subjects():
        schema = json.loads(subject.schema)
        jsonschema.Draft202012Validator.check_schema(schema)
        validator = jsonschema.Draft202012Validator(schema)
        decisions = [
            validator.is_valid(json.loads(text)) for text in (subject.valid, subject.invalid)
        ]
        assert [True, False] == decisions, subject.name


def test_fewer_tools_are_of_all_sizes(script: Callable[[str], ModuleType]) -> None:
    """Quick measurements use them."""
    subjects = script("harness.subjects").all_subjects(3)

    assert [TOOLS[0], TOOLS[9], TOOLS[18]] == [subject.title for subject in subjects]
