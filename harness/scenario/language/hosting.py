"""`given.hosting` and `given.cluster`: options of the controller, and limits that the cluster breaks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from harness.scenario.language.models.given import Given

if TYPE_CHECKING:
    from harness.karpenter.hosting import Cluster, Violation

__all__ = ["hosting_options", "violations_of"]


def violations_of(given: Given) -> Iterator[Violation]:
    """The documented limits that the described cluster breaks, outdated ones included. Raises UnknownRelease."""
    from harness.karpenter.hosting import Hosting, violations
    from harness.karpenter.releases import DEFAULT_RELEASE, ProvisionMode, provider

    if given.cluster is None:
        return
    if given.provision_mode is not None:
        mode = ProvisionMode(given.provision_mode)
    else:
        mode = provider(given.karpenter or DEFAULT_RELEASE).defaults.provision_mode
    yield from violations(_cluster(given), Hosting(given.hosting or "self-hosted"), mode)


def hosting_options(given: Given) -> dict[str, Any]:
    """Return the options that hosting mode and cluster imply; `given.options` wins."""
    from harness.karpenter.hosting import network_options
    from harness.karpenter.releases import SHARED_GALLERY

    options: dict[str, Any] = {}
    if given.hosting == "nap":
        options |= SHARED_GALLERY
    if given.cluster is not None:
        options |= network_options(_cluster(given))
    return options


def _cluster(given: Given) -> Cluster:
    from harness.karpenter.hosting import Cluster

    assert given.cluster is not None
    fields = {name: getattr(given.cluster, name) for name in given.cluster.model_fields_set}
    if fields.get("network_plugin_mode") == "none":
        fields["network_plugin_mode"] = ""
    elif fields.get("network_plugin") in ("kubenet", "none"):
        fields.setdefault("network_plugin_mode", "")
    for name in ("ip_families", "node_os"):
        if name in fields:
            fields[name] = tuple(fields[name])
    return Cluster(**fields)
