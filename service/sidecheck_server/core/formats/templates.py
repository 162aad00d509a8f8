"""URI templates: the format ``uri-template``.

No library decides it: those that expand templates take much that the grammar
does not have, and one refuses some that it has.
"""

import re

from sidecheck_server.core.formats.uris import IPRIVATE, PCT_ENCODED, UCSCHAR

__all__ = ["is_uri_template"]

LONGEST = 1 << 16

#: Section 2.1, with the apostrophe that erratum 6937 gives back.
LITERALS = rf"[!#$&-;=?-\[\]_a-z~{UCSCHAR}{IPRIVATE}]++|{PCT_ENCODED}"

VARCHAR = f"(?:[A-Za-z0-9_]|{PCT_ENCODED})"
VARSPEC = rf"{VARCHAR}(?:\.?{VARCHAR})*+(?::[1-9][0-9]{{0,3}}+|\*)?+"
EXPRESSION = rf"\{{[+#./;?&=,!@|]?+{VARSPEC}(?:,{VARSPEC})*+\}}"

TEMPLATE = re.compile(f"(?:{LITERALS}|{EXPRESSION})*+")


def is_uri_template(text: str) -> bool:
    """Return whether *text* is a URI template of any level (RFC 6570, section 2).

    The operators that section 2.2 reserves are in the grammar, so they are valid.
    Strings longer than 65,536 characters are none.
    """
    return len(text) <= LONGEST and TEMPLATE.fullmatch(text) is not None
