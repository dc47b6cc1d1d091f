"""Hosts of Azure: the public cloud's, the sovereign clouds', and the two addresses that every VM has for the platform."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit

_DOMAINS = (
    "azure.com", "azure.net", "azure.us", "azure.cn", "azure.de", "azure.internal", "azurecr.io", "azurecr.us", "azurecr.cn", "azmk8s.io",
    "azmk8s.us", "azmk8s.cn", "azureedge.net", "azurefd.net", "azurewebsites.net", "azure-api.net", "azure-automation.net",
    "chinacloudapi.cn", "chinacloudapp.cn", "cloudapi.de", "cloudapp.net", "graph.microsoft.com", "login.live.com", "login.microsoft.com",
    "microsoftazure.de", "microsoftgraph.chinacloudapi.cn", "microsoftonline.cn", "microsoftonline.com", "microsoftonline.de",
    "microsoftonline.us", "trafficmanager.net", "usgovcloudapi.net", "usgovtrafficmanager.net", "windows.net", "windowsazure.cn",
    "windowsazure.com", "windowsazure.us",
)  # fmt: skip
"""Azure/azure-sdk-for-python `azure.identity.AzureAuthorityHosts`, azure-cli `azure.cli.core.cloud`, and the zones in
learn.microsoft.com/azure/security/fundamentals/azure-domains."""
_PLATFORM = frozenset({"169.254.169.254", "168.63.129.16"})
"""IMDS and the wire server: learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16."""


def host_name(host: object) -> str:
    """Return a host as clients give it to sockets, as text in lower case without the dot at its end; "" for what is none."""
    if isinstance(host, bytes | bytearray):
        host = host.decode("ascii", "replace")
    return host.strip("[]").lower().removesuffix(".") if isinstance(host, str) else ""


def host_of(origin: str) -> str:
    """Return the `host_name` of a scheme and host, "" where it is no URL."""
    try:
        return host_name(urlsplit(origin).hostname)
    except ValueError:
        return ""


def is_azure(host: str) -> bool:
    """Tell whether a `host_name` is Azure's."""
    return host in _PLATFORM or any(host == domain or host.endswith(f".{domain}") for domain in _DOMAINS)


def is_loopback(host: str) -> bool:
    """Tell whether a `host_name` leads to this machine only."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
