"""What is wrong with an entry of the log."""

import json

import pytest
from fuzz.watched import unexpected

METHOD = "/sidecheck.v1.ValidationService/Validate"
UNSENT = f"ExecuteBatchError raised in core by servicer method [{METHOD}]"


@pytest.mark.parametrize(
    ("wrong", "log_message", "left"),
    [
        pytest.param(False, UNSENT, {METHOD}, id="its caller left"),
        pytest.param(True, UNSENT, set(), id="nobody left"),
        pytest.param(True, UNSENT, {METHOD.replace("Validate", "Check")}, id="another one left"),
        pytest.param(True, f"Unexpected [{METHOD}]", {METHOD}, id="another error"),
    ],
)
def test_an_answer_that_is_not_sent_is_an_error_unless_the_caller_left(
    wrong: bool, log_message: str, left: set[str]
) -> None:
    """By the method that gRPC names."""
    entry = json.dumps({"level": "error", "said": log_message})

    assert wrong == (unexpected(entry, left) is not None)
