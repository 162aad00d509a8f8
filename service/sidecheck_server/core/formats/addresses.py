"""Internet addresses: the formats ``ipv4`` and ``ipv6``."""

from ipaddress import AddressValueError, IPv4Address, IPv6Address

__all__ = ["is_ipv4", "is_ipv6"]

LONGEST_IPV4 = len("255.255.255.255")
LONGEST_IPV6 = len("ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255")


def is_ipv4(text: str) -> bool:
    """Return whether *text* is four decimal octets without leading zeros (RFC 2673, section 3.2).

    Strings longer than 15 characters are none.
    """
    if len(text) > LONGEST_IPV4:
        return False
    try:
        IPv4Address(text)
    except AddressValueError:
        return False
    return True


def is_ipv6(text: str) -> bool:
    """Return whether *text* is an IPv6 address in text (RFC 4291, section 2.2).

    A zone (RFC 4007) is no part of it. Strings longer than 45 characters are none.
    """
    if len(text) > LONGEST_IPV6 or "%" in text:
        return False
    try:
        IPv6Address(text)
    except AddressValueError:
        return False
    return True
