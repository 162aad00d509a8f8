"""The public interface of each client is that of its committed description.

So a change of the interface is in the difference of the change. `make surface` describes it anew.
"""

import difflib

import pytest
from conformance.languages import LANGUAGES
from support.shared_material import REPOSITORY, unavailable
from surface.surfaces import SURFACES


@pytest.mark.parametrize("client", SURFACES)
def test_the_public_interface_is_described(client: str) -> None:
    """The failure shows the change."""
    if missing := LANGUAGES[client].missing_programs():
        unavailable(f"{', '.join(missing)} not on PATH: the {client} interface is not described")
    path, render = SURFACES[client]
    committed, described = path.read_text(encoding="utf-8").splitlines(), render().splitlines()
    name = str(path.relative_to(REPOSITORY))
    changes = difflib.unified_diff(committed, described, name, "the client", n=1, lineterm="")

    if text := "\n".join(changes):
        pytest.fail(f"write {name} anew with `make surface`:\n{text}", pytrace=False)
