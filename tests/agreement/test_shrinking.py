"""Detection and reduction of a disagreement."""

from agreement.__main__ import reproduction
from agreement.editions import EDITIONS
from agreement.engines import Engines, create_engines
from agreement.schemas import Question
from agreement.shrinking import shrunk


def test_a_disagreement_is_detected_and_reduced() -> None:
    """Only the parts that cause the disagreement remain."""
    disputed = {"pattern": "^.$", "title": "jsonschema-rs admits U+2028; see the table"}
    schema = {
        "type": "object",
        "required": ["a", "b"],
        "properties": {"a": {"type": "string"}, "b": {"items": disputed}},
    }
    engines = create_engines(Question(EDITIONS[-1], schema, {}))
    assert isinstance(engines, Engines)
    (finding,) = engines.examine('{"a": "text", "b": ["\\u2028"], "c": null}')

    assert {
        "kind": "verdicts differ",
        "detail": '{"fast": false, "complete": false, "jsonschema-rs": true}',
        "edition": "2020-12",
        "assert_formats": False,
        "schema": {"pattern": "^.$"},
        "documents": {},
        "payload": "\u2028",
    } == reproduction(shrunk(finding))
