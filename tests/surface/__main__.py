"""Writes the public interface of each client to `clients/LANGUAGE/api.txt`.

Usage, in the folder `tests`: `python -m surface [CLIENT...]`, with names of
`conformance.languages`. The clients of TypeScript and Java are built first.
"""

import sys

from surface.surfaces import SURFACES

for client in sys.argv[1:] or SURFACES:
    path, render = SURFACES[client]
    path.write_text(render(), encoding="utf-8")
