"""The guard of a served cloud: programs that reach it by its own names may talk to it, and no web page of another site.

A browser sends what a page tells it to send, also to the loopback address: it names the page in `Origin` and `Sec-Fetch-Site`, and the
name by which it found the address in `Host` (DNS rebinding makes a foreign name lead here). Changes to the cloud's own paths need a secret
besides, which is made at the start.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from fakeazure.transports import imds, own
from fakeazure.transports.metadata import ALIASES

AZURE_NAMES = frozenset(
    {
        "management.azure.com",
        "login.microsoftonline.com",
        "prices.azure.com",
        "169.254.169.254",
        "metadata.azure.internal",
    }
)
"""Hosts of Azure that the cloud stands for: ARM, the authority, the retail prices, IMDS."""
VARIABLE = "FAKEAZURE_SECRET"
"""The variable of the environment that `fakeazure serve` prints its secret in."""
PAGE_HEADERS: Mapping[str, str] = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""The headers for a browser about the page and the own paths; the page adds its policy."""
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_READS = ("GET", "HEAD")


@dataclass(frozen=True, slots=True)
class Denied:
    """The reason why a request is not let in, with its HTTP status."""

    status: int
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Guard:
    """Judges requests before anything else reads them.

    `secret` is asked of changes to the own paths, of clients of the authority and of App Service's identity endpoint. `names` are hosts
    that lead here, beside the loopback ones and the address that a connection came to. An `opened` guard lets everything in: where the
    cloud is in the process of its clients.
    """

    secret: str
    names: frozenset[str] = frozenset()
    opened: bool = False

    def problem(
        self, method: str, path: str, headers: Mapping[str, str], *, url: str = "", here: str = ""
    ) -> Denied | None:
        """Return the reason why a request is refused, None if it is let in.

        `path` is decoded, `headers` have lower-cased names, `url` is the request's as it came, `here` the local address of its connection.
        """
        if self.opened:
            return None
        is_own = _is_own(method, path)
        allowed = self.names | ({here} if here else frozenset()) | (frozenset() if is_own else AZURE_NAMES)
        hosts = [_name_of(headers.get("host", "")), _host_of(url) if "://" in url and not url.startswith("/") else ""]
        foreign = next((host for host in hosts if host and not _leads_here(host, allowed)), None)
        if foreign is not None:
            return _forbidden(
                f"This cloud does not answer to the host '{foreign[:100]}'; --allowed-host NAME of fakeazure serve adds one."
            )
        origin = headers.get("origin")
        if headers.get("sec-fetch-site", "").strip().lower() == "cross-site" or (
            origin is not None and not _leads_here(_host_of(origin), allowed)
        ):
            return _forbidden("A page of another site may not talk to this cloud.")
        if is_own and method not in _READS and not self.knows(_bearer(headers.get("authorization", ""))):
            return Denied(
                401,
                "Unauthorized",
                f"A change needs the header 'Authorization: Bearer {VARIABLE}', with the value that fakeazure serve printed.",
            )
        return None

    def knows(self, secret: str) -> bool:
        """Return whether a secret is the right one, compared in a time that says nothing of it; any is for an opened guard."""
        return self.opened or hmac.compare_digest(self.secret.encode(), secret.encode("utf-8", "replace"))


OPEN = Guard("", opened=True)
"""For a cloud in the process of its clients, which no browser reaches."""


def exposure(host: str, ports: Sequence[int]) -> str | None:
    """Return what a cloud that listens on `host` shows to other machines, in one line; None for a loopback address."""
    if _leads_here(host, _LOOPBACK):
        return None
    where = "every address of this machine" if host in ("0.0.0.0", "") else host
    return (
        f"fakeazure: it listens on {where}, port {' and '.join(map(str, ports))}: whoever reaches that reads its page and its calls with "
        f"their bodies, and gets tokens from IMDS, with which everything in the cloud can be changed; only reset, snapshot and restore "
        f"need {VARIABLE}. By a name it is reached where --allowed-host gives it."
    )


def new_secret() -> str:
    """Return a secret that nobody can guess, in hexadecimal digits: no shell and no option reads them as something else."""
    from secrets import token_hex

    return token_hex(16)


def _is_own(method: str, path: str) -> bool:
    """Return whether a request is for the page or an own path. IMDS of one VM and the files that Azure's answers point at are Azure's."""
    lowered = path.lower()
    if not lowered.startswith(own.PREFIX):
        return path == "/"
    served_file = method in _READS and (lowered == ALIASES or lowered.startswith(own.CONSOLE))
    return not served_file and not imds.is_metadata(path)


def _leads_here(host: str, allowed: frozenset[str]) -> bool:
    if host in _LOOPBACK or host in allowed:
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.endswith(".localhost")


def _name_of(authority: str) -> str:
    """The host of `HOST:PORT`, lower-cased, without brackets and the dot at its end."""
    host = authority[1:].partition("]")[0] if authority.startswith("[") else authority.partition(":")[0]
    return host.strip().lower().removesuffix(".")


def _host_of(url: str) -> str:
    """The host of a URL of the web, one that leads nowhere for anything else."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return "?"
    return host.removesuffix(".") if host and parts.scheme in ("http", "https") else "?"


def _bearer(authorization: str) -> str:
    scheme, _, token = authorization.strip().partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _forbidden(message: str) -> Denied:
    return Denied(403, "Forbidden", message)
