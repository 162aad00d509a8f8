"""Writes the generated pages: ``python -m docs.generate`` in the root of the repository."""

from docs.generate.pages import PAGES, REPOSITORY

for path, render in PAGES.items():
    (REPOSITORY / path).write_text(render(), encoding="utf-8")
