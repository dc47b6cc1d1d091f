"""A managed cluster from the files that describe it: every pool once, every mistake of all files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.kube.api.objects import mapping_in
from harness.migrate.agent_pools import AgentPool, ManagedCluster
from harness.migrate.reading.names import api_names, autoscaler_names, maps_in, without_empty
from harness.migrate.reading.shapes import EXPECTED, Part, Resources, parts_of
from harness.reading.documents import Document
from harness.reading.problems import Mark, Problem, ScenarioError, dotted
from harness.wording import shortened

__all__ = ["described_cluster"]

_NETWORK: Mapping[str, str] = {
    "networkPlugin": "network-plugin",
    "networkPluginMode": "network-plugin-mode",
    "networkPolicy": "network-policy",
    "networkDataplane": "network-dataplane",
}
"""A field of a cluster's network profile → the controller's option that says the same."""
_KINDS: Mapping[str, tuple[type, str]] = {
    "maxPods": (int, "a whole number"),
    "count": (int, "a whole number"),
    "minCount": (int, "a whole number"),
    "maxCount": (int, "a whole number"),
    "osDiskSizeGB": (int, "a whole number"),
    "enableAutoScaling": (bool, "true or false"),
    "enableFIPS": (bool, "true or false"),
    "enableEncryptionAtHost": (bool, "true or false"),
    "enableUltraSSD": (bool, "true or false"),
    "vmSize": (str, "a text"),
    "mode": (str, "a text"),
    "osType": (str, "a text"),
    "osSKU": (str, "a text"),
    "scaleSetPriority": (str, "a text"),
    "vnetSubnetID": (str, "a text"),
    "availabilityZones": (list, "a list"),
    "nodeTaints": (list, "a list"),
    "nodeInitializationTaints": (list, "a list"),
    "nodeLabels": (dict, "a map"),
    "tags": (dict, "a map"),
    "kubeletConfig": (dict, "a map"),
    "linuxOSConfig": (dict, "a map"),
    "securityProfile": (dict, "a map"),
    "localDNSProfile": (dict, "a map"),
    "gpuProfile": (dict, "a map"),
    "virtualMachinesProfile": (dict, "a map"),
}
"""The types of those properties that are looked into (ARM's schema of agent pools)."""
_COUNTS = ("maxPods", "count", "minCount", "maxCount", "osDiskSizeGB")
_NUMBERS: Mapping[str, tuple[re.Pattern[str], str]] = {
    "max-empty-bulk-delete": (re.compile(r"[0-9]{1,9}"), "a whole number"),
    "scale-down-utilization-threshold": (re.compile(r"0|1|0?\.[0-9]{1,9}|1\.0{1,9}"), "a number from 0 to 1"),
}
"""Settings of an autoscaler profile whose numbers a NodePool takes over."""
_LONG = 60
_NAME = re.compile("[a-z][a-z0-9]{0,11}")
"""AKS's API: the pattern of an agent pool's name (azure-rest-api-specs aks managedClusters.json, agentPoolName)."""


def described_cluster(documents: Sequence[Document], evaluate: Resources) -> ManagedCluster:
    """Return the cluster that the documents describe together. Raises ScenarioError with every mistake of all of them."""
    problems: list[Problem] = []
    pools: dict[str, AgentPool] = {}
    of_resources: dict[str, bool] = {}
    """Whether a pool is from a resource of its own, by its name."""
    facts: dict[str, Any] = {}
    for document in documents:
        parts = parts_of(document.value, evaluate)
        if not parts:
            problems.append(Problem(document.position(), "", "there is no agent pool in it", EXPECTED))
        for part in parts:
            if part.kind == "cluster":
                mark = document.position(part.path)
                if "mark" in facts:
                    text = f"a second cluster; the first one is in {facts['mark']}"
                    problems.append(Problem(mark, dotted(part.path), text, "give those of one cluster"))
                    continue
                facts = {**_facts(part.value, mark), "undecided": _undecided(part.undecided)}
                problems += _unreadable_pools(part, mark)
                problems += _unreadable_settings(facts["autoscaler"], mark)
            for pool, path in _pools(part, document):
                problems += _mistakes(pool, path, document)
                before = pools.get(pool.name)
                if before is not None and pool.name and of_resources.get(pool.name) == (part.kind == "pool"):
                    text = f"a second agent pool {pool.name}; the first one is in {before.mark}"
                    problems.append(Problem(pool.mark, dotted(path), text, "give each pool once"))
                if before is not None and part.kind == "pool":
                    pools.pop(pool.name)  # the pool's own resource says more than the cluster's list
                if pool.name not in pools:
                    of_resources[pool.name] = part.kind == "pool"
                pools.setdefault(pool.name, pool)
    if problems:
        raise ScenarioError(problems)
    return ManagedCluster(tuple(pools.values()), **facts)


def _unreadable_pools(part: Part, mark: Mark) -> Iterator[Problem]:
    """Yield the mistake in a cluster's list of pools that is no list of maps."""
    pools = part.value.get("agentPoolProfiles")
    if not isinstance(pools, list) or len(maps_in(pools)) < len(pools):
        field = (
            "default_node_pool"
            if part.source == "Terraform" and "default_node_pool" in part.value
            else "agentPoolProfiles"
        )
        yield Problem(mark, dotted((*part.path, field)), "a list of agent pools is expected")


def _unreadable_settings(autoscaler: Mapping[str, str], mark: Mark) -> Iterator[Problem]:
    """Yield the settings of an autoscaler profile that are to be numbers and are none."""
    for name, (pattern, expected) in _NUMBERS.items():
        value = autoscaler.get(name, "0")
        if not pattern.fullmatch(value):
            text = f"{expected} is expected, not '{shortened(value, _LONG)}'"
            yield Problem(mark, dotted(("autoScalerProfile", name)), text)


def _facts(value: Mapping[str, Any], mark: Mark) -> dict[str, Any]:
    network = value.get("networkProfile") if isinstance(value.get("networkProfile"), Mapping) else {}
    profile = value.get("autoScalerProfile")
    return {
        "location": str(value.get("location") or ""),
        "kubernetes": str(value.get("currentKubernetesVersion") or value.get("kubernetesVersion") or ""),
        "autoscaler": autoscaler_names(profile) if isinstance(profile, Mapping) else {},
        "network": {_NETWORK[key]: str(item) for key, item in without_empty(network).items() if key in _NETWORK},
        "mark": mark,
    }


def _pools(part: Part, document: Document) -> Iterator[tuple[AgentPool, tuple[str | int, ...]]]:
    """The pools of a part, each with its path in the document."""
    listed: list[tuple[Any, tuple[str | int, ...]]] = [(part.value, part.path)]
    if part.kind == "cluster":
        inner = next(
            (
                (*part.path, *names)
                for names in (("agentPoolProfiles",), ("properties", "agentPoolProfiles"), ("default_node_pool",))
                if document.has((*part.path, *names))
            ),
            part.path,
        )
        listed = [(item, (*inner, index)) for index, item in enumerate(maps_in(part.value.get("agentPoolProfiles")))]
    for value, path in listed:
        if isinstance(value, Mapping):
            properties = api_names(value)
            name = str(properties.pop("name", ""))
            plain = {key: item for key, item in properties.items() if key not in ("id", "resourceGroup", "properties")}
            undecided = api_names(part.undecided) if part.kind == "pool" else {}
            yield AgentPool(name, plain, document.position(path), part.source, _undecided(undecided)), path


def _undecided(tree: Mapping[str, Any], prefix: str = "") -> tuple[str, ...]:
    """The paths of a tree's leaves; those of lists without their numbers."""
    names: list[str] = []
    for key, item in tree.items():
        path = f"{prefix}{key}"
        inner = maps_in(item) if isinstance(item, list) else [item]
        for part in inner or [True]:
            names += _undecided(part, f"{path}.") if isinstance(part, Mapping) else [path]
    return tuple(dict.fromkeys(names))


def _mistakes(pool: AgentPool, path: tuple[str | int, ...], document: Document) -> Iterator[Problem]:
    """Properties of another type than ARM gives them, taints that are none, a pool without a name or a size."""
    if not pool.name:
        yield Problem(pool.mark, dotted(path), "an agent pool without a name")
    elif not _NAME.fullmatch(pool.name) and pool.source != "Nodes":
        text = f"'{shortened(pool.name, _LONG)}' is no name of an agent pool: at most 12 small letters and digits, a letter first"
        yield Problem(_place(document, path, "name"), dotted((*path, "name")), text)
    of_types = [*_of_types(pool, path, document)]
    yield from of_types
    wrong = {problem.path.rpartition(".")[2] for problem in of_types}
    if not wrong.intersection((*_COUNTS, "enableAutoScaling")):
        yield from _of_counts(pool, path, document)
    of_scale = [] if "virtualMachinesProfile" in wrong else [*_of_scale(pool, path, document)]
    yield from of_scale
    for name in ("nodeTaints", "nodeInitializationTaints"):
        try:
            if name not in wrong:
                pool.taints(name)
        except ValueError as error:
            yield Problem(_place(document, path, name), dotted((*path, name)), str(error))
    readable = not wrong.intersection(("vmSize", "virtualMachinesProfile")) and not of_scale
    if pool.name and readable and not pool.sizes and not pool.is_karpenters:
        later = " that the plan knows before it is applied" if {"vmSize", "body"} & set(pool.undecided) else ""
        yield Problem(pool.mark, dotted((*path, "vmSize")), f"agent pool {pool.name} has no size{later}")


def _of_types(pool: AgentPool, path: tuple[str | int, ...], document: Document) -> Iterator[Problem]:
    """Yield a mistake for each property of another type than ARM gives it."""
    for name, value in pool.properties.items():
        kind, expected = _KINDS.get(name, (object, ""))
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            shown = "a map" if isinstance(value, Mapping) else "a list" if isinstance(value, list) else f"'{value}'"
            yield Problem(_place(document, path, name), dotted((*path, name)), f"{expected} is expected, not {shown}")


def _of_counts(pool: AgentPool, path: tuple[str | int, ...], document: Document) -> Iterator[Problem]:
    """Yield a mistake for each count below 0, and for a minimum above the maximum."""
    for name in _COUNTS:
        if pool.number(name) < 0:
            yield Problem(_place(document, path, name), dotted((*path, name)), "a number below 0")
    least, most = pool.number("minCount"), pool.number("maxCount")
    if pool.scales and "maxCount" in pool.properties and 0 <= most < least:
        place = _place(document, path, "minCount")
        yield Problem(place, dotted((*path, "minCount")), f"{least} is above maxCount {most}")


def _of_scale(pool: AgentPool, path: tuple[str | int, ...], document: Document) -> Iterator[Problem]:
    """Yield a mistake for each profile of single VMs in another form than ARM's `ScaleProfile` (a list in older previews)."""
    profile = mapping_in(pool.properties.get("virtualMachinesProfile"))
    scale = profile.get("scale", {})
    mark = _place(document, path, "virtualMachinesProfile")
    place = (*path, "virtualMachinesProfile", "scale")
    if not isinstance(scale, Mapping):
        yield Problem(mark, dotted(place), "a map is expected")
        return
    manual, autoscale = scale.get("manual", []), scale.get("autoscale", {})
    if not isinstance(manual, list) or len(maps_in(manual)) < len(manual):
        yield Problem(mark, dotted((*place, "manual")), "a list of maps is expected")
    listed = autoscale if isinstance(autoscale, list) else [autoscale]
    if len(maps_in(listed)) < len(listed):
        yield Problem(mark, dotted((*place, "autoscale")), "a map is expected")


def _place(document: Document, path: tuple[str | int, ...], name: str) -> Mark:
    inner = (*path, "properties", name)
    return document.position(inner if document.has(inner) else (*path, name))
