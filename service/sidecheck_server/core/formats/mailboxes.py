"""Mail addresses: the formats ``email`` and ``idn-email``.

Libraries for mail addresses check whether mail can be delivered, so they reject
reserved domains and unusual characters that the grammar has, and one of them depends
on a DNS resolver. This module checks the grammar alone. Dialects before 2020-12 cite
RFC 5322, section 3.4.1, instead; its comments, folded lines and obsolete forms belong
in message headers, and are rejected in every dialect.
"""

import re

import idna

# idna would load its mapping tables at the first use otherwise.
import idna.uts46data

from sidecheck_server.core.formats.hosts import is_idn_hostname, is_ipv4, is_ipv6, is_ldh_hostname

__all__ = ["is_email", "is_idn_email"]

#: RFC 5321, section 4.5.3.1.1, in octets.
LONGEST_LOCAL_PART = 64
#: With the longest domain of section 4.5.3.1.2.
LONGEST = LONGEST_LOCAL_PART + len("@") + 255

IPV6_TAG = "ipv6:"

#: RFC 6531, section 3.3: UTF8-non-ascii. Surrogates have no UTF-8.
NON_ASCII = "\u0080-\ud7ff\ue000-\U0010ffff"


def compile_local_part(others: str) -> re.Pattern[str]:
    """Return the pattern of Local-part (RFC 5321, section 4.1.2) with *others* allowed as well."""
    atom = rf"[A-Za-z0-9!#$%&'*+\-/=?^_`{{|}}~{others}]++"
    quoted = rf'"(?:[ !#-\[\]-~{others}]|\\[ -~])*+"'
    return re.compile(rf"{atom}(?:\.{atom})*+|{quoted}")


LOCAL_PART = compile_local_part("")
IDN_LOCAL_PART = compile_local_part(NON_ASCII)


def is_email(text: str) -> bool:
    """Return whether *text* is a Mailbox (RFC 5321, section 4.1.2).

    The local part has at most 64 characters. Strings longer than 320 characters are rejected.
    """
    if len(text) > LONGEST:
        return False
    local_part, _, domain = text.rpartition("@")
    return (
        len(local_part) <= LONGEST_LOCAL_PART
        and LOCAL_PART.fullmatch(local_part) is not None
        and (is_ldh_hostname(domain) or is_address_literal(domain))
    )


def is_idn_email(text: str) -> bool:
    """Return whether *text* is a Mailbox with the extensions of RFC 6531, section 3.3.

    The local part has at most 64 octets in UTF-8. The domain may be as users write it:
    it is mapped (UTS #46) before it is checked, as for a look-up (RFC 5891, section
    5.2). Strings longer than 320 characters are rejected.
    """
    if len(text) > LONGEST:
        return False
    local_part, _, domain = text.rpartition("@")
    return (
        IDN_LOCAL_PART.fullmatch(local_part) is not None
        and len(local_part.encode()) <= LONGEST_LOCAL_PART
        and (is_ldh_hostname(domain) or is_address_literal(domain) or is_mapped_hostname(domain))
    )


def is_address_literal(text: str) -> bool:
    """Return whether *text* is an address-literal (RFC 5321, section 4.1.3).

    No tag but ``IPv6`` has been registered.
    """
    if not (text.startswith("[") and text.endswith("]")):
        return False
    address = text[1:-1]
    if address[: len(IPV6_TAG)].lower() == IPV6_TAG:
        return is_ipv6(address[len(IPV6_TAG) :])
    return is_ipv4(address)


def is_mapped_hostname(text: str) -> bool:
    """Return whether *text* is an internationalized host name once it is mapped (UTS #46)."""
    try:
        return is_idn_hostname(idna.uts46_remap(text))
    except idna.IDNAError:
        return False
