"""Writes the values of the API for each client.

Usage, with the folder `clients` in PYTHONPATH: `python -m generate [OUTDIR]`.
"""

import subprocess
import sys
from pathlib import Path

import jinja2

from generate.api import read_api
from generate.languages.go import GoView
from generate.languages.java import JavaDecoderView, JavaEnumView, JavaRecordView
from generate.languages.methods import JavaMethodsView, RustMethodsView
from generate.languages.options import (
    GoOptionsView,
    JavaOptionsEnumView,
    JavaOptionsView,
    PythonEncoderView,
    PythonOptionsView,
    RustOptionsView,
    TypeScriptOptionsView,
)
from generate.languages.python import PythonDecoderView, PythonView
from generate.languages.reasons import (
    GoReasonsView,
    JavaReasonsView,
    PythonReasonsView,
    RustReasonsView,
    TypeScriptReasonsView,
)
from generate.languages.rust import RustView
from generate.languages.typescript import TypeScriptView
from generate.plan import read_plan
from generate.reasons import read_reasons
from generate.view import View

_FOLDER = Path(__file__).resolve().parent
_REPOSITORY = _FOLDER.parent.parent
_VIEWS: list[type[View]] = [
    GoOptionsView,
    GoReasonsView,
    GoView,
    JavaDecoderView,
    JavaEnumView,
    JavaMethodsView,
    JavaOptionsEnumView,
    JavaOptionsView,
    JavaReasonsView,
    JavaRecordView,
    PythonDecoderView,
    PythonEncoderView,
    PythonOptionsView,
    PythonReasonsView,
    PythonView,
    RustMethodsView,
    RustOptionsView,
    RustReasonsView,
    RustView,
    TypeScriptOptionsView,
    TypeScriptReasonsView,
    TypeScriptView,
]


def main() -> None:
    """Write the files of all clients below OUTDIR, by default the repository."""
    output = Path(sys.argv[1]) if len(sys.argv) > 1 else _REPOSITORY
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER / "templates"),
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # noqa: S701  (program text)
        keep_trailing_newline=True,
    )
    reasons = read_reasons(_REPOSITORY / "service/sidecheck_server/core/errors.py")
    plan = read_plan(_FOLDER / "values.toml", read_api(_REPOSITORY / "proto"), reasons)
    for kind in _VIEWS:
        template = environment.get_template(kind.template)
        paths = []
        for view in kind.all_views(plan.localized(kind.language)):
            names = [name for name in dir(view) if not name.startswith("_")]
            path = output.resolve() / view.output
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(template.render({name: getattr(view, name) for name in names}))
            paths.append(path)
        if kind.formatter:
            subprocess.run([*kind.formatter, *paths], cwd=_REPOSITORY, check=True)  # noqa: S603


if __name__ == "__main__":
    main()
