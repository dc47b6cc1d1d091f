"""The form of a file that describes agent pools, and the parts of it that are clusters and pools."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, TypeAlias

from harness.kube.api.objects import mapping_in
from harness.migrate.reading.names import maps_in
from harness.migrate.reading.terraform import (
    azapi_body,
    is_terraform,
    resources_in,
    terraform_pool,
    undecided_values,
)
from lazyrecords import dataclass

__all__ = ["EXPECTED", "Part", "Resources", "is_parameter_file", "looks_described", "parts_of"]

Path: TypeAlias = tuple[str | int, ...]
Resources: TypeAlias = Callable[[Mapping[str, Any]], Sequence[tuple[str, str, Mapping[str, Any]]]]
"""Evaluates an ARM template: type, name and body of each of its resources."""

EXPECTED = "what `az aks show`, `az aks nodepool list`, `bicep build` or `terraform show -json` prints, or Kubernetes objects, is expected"

_POOL_TYPE = "microsoft.containerservice/managedclusters/agentpools"
_CLUSTER_TYPE = "microsoft.containerservice/managedclusters"
_MARKS = re.compile(
    r"""["']?(?:vmSize|vm_size|agentPoolProfiles|virtualMachinesProfile)["']?\s*:|deploymentParameters\.json"""
)
_RESOURCE_LIST = re.compile(r'"apiVersion"\s*:\s*"v1"')
_OBJECT = re.compile(r"^(?:- )?apiVersion\s*:", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Part:
    """A cluster or a pool as a file has it: `path` is where it stands, `source` the form of the file, for people.

    `undecided` has true in the place of each value that a plan does not know yet, by AKS's names.
    """

    kind: str
    value: Mapping[str, Any]
    path: Path
    source: str
    undecided: Mapping[str, Any] = field(default_factory=dict)


def looks_described(text: str) -> bool:
    """Return whether a text is to describe agent pools: JSON that is no Kubernetes object, or YAML with a pool's words and no object."""
    if text.lstrip()[:1] in ("{", "["):
        try:
            return not _is_objects(json.loads(text))
        except (ValueError, RecursionError):  # which is told where the text is read with its places
            return _MARKS.search(text) is not None and _RESOURCE_LIST.search(text[:200]) is None
    return _MARKS.search(text) is not None and _OBJECT.search(text) is None


def _is_objects(value: Any) -> bool:
    """Return whether a document holds Kubernetes objects, or a list of some."""
    if isinstance(value, list):
        return any(map(_is_objects, maps_in(value)))
    return isinstance(value, Mapping) and all(isinstance(value.get(key), str) for key in ("apiVersion", "kind"))


def is_parameter_file(value: Any) -> bool:
    """Return whether a document holds the parameters of a deployment."""
    return isinstance(value, Mapping) and "deploymentParameters.json" in str(value.get("$schema"))


def parts_of(value: Any, evaluate: Resources) -> list[Part]:
    """Return the clusters and pools of a document; nothing where it has another form."""
    if is_terraform(value):
        return list(_of_terraform(value))
    if isinstance(value, Mapping) and "deploymentTemplate.json" in str(value.get("$schema", "")).replace(
        "subscriptionDeploymentTemplate", "deploymentTemplate"
    ):
        return [part for type_, name, body in evaluate(value) if (part := _of_resource(type_, name, body, (), "ARM"))]
    listed = value.get("value") if isinstance(value, Mapping) and isinstance(value.get("value"), list) else value
    prefix: Path = ("value",) if listed is not value else ()
    if isinstance(listed, list):
        return [part for index, item in enumerate(listed) if (part := _of_az(item, (*prefix, index)))]
    part = _of_az(value, ())
    return [part] if part is not None else []


def _of_az(value: Any, path: Path) -> Part | None:
    """A cluster or a pool as the Azure CLI, or a GET of ARM, has it."""
    if not isinstance(value, Mapping):
        return None
    inner = value.get("properties")
    plain = {**value, **inner} if isinstance(inner, Mapping) else value
    if isinstance(inner, Mapping) and str(value.get("type", "")).lower() in (_POOL_TYPE, _CLUSTER_TYPE):
        plain = {**plain, "type": inner.get("type")}
    if "agentPoolProfiles" in plain:
        return Part("cluster", plain, path, "az")
    if "name" in plain and ("vmSize" in plain or "virtualMachinesProfile" in plain):
        return Part("pool", plain, path, "az")
    return None


def _of_resource(type_: str, name: str, body: Mapping[str, Any], path: Path, source: str) -> Part | None:
    properties = body.get("properties")
    plain = {**body, **(properties if isinstance(properties, Mapping) else {}), "name": name.rpartition("/")[2]}
    plain = {key: item for key, item in plain.items() if key not in ("properties", "apiVersion", "dependsOn")}
    kind = {_CLUSTER_TYPE: "cluster", _POOL_TYPE: "pool"}.get(type_.lower())
    return Part(kind, plain, path, source) if kind is not None else None


def _of_terraform(value: Mapping[str, Any]) -> Iterator[Part]:
    undecided = undecided_values(value)
    for path, resource in resources_in(value):
        values = resource.get("values")
        if not isinstance(values, Mapping):
            continue
        at, type_, later = (*path, "values"), resource.get("type"), undecided.get(str(resource.get("address")), {})
        if type_ == "azurerm_kubernetes_cluster":
            yield _of_azurerm(values, at, later)
        elif type_ == "azurerm_kubernetes_cluster_node_pool":
            pool = terraform_pool(values, first=False)
            yield Part("pool", pool, at, "Terraform", terraform_pool(later, first=False))
        elif type_ == "azapi_resource":
            name = str(values.get("name") or "")
            type_ = str(values.get("type") or "").partition("@")[0]
            part = _of_resource(type_, name, azapi_body(values), at, "Terraform")
            if part is not None:
                body = later.get("body")
                yield replace(part, undecided=mapping_in(body).get("properties") or ({"body": True} if body else {}))


def _of_azurerm(values: Mapping[str, Any], path: Path, later: Mapping[str, Any]) -> Part:
    """The cluster of azurerm, with its default node pool; `later`: the values that the plan does not know yet."""
    first = values.get("default_node_pool") or []
    readable = isinstance(first, list) and len(maps_in(first)) == len(first)
    profiles = maps_in(values.get("auto_scaler_profile"))
    network = maps_in(values.get("network_profile"))
    plain = {
        "location": values.get("location"),
        "kubernetesVersion": values.get("kubernetes_version"),
        "agentPoolProfiles": [terraform_pool(item, first=True) for item in first] if readable else first,
        "default_node_pool": first,
        "autoScalerProfile": profiles[0] if profiles else None,
        "networkProfile": _network(network[0]) if network else None,
    }
    names = {
        "location": "location",
        "kubernetes_version": "kubernetesVersion",
        "auto_scaler_profile": "autoScalerProfile",
        "network_profile": "networkProfile",
        "default_node_pool": "agentPoolProfiles",
    }
    undecided = {names[key]: item for key, item in later.items() if key in names}
    return Part("cluster", plain, path, "Terraform", undecided)


def _network(values: Mapping[str, Any]) -> dict[str, Any]:
    names = {
        "network_plugin": "networkPlugin",
        "network_plugin_mode": "networkPluginMode",
        "network_policy": "networkPolicy",
        "network_data_plane": "networkDataplane",
    }
    return {names[key]: item for key, item in values.items() if key in names}
