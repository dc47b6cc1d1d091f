"""The server's documents about itself: version, groups, resources, and the little OpenAPI that kubectl looks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.clusters.client.paths import path_of, root, subresources
from harness.clusters.http.events import EVENT_KINDS
from harness.kube.api.kinds import KINDS, Kind
from harness.kube.api.versions import Version

__all__ = ["Discovery"]

_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
_SHORT: Mapping[str, tuple[str, ...]] = {
    "Node": ("no",),
    "Pod": ("po",),
    "Namespace": ("ns",),
    "Service": ("svc",),
    "ConfigMap": ("cm",),
    "ServiceAccount": ("sa",),
    "PersistentVolume": ("pv",),
    "PersistentVolumeClaim": ("pvc",),
    "Deployment": ("deploy",),
    "ReplicaSet": ("rs",),
    "ReplicationController": ("rc",),
    "DaemonSet": ("ds",),
    "StatefulSet": ("sts",),
    "PodDisruptionBudget": ("pdb",),
    "PriorityClass": ("pc",),
    "StorageClass": ("sc",),
    "Event": ("ev",),
    "AKSNodeClass": ("aksnc", "aksncs"),
}


class Discovery:
    """The documents below `/version`, `/api`, `/apis` and `/openapi`."""

    def __init__(self, kubernetes: str) -> None:
        self._documents: dict[str, dict[str, Any]] = {"/version": _version(kubernetes)}
        by_version: dict[str, list[Kind]] = {}
        for kind in (*KINDS.values(), *EVENT_KINDS):
            by_version.setdefault(kind.api_version, []).append(kind)
        groups: dict[str, list[str]] = {}
        for api_version, kinds in by_version.items():
            self._documents[root(api_version)] = _resources(api_version, kinds)
            self._documents[f"/openapi/v3{root(api_version)}"] = _openapi(api_version, kinds)
            group, _, version = api_version.rpartition("/")
            if group:
                groups.setdefault(group, []).append(version)
        self._documents["/api"] = {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []}
        rows = [_group(group, versions) for group, versions in groups.items()]
        self._documents["/apis"] = {"kind": "APIGroupList", "apiVersion": "v1", "groups": rows}
        for row in rows:
            self._documents[f"/apis/{row['name']}"] = {"kind": "APIGroup", "apiVersion": "v1", **row}
        self._documents["/openapi/v3"] = {
            "paths": {
                root(api_version)[1:]: {"serverRelativeURL": f"/openapi/v3{root(api_version)}"}
                for api_version in by_version
            }
        }

    def get(self, path: str) -> Mapping[str, Any] | None:
        """The document at a path, None when there is none."""
        return self._documents.get(path.rstrip("/"))


def _version(kubernetes: str) -> dict[str, Any]:
    version = Version.parse(kubernetes)
    text = f"v{kubernetes.removeprefix('v')}"
    return {"major": str(version.major), "minor": str(version.minor), "gitVersion": text, "platform": "memory"}


def _group(group: str, versions: list[str]) -> dict[str, Any]:
    rows = [{"groupVersion": f"{group}/{version}", "version": version} for version in versions]
    return {"name": group, "versions": rows, "preferredVersion": rows[0]}


def _resources(api_version: str, kinds: list[Kind]) -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    for kind in kinds:
        row = {
            "name": kind.plural,
            "singularName": kind.kind.lower(),
            "namespaced": kind.namespaced,
            "kind": kind.kind,
            "verbs": list(_VERBS),
        }
        if kind.kind in _SHORT:
            row["shortNames"] = list(_SHORT[kind.kind])
        rows.append(row)
        for name in sorted(subresources(kind)):
            shown = {"scale": "Scale", "binding": "Binding", "eviction": "Eviction"}.get(name, kind.kind)
            below = {"name": f"{kind.plural}/{name}", "singularName": "", "namespaced": kind.namespaced, "kind": shown}
            foreign = {"scale": ("autoscaling", "v1"), "eviction": ("policy", "v1")}.get(name)
            if foreign is not None:
                below |= {"group": foreign[0], "version": foreign[1]}
            verbs = ["create"] if name in ("binding", "eviction") else ["get", "patch", "update"]
            rows.append({**below, "verbs": verbs})
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": api_version, "resources": rows}


def _openapi(api_version: str, kinds: list[Kind]) -> dict[str, Any]:
    """Return the OpenAPI that says only that PATCH takes `fieldValidation`: kubectl then leaves validation to the server."""
    group, _, version = api_version.rpartition("/")
    paths = {}
    for kind in kinds:
        gvk = {"group": group, "version": version, "kind": kind.kind}
        parameter = {"name": "fieldValidation", "in": "query", "schema": {"type": "string"}}
        operation = {"x-kubernetes-action": "patch", "x-kubernetes-group-version-kind": gvk, "parameters": [parameter]}
        path = path_of(kind, "{namespace}" if kind.namespaced else "", "{name}")
        paths[path] = {"patch": {**operation, "responses": {}}}
    return {"openapi": "3.0.0", "info": {"title": "Kubernetes", "version": version}, "paths": paths, "components": {}}
