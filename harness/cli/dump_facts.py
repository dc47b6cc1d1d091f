"""What a dump says of its cluster: region, Kubernetes, release of the provider, who runs it, options of its controller.

Sources are Nodes (labels of AKS and of cloud-node-manager), AKSNodeClasses (status), the controller's Deployment (image, label, environment
and arguments, as the provider's chart writes them) and Helm's labels of CRDs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.karpenter.labels.azure import AKS_CNI_OVERLAY, AKS_EBPF_DATAPLANE, AKS_POD_NETWORK_TYPE
from harness.kube.api.labels import REGION
from harness.kube.api.versions import Version
from harness.reading.manifests import Manifest
from harness.reading.problems import Mark, Problem, ScenarioError

__all__ = ["Fact", "facts_of", "unknown_values"]

_IMAGE = "karpenter/controller"
_CHART = "karpenter-crd-"
_NAP = "aks-managed-karpenter-overlay"
"""Helm's name for what AKS installs (karpenter-provider-azure issue 1230)."""

_NODE_LABELS = {
    (AKS_POD_NETWORK_TYPE, "overlay"): {"network_plugin": "azure", "network_plugin_mode": "overlay"},
    (AKS_CNI_OVERLAY, "true"): {"network_plugin": "azure", "network_plugin_mode": "overlay"},
    (AKS_EBPF_DATAPLANE, "cilium"): {"network_dataplane": "cilium"},
}
"""Labels that AKS and the provider give to Nodes for the cluster's network."""

_OPTIONS = (
    "network_plugin",
    "network_plugin_mode",
    "network_policy",
    "network_dataplane",
    "vm_memory_overhead_percent",
    "provision_mode",
    "use_sig",
    "sig_subscription_id",
    "preference_policy",
    "min_values_policy",
)
"""Options of the controller that decide an answer; the others are names and keys."""

_MAY_BE_EMPTY = ("network_plugin_mode", "network_policy", "network_dataplane")


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that a file says: `name` is an argument of World, `hosting`, or a field of ProviderOptions."""

    name: str
    value: str
    mark: Mark
    source: str

    @property
    def place(self) -> str:
        """Where it stands, without the column."""
        return f"{self.mark.file}:{self.mark.line}, {self.source}"


def facts_of(manifests: Sequence[Manifest]) -> dict[str, Fact]:
    """What they say, by name: the controller's Deployment first, and the newest Kubernetes. Raises ScenarioError for two regions."""
    found: dict[str, Fact] = {}
    facts = [fact for one in manifests for fact in _facts(one)]
    for fact in sorted(facts, key=lambda one: not one.source.startswith("Deployment")):
        known = found.setdefault(fact.name, fact)
        if fact.name == "region" and fact.value != known.value:
            what = f"{fact.source} is in region '{fact.value}', but {known.source} in '{known.value}' ({known.mark})"
            raise ScenarioError([Problem(fact.mark, "", what)])
        # a kubelet may be older than the API server, and Nodes are upgraded one by one
        if fact.name == "kubernetes" and Version.of(fact.value) > Version.of(known.value):
            found[fact.name] = fact
    return found


def _facts(manifest: Manifest) -> Iterator[Fact]:
    annotations = (manifest.object.get("metadata") or {}).get("annotations") or {}
    installed_by = str(annotations.get("meta.helm.sh/release-name", ""))
    if manifest.kind in ("NodePool", "AKSNodeClass") and installed_by.startswith(_NAP):
        yield _fact(manifest, "hosting", "nap", "metadata", "annotations", "meta.helm.sh/release-name")
    match manifest.kind:
        case "Node":
            yield from _of_node(manifest)
        case "AKSNodeClass":
            version = (manifest.object.get("status") or {}).get("kubernetesVersion")
            if isinstance(version, str) and Version.find(version):
                yield _fact(manifest, "kubernetes", version, "status", "kubernetesVersion")
        case "Deployment":
            yield from _of_deployment(manifest)
        case "CustomResourceDefinition":
            chart = _labels(manifest).get("helm.sh/chart")
            if isinstance(chart, str) and chart.startswith(_CHART) and Version.find(chart.removeprefix(_CHART)):
                release = str(Version.of(chart.removeprefix(_CHART)))
                yield _fact(manifest, "karpenter", release, "metadata", "labels", "helm.sh/chart")


def _of_node(manifest: Manifest) -> Iterator[Fact]:
    labels = _labels(manifest)
    if isinstance(labels.get(REGION), str):
        yield _fact(manifest, "region", labels[REGION], "metadata", "labels", REGION)
    info = (manifest.object.get("status") or {}).get("nodeInfo") or {}
    version = Version.find(str(info.get("kubeletVersion")))
    if version is not None:
        yield _fact(manifest, "kubernetes", str(version), "status", "nodeInfo", "kubeletVersion")
    for (key, value), options in _NODE_LABELS.items():
        if labels.get(key) == value:
            for name, said in options.items():
                yield _fact(manifest, name, said, "metadata", "labels", key)


def _of_deployment(manifest: Manifest) -> Iterator[Fact]:
    """Of the container whose image is the controller's: release, region, options; that it is there means self-hosted."""
    from harness.karpenter.releases import find_option, option_of_variable

    pod = ((manifest.object.get("spec") or {}).get("template") or {}).get("spec") or {}
    for number, container in enumerate(pod.get("containers") or ()):
        image = str(container.get("image") or "").partition("@")[0]
        repository, _, tag = image.rpartition(":")
        if not repository.endswith(_IMAGE):
            continue
        path = ("spec", "template", "spec", "containers", number)
        yield _fact(manifest, "hosting", "self-hosted", *path, "image")
        version = Version.find(tag)
        if version is not None:
            yield _fact(manifest, "karpenter", str(version), *path, "image")
        for index, entry in enumerate(container.get("env") or ()):
            value = entry.get("value")
            option = option_of_variable(str(entry.get("name")))
            if entry.get("name") == "LOCATION" and isinstance(value, str) and value:
                yield _fact(manifest, "region", value, *path, "env", index)
            elif option is not None and _is_said(option.field, value):
                yield _fact(manifest, option.field, str(value), *path, "env", index)
        for index, word in enumerate(container.get("args") or ()):
            flag, sign, value = str(word).lstrip("-").partition("=")
            option = find_option(flag) if sign else None
            if option is not None and _is_said(option.field, value):
                yield _fact(manifest, option.field, value, *path, "args", index)


def _is_said(field: str, value: Any) -> bool:
    """Whether it is an option that is read, with a value: not one that somebody's shell is to fill in."""
    return field in _OPTIONS and isinstance(value, str) and "$" not in value and (bool(value) or field in _MAY_BE_EMPTY)


def _fact(manifest: Manifest, name: str, value: str, *path: str | int) -> Fact:
    return Fact(name, value, manifest.document.position(path), manifest.reference)


def _labels(manifest: Manifest) -> Mapping[str, Any]:
    labels = (manifest.object.get("metadata") or {}).get("labels")
    return labels if isinstance(labels, dict) else {}


def unknown_values(facts: Iterable[Fact]) -> Iterator[Problem]:
    """Releases, regions, Kubernetes versions and values of options that nobody knows."""
    from harness.kube.api.versions import version_mistake
    from harness.world.inputs import region_mistake, release_mistake, typed_options

    for fact in facts:
        if fact.name in ("karpenter", "region"):
            mistake = (region_mistake if fact.name == "region" else release_mistake)(fact.value)
            if mistake is not None:
                yield Problem(fact.mark, fact.source, mistake.what, mistake.hint)
        elif fact.name == "kubernetes" and (said := version_mistake(fact.value)):
            yield Problem(fact.mark, fact.source, said)
        elif fact.name in _OPTIONS:
            yield from (
                Problem(fact.mark, fact.source, one.what, one.hint) for one in typed_options({fact.name: fact.value})[1]
            )
