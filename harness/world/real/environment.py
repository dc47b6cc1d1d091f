"""The environment of a controller process: its options, and the addresses of Azure and the API server.

Sources: kaz pkg/operator/options/options.go, pkg/auth/config.go, pkg/operator/operator.go; core pkg/operator/options/options.go.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fakeazure.transports.tokens import GALLERY_PATH
from harness.karpenter.releases import ProviderOptions
from harness.karpenter.releases.option_table import options_of
from harness.outputs import write_text

__all__ = ["Endpoints", "controller_environment", "write_cloud"]


@dataclass(frozen=True, slots=True)
class Endpoints:
    """The addresses and files of the controller: plain HTTP for tokens, HTTPS for ARM, the API server's address."""

    plain: str
    secure: str
    authority: Path
    cloud: Path
    kubeconfig: Path
    api_host: str
    api_port: int
    metrics_port: int
    health_port: int
    secret: str
    """The secret of requests to Azure's identity endpoint."""
    proxy: str
    """The proxy to Azure's own names."""


PUBLIC = "https://management.azure.com"
"""Resource Manager of the public cloud, by which the controller recognises it: only there it reads the price list."""


def write_cloud(path: Path, secure: str, *, name: str = "AzurePublicCloud") -> None:
    """Describe the public cloud in the format of cloud-provider-azure, `secure` in place of its sign-in.

    Its name decides whether nodes get the billing extension.
    """
    description = {
        "name": name,
        "resourceManagerEndpoint": PUBLIC,
        "activeDirectoryEndpoint": f"{secure}/",
        "tokenAudience": "https://management.core.windows.net/",
    }
    write_text(path, json.dumps(description, indent=2) + "\n")


def controller_environment(
    release: str, options: ProviderOptions, region: str, endpoints: Endpoints, *, elects: bool = False
) -> dict[str, str]:
    """All variables of the process. With `elects` it takes a Lease before it begins, as where several replicas run."""
    plain_host = endpoints.plain.partition("://")[2]
    environment = {
        "AZURE_ENVIRONMENT_FILEPATH": str(endpoints.cloud.absolute()),
        "SSL_CERT_FILE": str(endpoints.authority.absolute()),
        "HTTPS_PROXY": endpoints.proxy,
        "NO_PROXY": endpoints.api_host,
        "AZURE_TOKEN_CREDENTIALS": "ManagedIdentityCredential",
        "IDENTITY_ENDPOINT": f"{endpoints.plain}/msi/token",
        "IDENTITY_HEADER": endpoints.secret,
        "LOCATION": region,
        "NODEBOOTSTRAPPING_SERVER_URL": plain_host,
        "SIG_ACCESS_TOKEN_SERVER_URL": f"{endpoints.plain}{GALLERY_PATH}/{endpoints.secret}",
        "KUBECONFIG": str(endpoints.kubeconfig.absolute()),
        "KUBERNETES_SERVICE_HOST": endpoints.api_host,
        "KUBERNETES_SERVICE_PORT": str(endpoints.api_port),
        "METRICS_PORT": str(endpoints.metrics_port),
        "HEALTH_PROBE_PORT": str(endpoints.health_port),
        "DISABLE_LEADER_ELECTION": "false" if elects else "true",
        "LEADER_ELECTION_NAMESPACE": "kube-system",
        "LOG_LEVEL": "debug",
    }
    for option in options_of(release):
        if option.environment:
            environment[option.environment] = _text(option.field, getattr(options, option.field))
    return {name: value for name, value in environment.items() if value or name not in _LEFT_OUT_WHEN_EMPTY}


_LEFT_OUT_WHEN_EMPTY = frozenset({"ADDITIONAL_TAGS", "NODE_IDENTITIES"})


def _text(field: str, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return ",".join(f"{key}={item}" for key, item in value.items())
    if isinstance(value, tuple | list):
        return ",".join(value)
    return f"{value:g}s" if field.endswith("_seconds") else str(value)
