"""The API server of a kubeconfig's context, and its credentials: all that connects to a cluster of somebody else."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from harness.clusters.client.access import kubeconfig_of
from harness.clusters.client.connection import Endpoint
from harness.clusters.kubeconfig import client_of

__all__ = ["Reached", "reach"]


@dataclass(frozen=True)
class Reached:
    """The API server of the context `name`. `user` and `trust` are the kubeconfig's credentials and its certificate."""

    name: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    user: Mapping[str, Any] = field(default_factory=dict)
    trust: Mapping[str, Any] = field(default_factory=dict)

    @property
    def ca(self) -> Path | None:
        """The certificate of its authority; None where the system's own trust is enough."""
        file = self.trust.get("certificate-authority")
        return Path(file) if file else None

    def endpoint(self) -> Endpoint:
        """The endpoint, whose certificate has to have its name. Raises OSError for a certificate that cannot be read."""
        parts = urlsplit(self.url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        tls = self._context() if parts.scheme == "https" else None
        return Endpoint(
            parts.hostname or "", port, tls, self.headers, server_name=self.trust.get("tls-server-name", "")
        )

    def kubeconfig(self) -> dict[str, Any]:
        """A kubeconfig with the same credentials, as files and tokens."""
        return kubeconfig_of(self.name, {"server": self.url, **self.trust}, self.user)

    def _context(self) -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=self.trust.get("certificate-authority"))
        if self.trust.get("insecure-skip-tls-verify"):  # the kubeconfig says so
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        if "client-certificate" in self.user:
            context.load_cert_chain(self.user["client-certificate"], self.user["client-key"])
        return context


def reach(path: Path | None = None, context: str | None = None) -> Reached:
    """Return the API server of a context, the current one where none is named. Raises ClientMissing, KubeconfigError."""
    name, client = client_of(path, context)
    settings = client.configuration
    headers = {
        setting["key"]: setting["value"] for setting in settings.auth_settings().values() if setting["in"] == "header"
    }
    user: dict[str, Any] = {}
    if settings.cert_file:
        user = {"client-certificate": settings.cert_file, "client-key": settings.key_file}
    bearer = headers.get("authorization", "")
    if bearer.startswith("Bearer "):
        user["token"] = bearer.removeprefix("Bearer ")
    trust: dict[str, Any] = {}
    if settings.ssl_ca_cert:
        trust["certificate-authority"] = str(Path(settings.ssl_ca_cert).absolute())
    if settings.tls_server_name:
        trust["tls-server-name"] = str(settings.tls_server_name)
    if not settings.verify_ssl:
        trust["insecure-skip-tls-verify"] = True
    return Reached(name, settings.host, headers, user, trust)
