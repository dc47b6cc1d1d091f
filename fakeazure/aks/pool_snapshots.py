"""Snapshots of pools, and what else is kept with a cluster: when it may be maintained, whom it trusts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fakeazure.aks.managed_clusters import NAMESPACE
from fakeazure.arm.bodies import section, text
from fakeazure.arm.ids import ResourceId
from fakeazure.arm.messages import Document
from fakeazure.arm.routes import Route
from fakeazure.arm.texts import refuse
from fakeazure.resources.kinds import Kind
from fakeazure.state import State


def _snapshot(state: State, id_: ResourceId, document: dict[str, Any], old: Document | None) -> None:
    """Copy what a pool is made of."""
    properties = document["properties"]
    properties.pop("provisioningState", None)
    properties.setdefault("snapshotType", "NodePool")
    source = text(section(properties, "creationData"), "sourceResourceId")
    if not source:
        return
    entry = state.store.get(source)
    if entry is None:
        raise refuse("InvalidResourceReference", reference=source, id=id_)
    pool = entry.document["properties"]
    copied = {"kubernetesVersion": pool.get("currentOrchestratorVersion"), "osSku": pool.get("osSKU")}
    copied |= {name: pool.get(name) for name in ("nodeImageVersion", "osType", "vmSize", "enableFIPS")}
    properties |= {name: value for name, value in copied.items() if value is not None}


def _bare(state: State, id_: ResourceId, document: dict[str, Any], old: Document | None) -> None:
    document["properties"].pop("provisioningState", None)
    document.pop("etag", None)


KINDS = (
    Kind(NAMESPACE, "snapshots", (), fill=_snapshot),
    Kind(NAMESPACE, "managedclustersnapshots", (), fill=_bare),
    Kind(NAMESPACE, "maintenanceConfigurations", (), parents=("managedClusters",), located=False, fill=_bare),
    Kind(NAMESPACE, "trustedAccessRoleBindings", (), parents=("managedClusters",), located=False),
)


def routes() -> Iterator[Route[State]]:
    """The rows of the routing table."""
    for kind in KINDS:
        yield from kind.routes()
