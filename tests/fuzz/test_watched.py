"""Classification of log entries as errors."""

import json

import pytest
from fuzz.watched import unexpected

METHOD = "/sidecheck.v1.ValidationService/Validate"
UNSENT = f"ExecuteBatchError raised in core by servicer method [{METHOD}]"


@pytest.mark.parametrize(
    ("wrong", "log_message", "left"),
    [
        pytest.param(False, UNSENT, {METHOD}, id="its caller cancelled"),
        pytest.param(True, UNSENT, set(), id="no caller cancelled"),
        pytest.param(
            True, UNSENT, {METHOD.replace("Validate", "Check")}, id="another caller cancelled"
        ),
        pytest.param(True, f"Unexpected [{METHOD}]", {METHOD}, id="another error"),
    ],
)
def test_an_unsent_answer_is_an_error_unless_the_caller_cancelled(
    wrong: bool, log_message: str, left: set[str]
) -> None:
    """The entry has the path of the method."""
    entry = json.dumps({"level": "error", "said": log_message})

    assert wrong == (unexpected(entry, left) is not None)
