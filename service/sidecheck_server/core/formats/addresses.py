"""Names of hosts and mailboxes.

Formats ``hostname``, ``idn-hostname``, ``email`` and ``idn-email``.

The `idna` package implements the rules of internationalized names (RFC 5890 to 5893). This
module loads its tables.
"""

import codecs
import re
import unicodedata

import idna
import idna.uts46data  # here, so that the first check does not pay for it

from sidecheck_server.core.formats.identifiers import is_ipv4, is_ipv6

__all__ = [
    "is_email",
    "is_hostname",
    "is_idn_email",
    "is_idn_hostname",
    "is_ldh_hostname",
]

# Load the module of the codec that idna uses before the first check.
codecs.lookup("punycode")

#: RFC 1035, section 2.3.4: 255 octets, which include a length octet for each label and for
#: the root.
LONGEST_HOSTNAME = 253

LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
LDH_NAME = re.compile(rf"{LABEL}(?:\.{LABEL})*")
A_LABEL_PREFIX = "xn--"

#: Label separators of RFC 3490, section 3.1; RFC 5891 leaves them to the user interface.
SEPARATORS = ("\u002e", "\u3002", "\uff0e", "\uff61")

RIGHT_TO_LEFT = frozenset({"R", "AL", "AN"})


def is_ldh_hostname(text: str) -> bool:
    """Return whether *text* is a host name of ASCII labels (RFC 1123, section 2.1).

    A label has at most 63 letters, digits and hyphens, and the name at most 253 characters,
    without a trailing dot.
    """
    return len(text) <= LONGEST_HOSTNAME and LDH_NAME.fullmatch(text) is not None


def is_hostname(text: str) -> bool:
    """Return whether *text* is a host name with valid A-labels (RFC 5891, 4.4).

    A label that starts with ``xn--`` is the Punycode of a valid U-label. Names
    longer than 253 characters are rejected.
    """
    if not is_ldh_hostname(text):
        return False
    try:
        for label in text.lower().split("."):
            if label.startswith(A_LABEL_PREFIX):
                idna.ulabel(label)
    except idna.IDNAError:
        return False
    return True


def is_idn_hostname(text: str) -> bool:
    """Return whether *text* is an internationalized host name (RFC 5890, 2.3.2.3).

    Labels must have the registered form: no mapping is applied, so upper case is invalid
    except in plain ASCII labels (RFC 5891, section 4). If one label is written from right
    to left, all labels must satisfy the Bidi rule (RFC 5893, section 2).
    Names longer than 253 characters, also as A-labels, are rejected.
    """
    if len(text) > LONGEST_HOSTNAME:
        return False
    if text.isascii():
        return is_hostname(text)
    if text.endswith(SEPARATORS):
        return False
    try:
        labels = idna.decode(idna.encode(text)).split(".")
        if any(is_right_to_left(label) for label in labels):
            for label in labels:
                idna.check_bidi(label, check_ltr=True)
    except idna.IDNAError:
        return False
    return True


def is_right_to_left(label: str) -> bool:
    """Return whether *label* is an RTL label (RFC 5893, section 1.4)."""
    return any(unicodedata.bidirectional(character) in RIGHT_TO_LEFT for character in label)


#: RFC 5321, section 4.5.3.1.1, in octets.
LONGEST_LOCAL_PART = 64
#: The longest local part, "@" and the longest domain (section 4.5.3.1.2), in octets.
LONGEST_MAILBOX = LONGEST_LOCAL_PART + len("@") + 255

IPV6_TAG = "ipv6:"

#: RFC 6531, section 3.3: UTF8-non-ascii. Surrogates have no UTF-8.
NON_ASCII = "\u0080-\ud7ff\ue000-\U0010ffff"


def compile_local_part(more_characters: str) -> re.Pattern[str]:
    """Return the pattern of Local-part (RFC 5321, 4.1.2) with *more_characters*."""
    atom = rf"[A-Za-z0-9!#$%&'*+\-/=?^_`{{|}}~{more_characters}]++"
    quoted = rf'"(?:[ !#-\[\]-~{more_characters}]|\\[ -~])*+"'
    return re.compile(rf"{atom}(?:\.{atom})*+|{quoted}")


LOCAL_PART = compile_local_part("")
IDN_LOCAL_PART = compile_local_part(NON_ASCII)


def is_email(text: str) -> bool:
    """Return whether *text* is a Mailbox (RFC 5321, section 4.1.2).

    The local part has at most 64 characters. Strings longer than 320 characters are rejected.
    """
    if len(text) > LONGEST_MAILBOX:
        return False
    local_part, _, domain = text.rpartition("@")
    return (
        len(local_part) <= LONGEST_LOCAL_PART
        and LOCAL_PART.fullmatch(local_part) is not None
        and (is_ldh_hostname(domain) or is_address_literal(domain))
    )


def is_idn_email(text: str) -> bool:
    """Return whether *text* is a Mailbox with the extensions of RFC 6531, section 3.3.

    The local part has at most 64 octets in UTF-8. The domain is mapped (UTS #46) before the
    check, as for a look-up (RFC 5891, section 5.2), because users write unmapped names.
    Strings longer than 320 characters are rejected.
    """
    if len(text) > LONGEST_MAILBOX:
        return False
    local_part, _, domain = text.rpartition("@")
    return (
        IDN_LOCAL_PART.fullmatch(local_part) is not None
        and len(local_part.encode()) <= LONGEST_LOCAL_PART
        and (is_ldh_hostname(domain) or is_address_literal(domain) or is_mapped_hostname(domain))
    )


def is_address_literal(text: str) -> bool:
    """Return whether *text* is an address-literal (RFC 5321, section 4.1.3).

    ``IPv6`` is the only registered tag.
    """
    if not (text.startswith("[") and text.endswith("]")):
        return False
    address = text[1:-1]
    if address[: len(IPV6_TAG)].lower() == IPV6_TAG:
        return is_ipv6(address[len(IPV6_TAG) :])
    return is_ipv4(address)


def is_mapped_hostname(text: str) -> bool:
    """Return whether *text*, mapped by UTS #46, is an internationalized host name."""
    try:
        return is_idn_hostname(idna.uts46_remap(text))
    except idna.IDNAError:
        return False
