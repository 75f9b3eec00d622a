"""Decide if a browser may open an address: by its scheme, and by its network address."""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from reenact.errors import UsageError

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

SCHEMES = ("http", "https", "data", "blob")
"""Schemes that a hosted browser opens, besides the two addresses in `BLANK`."""
BLANK = ("about:blank", "about:srcdoc")
"""Addresses of empty documents. Other `about:` addresses are pages of the browser itself."""

_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):", re.IGNORECASE)
_KNOWN = re.compile(
    r"(?:https?|about|blob|chrome|chrome-extension|chrome-untrusted|data|devtools|file|filesystem|intent|javascript|mailto|"
    r"view-source):",
    re.IGNORECASE,
)
_LOCAL = re.compile(r"(?:localhost|127\.|\[::1\])", re.IGNORECASE)
_TRIMMED = "".join(map(chr, range(0x21)))
_DROPPED = str.maketrans("", "", "\t\n\r")

_PUBLIC_6 = ipaddress.IPv6Network("2000::/3")
_SPECIAL_4 = tuple(
    ipaddress.IPv4Network(one)
    for one in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4",
    )
)  # fmt: skip
_SPECIAL_6 = tuple(
    ipaddress.IPv6Network(one) for one in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
)
"""Parts of 2000::/3 that are not public; no IPv6 address outside of it is public either."""

_METADATA = tuple(
    ipaddress.ip_network(one)
    for one in (
        "169.254.169.0/24", "169.254.170.0/24", "100.100.100.200/32", "168.63.129.16/32", "192.0.0.192/32",
        "fd00:ec2::/32", "fd20:ce::254/128",
    )
)  # fmt: skip
"""Addresses of services that give a cloud machine's credentials to every program on it."""
_METADATA_NAMES = frozenset({
    "metadata", "metadata.google.internal", "metadata.goog", "instance-data", "instance-data.ec2.internal",
    "metadata.azure.internal", "metadata.tencentyun.com", "metadata.packet.net",
})  # fmt: skip


class RefusedAddressError(ValueError):
    """An address that a browser may not open; the text has the reason."""


def typed(text: str) -> str:
    """Complete a typed address as a browser does: `example.com` means `https://example.com`."""
    text = text.strip(_TRIMMED).translate(_DROPPED)
    if _KNOWN.match(text) or ((found := _SCHEME.match(text)) and text[found.end() :].startswith("//")):
        return text
    return f"{'http' if _LOCAL.match(text) else 'https'}://{text}"


def check_scheme(url: str) -> None:
    """Refuse an address whose scheme is not one of the web's.

    Args:
        url: A complete address, with its scheme.

    Raises:
        RefusedAddressError: The scheme is not allowed.
    """
    url = url.strip(_TRIMMED).translate(_DROPPED)
    found = _SCHEME.match(url)
    scheme = found[1].lower() if found is not None else ""
    if scheme in SCHEMES or re.split(r"[?#]", url.lower(), maxsplit=1)[0] in BLANK:
        return
    raise RefusedAddressError(f"{scheme or 'such'}: addresses are not opened by a server")


def is_refused(url: str) -> bool:
    """Return True if the scheme of an address is not allowed."""
    try:
        check_scheme(url)
    except RefusedAddressError:
        return True
    return False


def is_shown(url: str) -> bool:
    """Return True if the content of a hosted tab may be shown: a web, empty or error page."""
    return url in ("", ":", "chrome-error://chromewebdata/") or not is_refused(url)


@dataclass(frozen=True)
class Reach:
    """The machines that a browser may connect to.

    Metadata services of clouds are always refused.

    Attributes:
        private: True if loopback, private and link-local addresses may be opened.
        networks: Further networks that may be opened.
        names: Names that may be opened at any address, in lower case.
        own: The port of the server itself, which is refused at every address of this machine; 0 for none.
    """

    private: bool = False
    networks: tuple[Network, ...] = ()
    names: frozenset[str] = frozenset()
    own: int = 0

    @classmethod
    def of(cls, named: Iterable[str], *, private: bool = False) -> Reach:
        """Read networks, addresses and names: `10.0.0.0/8`, `192.168.1.7`, `wiki.internal`.

        Raises UsageError.
        """
        networks: list[Network] = []
        names = set()
        for one in named:
            try:
                networks.append(ipaddress.ip_network(one.strip("[]"), strict=False))
            except ValueError:
                if not re.fullmatch(r"(?=.*[a-z])[a-z0-9_-]+(\.[a-z0-9_-]+)*", one.lower()):
                    raise UsageError(
                        f"{one!r} is neither a network (10.0.0.0/8) nor an address nor the name of a machine"
                    ) from None
                names.add(one.lower())
        return cls(private, tuple(networks), frozenset(names))

    def check(self, name: str, address: Address, port: int) -> None:
        """Check that a connection may be made.

        Args:
            name: The machine's name, or its address, as the browser asked for it.
            address: The address that it resolved to, and that is connected to.
            port: The port.

        Raises:
            RefusedAddressError: It may not be made.
        """
        plain = name.rstrip(".").lower()
        forms = tuple(_forms(address))
        if plain in _METADATA_NAMES or any(_within(one, _METADATA) for one in forms):
            raise RefusedAddressError(f"{name} is a cloud's metadata service")
        if self.own and port == self.own and any(_is_here(one) for one in forms):
            raise RefusedAddressError("the server itself is not opened in its own browsers")
        if self.private or plain in self.names:
            return
        for one in forms:
            if not _within(one, self.networks) and (not is_public(one) or _is_here(one)):
                raise RefusedAddressError(
                    f"{name} is not on the public network; an operator can name it: --browse-private {name}"
                )


PUBLIC = Reach()
"""The public network alone."""


def is_public(address: Address) -> bool:
    """Return True if an address belongs to a machine on the public network."""
    if isinstance(address, ipaddress.IPv4Address):
        return not _within(address, _SPECIAL_4)
    return address in _PUBLIC_6 and not _within(address, _SPECIAL_6)


def _within(address: Address, networks: Iterable[Network]) -> bool:
    return any(address.version == one.version and address in one for one in networks)


def _forms(address: Address) -> Iterator[Address]:
    """Yield an address, and the IPv4 address that an IPv6 address contains."""
    yield address
    if isinstance(address, ipaddress.IPv4Address):
        return
    number = int(address)
    top = number >> 32
    if address.ipv4_mapped or address.sixtofour or address.teredo:
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo or (None, None))[1]
        assert inner is not None
        yield inner
    elif (
        top in (0, 0x0064FF9B << 64, 0xFFFF << 16)
        or number >> 80 == 0x0064FF9B0001
        or (top & 0xFFFFFFFF) in (0x5EFE, 0x02005EFE)
    ):
        # Compatible with IPv4, translated (well-known and local prefixes), ISATAP.
        yield ipaddress.IPv4Address(number & 0xFFFFFFFF)


def _is_here(address: Address) -> bool:
    """Return True if an address is one of this machine's."""
    if address.is_loopback or address.is_unspecified:
        return True
    return _bound(str(address), address.version)


@lru_cache(maxsize=512)
def _bound(address: str, version: int) -> bool:
    family = socket.AF_INET if version == 4 else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as one:
            one.bind((address, 0))
    except OSError:
        return False
    return True
