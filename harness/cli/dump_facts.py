"""Facts of a dump about its cluster: region, Kubernetes, release of the provider, who runs it, options of its
controller.

Sources are Nodes (labels of AKS and of cloud-node-manager), AKSNodeClasses (status), the controller's Deployment
(harness.cli.controller_facts) and Helm's labels of CRDs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from harness.cli.controller_facts import GATES, controller_facts
from harness.karpenter.labels.azure import AKS_CNI_OVERLAY, AKS_EBPF_DATAPLANE, AKS_POD_NETWORK_TYPE
from harness.kube.api.labels import REGION
from harness.kube.api.versions import Version
from harness.reading.manifests import Manifest
from harness.reading.problems import Mark, Problem, ScenarioError

__all__ = ["Fact", "config_maps", "facts_of", "unknown_values"]

_CHART = "karpenter-crd-"
_NAP = "aks-managed-karpenter-overlay"
"""Helm's name for what AKS installs (karpenter-provider-azure issue 1230)."""

_NODE_LABELS = {
    (AKS_POD_NETWORK_TYPE, "overlay"): {"network_plugin": "azure", "network_plugin_mode": "overlay"},
    (AKS_CNI_OVERLAY, "true"): {"network_plugin": "azure", "network_plugin_mode": "overlay"},
    (AKS_EBPF_DATAPLANE, "cilium"): {"network_dataplane": "cilium"},
}
"""Labels that AKS and the provider give to Nodes for the cluster's network."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that a file says: `name` is an argument of World, `hosting`, `feature_gates`, or a field of ProviderOptions.

    `controller`: Karpenter's own Deployment says it.
    """

    name: str
    value: str
    mark: Mark
    source: str
    controller: bool = False

    @property
    def place(self) -> str:
        """Return its place, without the column."""
        return f"{self.mark.file}:{self.mark.line}, {self.source}"


def facts_of(manifests: Sequence[Manifest]) -> dict[str, Fact]:
    """Return the facts by name: the controller's Deployment first, and the newest Kubernetes. Raises ScenarioError for two regions."""
    facts_by_name: dict[str, Fact] = {}
    configs = config_maps(manifests)
    facts = [fact for manifest in manifests for fact in _facts(manifest, configs)]
    for fact in sorted(facts, key=lambda candidate: not candidate.controller):
        earlier = facts_by_name.setdefault(fact.name, fact)
        if fact.name == "region" and fact.value != earlier.value:
            text = (
                f"{fact.source} is in region '{fact.value}', but {earlier.source} in '{earlier.value}' ({earlier.mark})"
            )
            raise ScenarioError([Problem(fact.mark, "", text)])
        # a kubelet may be older than the API server, and Nodes are upgraded one by one
        if fact.name == "kubernetes" and Version.parse(fact.value) > Version.parse(earlier.value):
            facts_by_name[fact.name] = fact
    return facts_by_name


def config_maps(manifests: Sequence[Manifest]) -> dict[tuple[str, str], Manifest]:
    """ConfigMaps by namespace and name."""
    return {(manifest.namespace, manifest.name): manifest for manifest in manifests if manifest.kind == "ConfigMap"}


def _facts(manifest: Manifest, configs: Mapping[tuple[str, str], Manifest]) -> Iterator[Fact]:
    annotations = (manifest.object.get("metadata") or {}).get("annotations") or {}
    installed_by = str(annotations.get("meta.helm.sh/release-name", ""))
    if manifest.kind in ("NodePool", "AKSNodeClass") and installed_by.startswith(_NAP):
        yield _fact(manifest, "hosting", "nap", "metadata", "annotations", "meta.helm.sh/release-name")
    match manifest.kind:
        case "Node":
            yield from _of_node(replace(manifest, document=manifest.document.with_tree()))
        case "AKSNodeClass":
            version = (manifest.object.get("status") or {}).get("kubernetesVersion")
            if isinstance(version, str) and Version.find(version):
                yield _fact(manifest, "kubernetes", version, "status", "kubernetesVersion")
        case "Deployment":
            for setting in controller_facts(manifest, configs):
                source = "" if setting.manifest is manifest else f" for {manifest.reference}"
                mark = setting.manifest.document.position(setting.path)
                yield Fact(setting.name, setting.value, mark, f"{setting.manifest.reference}{source}", controller=True)
        case "CustomResourceDefinition":
            chart = _labels(manifest).get("helm.sh/chart")
            if isinstance(chart, str) and chart.startswith(_CHART) and Version.find(chart.removeprefix(_CHART)):
                release = str(Version.parse(chart.removeprefix(_CHART)))
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
            for name, text in options.items():
                yield _fact(manifest, name, text, "metadata", "labels", key)


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
        elif fact.name == "kubernetes" and (text := version_mistake(fact.value)):
            yield Problem(fact.mark, fact.source, text)
        elif fact.name not in ("hosting", "kubernetes", GATES):
            yield from (
                Problem(fact.mark, fact.source, mistake.what, mistake.hint)
                for mistake in typed_options({fact.name: fact.value})[1]
            )
