"""Asks one release's real Go code what becomes of label keys, NodePools, pods and NodeClaims, for the scenarios that are recorded from it.

What the kubelet and the cloud-node-manager write by themselves is none of Karpenter's code: those keys are two short tables here.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from harness.karpenter.releases import ProvisionMode
from tests.conformance.processes import Answerer

__all__ = ["HARNESS_OPTIONS", "Recorder", "json_key", "plain_pod", "seed_keys"]

Json = dict[str, Any]

HERE = Path(__file__).resolve().parent
SEED_KEYS = HERE / "data" / "seed-keys.yaml"

MODELINE = "# yaml-language-server: $schema=../../harness/scenario/scenario.schema.json\n"
SCRIPTLESS, MACHINE_API = ProvisionMode.AKS_SCRIPTLESS.value, ProvisionMode.AKS_MACHINE_API.value
SIZE = "Standard_D2s_v3"
SIZE_KEY, HOSTNAME, ZONE = "node.kubernetes.io/instance-type", "kubernetes.io/hostname", "topology.kubernetes.io/zone"
ALIASED_ZONE = "failure-domain.beta.kubernetes.io/zone"
POD = "default/probe"

KUBELET_DEFAULTS = frozenset(
    {HOSTNAME, "kubernetes.io/arch", "kubernetes.io/os", "beta.kubernetes.io/arch", "beta.kubernetes.io/os"}
)
"""Keys that every kubelet sets (kubernetes pkg/kubelet/kubelet_node_status.go initialNode)."""

CLOUD_NODE_KEYS = frozenset(
    {
        ZONE,
        "topology.kubernetes.io/region",
        SIZE_KEY,
        "beta.kubernetes.io/instance-type",
        "failure-domain.beta.kubernetes.io/zone",
        "failure-domain.beta.kubernetes.io/region",
    }
)
"""Keys that the cloud-node-manager sets (kubernetes k8s.io/cloud-provider controllers/node)."""

LIFECYCLE_KEYS = frozenset({"karpenter.sh/registered", "karpenter.sh/initialized"})
"""Keys that core's lifecycle controllers set to `true` on the Node itself (pkg/controllers/nodeclaim/lifecycle)."""

IDENTITY = "kubernetes.azure.com/kubelet-identity-client-id"

ALIASES: Mapping[str, str] = {
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "beta.kubernetes.io/instance-type": SIZE_KEY,
    "failure-domain.beta.kubernetes.io/zone": ZONE,
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
}

HARNESS_OPTIONS: Mapping[str, Any] = {
    "networkPlugin": "azure",
    "networkPluginMode": "overlay",
    "networkDataplane": "cilium",
    "kubeletIdentityClientID": "61f71907-753f-4802-a901-47361c3664f2",
    "vnetGUID": "a519e60a-cac0-40b2-b883-084477fe6f5c",
}
"""The harness's own defaults, in the provider's names, so that both sides speak of the same cluster."""


def seed_keys() -> dict[str, list[str]]:
    """The keys by table of the design documents, and those that only their prose names."""
    tables: dict[str, list[str]] = yaml.safe_load(SEED_KEYS.read_text())["tables"]
    return tables


@dataclass
class Recorder:
    """Asks one oracle. `kubernetes` is the version of the cluster, `mode` the provision mode."""

    oracle: Answerer
    release: str
    region: str
    kubernetes: str
    mode: str = SCRIPTLESS
    _types: Sequence[Json] = field(default=(), repr=False)

    def table(self, keys: Iterable[str]) -> dict[str, Json]:
        """Row by key: the cells `pod` and `nodepool`, and the value that was asked for."""
        rows = {}
        for key in keys:
            value = self.value_of(key)
            rows[key] = {"value": value, "pod": self.pod(key, value), "nodepool": self.nodepool(key, value)}
        return rows

    def written(self, keys: Iterable[str]) -> dict[str, Json]:
        """Row by key: the cell `written` of a Node that nobody asked anything of. Keys of which the code says nothing are left out."""
        kubelet, synced = self.launched_labels(self.pinned_claim)
        rows: dict[str, Json] = {}
        for key in keys:
            cell = self._written(key, kubelet, synced)
            if cell is not None:
                rows[key] = {"written": cell}
        return rows

    def _written(self, key: str, kubelet: Mapping[str, str], synced: Mapping[str, str]) -> Any:
        if key in (ZONE, ALIASED_ZONE) and key not in kubelet:
            return (
                {"by": "cloud-node-manager"} if self.mode == SCRIPTLESS else "yes"
            )  # which zone is a matter of chance
        if self.mode != SCRIPTLESS and (key in kubelet or key in synced):
            return {
                "value": synced.get(key, kubelet.get(key))
            }  # AKS writes labels of its own, of which the code knows nothing
        if key == IDENTITY and kubelet.get(key) not in (None, HARNESS_OPTIONS["kubeletIdentityClientID"]):
            return {"by": "kubelet"}  # older fixtures have an identity of their own
        if key in LIFECYCLE_KEYS:
            return {"value": "true", "by": "karpenter"}
        if key in kubelet:
            final = synced.get(key, kubelet[key])
            return {"value": final, "by": "kubelet" if final == kubelet[key] else "karpenter"}
        if key in KUBELET_DEFAULTS:
            return {"by": "kubelet", "from": "kubelet-default"}
        if key in CLOUD_NODE_KEYS:
            return {"by": "cloud-node-manager"}
        if key in synced:
            return {"value": synced[key], "by": "karpenter"}
        return "no" if self.mode == SCRIPTLESS else None

    def pod(self, key: str, value: str) -> Any:
        """What becomes of a pod with this nodeSelector, over two scheduling loops and a launch between them."""
        pod = plain_pod({key: value})
        first = self._schedule([pod])
        outcome = _refused(first)
        if outcome is not None:
            return outcome
        claim = first["nodeclaims"][0]
        node = self._node_of(claim)
        again = self._schedule([pod], nodes=[node])
        if again.get("existing"):
            return "yes"
        return {"outcome": "runaway"}

    def nodepool(self, key: str, value: str) -> Any:
        """Who refuses a NodePool that sets the label, with which message."""
        nodepool = self.nodepool_object()
        nodepool["spec"]["template"]["metadata"] = {"labels": {key: value}}
        answer = self.answer({"op": "validate_nodepool", "object": nodepool})
        errors = (answer.get("crd") or {}).get("errors") or []
        if errors:
            return {"settable": "no", "layer": "crd-cel", "message": errors[0]["detail"]}
        runtime = (answer.get("runtime") or {}).get("error")
        if runtime:
            return {"settable": "no", "layer": "nodepool-runtime", "message": runtime}
        return "yes"

    def value_of(self, key: str) -> str:
        """A value that some Node has, or some size, or any."""
        kubelet, synced = self.launched_labels(self.pinned_claim)
        known = {**kubelet, **synced}
        normal = ALIASES.get(key, key)
        if normal == ZONE:
            return f"{self.region}-1"
        if key != HOSTNAME and normal in known:
            return known[normal]
        values: set[str] = {
            value
            for item in self.types
            for requirement in item["requirements"]
            if requirement["key"] == normal and requirement["operator"] == "In"
            for value in requirement["values"]
        }
        if values:
            return min(values)
        return "true" if key == "kubernetes.azure.com/fips_enabled" else "any"

    @cached_property
    def types(self) -> Sequence[Json]:
        """The instance types of the region, registered as the catalog of all scheduling."""
        request = {"op": "instance_types", "location": self.region, "nodeclass": NODECLASS, "options": self.options}
        types: list[Json] = self.answer(request)
        self.oracle.prepare([{"op": "catalog", "name": "region", "instance_types": types}])
        return types

    @property
    def options(self) -> Json:
        """The controller's options."""
        group = f"MC_rg_harness_{self.region}"
        subnet = (
            f"/subscriptions/00000000-1111-2222-3333-444444444444/resourceGroups/{group}"
            "/providers/Microsoft.Network/virtualNetworks/aks-vnet-12345678/subnets/aks-subnet"
        )
        return {**HARNESS_OPTIONS, "nodeResourceGroup": group, "subnetID": subnet, "provisionMode": self.mode}

    def nodepool_object(self, *, pinned: bool = False) -> Json:
        """The NodePool of the scenarios."""
        nodepool = copy.deepcopy(NODEPOOL)
        if pinned:
            pin = {"key": SIZE_KEY, "operator": "In", "values": [SIZE]}
            nodepool["spec"]["template"]["spec"]["requirements"].append(pin)
        return nodepool

    @cached_property
    def pinned_claim(self) -> Json:
        """The NodeClaim of a plain pod on the NodePool that allows one size."""
        claim: Json = self._schedule([plain_pod({})], pinned=True)["nodeclaims"][0]
        return claim

    def launched_labels(
        self, claim: Json, nodeclass: Json | None = None
    ) -> tuple[Mapping[str, str], Mapping[str, str]]:
        """The labels of the kubelet and those of the NodeClaim after the launch, of the usual AKSNodeClass unless told."""
        launched = self._launch(claim, nodeclass)
        kubelet = launched.get("kubelet_labels") or (launched.get("machine") or {}).get("node_labels") or {}
        return kubelet, launched["node_synced_labels"]

    def _launch(self, claim: Json, nodeclass: Json | None = None) -> Json:
        made = claim["nodeclaim"]
        key = json_key(claim) + repr(nodeclass)
        if key not in self._launches:
            nodeclaim = {
                "metadata": {"name": "default-abcde", "labels": made["metadata"]["labels"]},
                "spec": {**made["spec"], "requirements": made["requirements"]},
            }
            self._launches[key] = self.answer(
                {
                    "op": "labels",
                    "location": self.region,
                    "nodeclass": nodeclass or NODECLASS,
                    "options": self.options,
                    "kubernetes_version": self.kubernetes,
                    "nodeclaim": nodeclaim,
                }
            )
        return self._launches[key]

    @cached_property
    def _launches(self) -> dict[str, Json]:
        return {}

    def _node_of(self, claim: Json) -> Json:
        """The registered Node of a NodeClaim."""
        launched = self._launch(claim)
        kubelet, synced = self.launched_labels(claim)
        own = {HOSTNAME: "aks-default-abcde", "karpenter.sh/registered": "true", "karpenter.sh/initialized": "true"}
        return {
            "metadata": {
                "name": "aks-default-abcde",
                "uid": "00000000-0000-4000-8000-000000000001",
                "labels": {**own, **kubelet, **synced},
                "creationTimestamp": "2025-12-31T00:00:00Z",
            },
            "spec": {"providerID": "azure:///vm/aks-default-abcde"},
            "status": {
                "capacity": launched["capacity"],
                "allocatable": launched["allocatable"],
                "conditions": [
                    {"type": "Ready", "status": "True", "reason": "r", "message": "", "lastTransitionTime": None}
                ],
            },
        }

    def _schedule(self, pods: Sequence[Json], *, nodes: Sequence[Json] = (), pinned: bool = False) -> Json:
        self.types  # noqa: B018 - registers the catalog
        request = {
            "op": "schedule",
            "catalog": "region",
            "nodepools": [self.nodepool_object(pinned=pinned)],
            "pods": list(pods),
            "nodes": list(nodes),
        }
        answer: Json = self.answer(request)
        return answer

    def refusal(self, pod: Json, nodepool: Json) -> str:
        """Why a pod of the default namespace waits when there is one NodePool."""
        said: str = self._alone(pod, nodepool)["errors"][POD]
        return said

    def planned(self, pod: Json, nodepool: Json) -> Json:
        """The NodeClaim that is planned for a pod when there is one NodePool."""
        claim: Json = self._alone(pod, nodepool)["nodeclaims"][0]
        return claim

    def _alone(self, pod: Json, nodepool: Json) -> Json:
        self.types  # noqa: B018 - registers the catalog
        request = {"op": "schedule", "catalog": "region", "nodepools": [nodepool], "pods": [pod], "nodes": []}
        answer: Json = self.answer(request)
        return answer

    def answer(self, request: Json) -> Any:
        """The oracle's answer. Raises RuntimeError when it has none."""
        reply = self.oracle.ask_one(request)
        answer = reply.get("answer")
        if answer is None or (isinstance(answer, dict) and answer.get("error")):
            raise RuntimeError(f"{self.release}: {request['op']}: {reply}")
        return answer


NODECLASS: Json = {"metadata": {"name": "default"}, "spec": {"imageFamily": "Ubuntu2204", "osDiskSizeGB": 128}}
NODEPOOL: Json = {
    "apiVersion": "karpenter.sh/v1",
    "kind": "NodePool",
    "metadata": {"name": "default"},
    "spec": {
        # nothing goes: labels that a NodeClaim brings make it drift at once, as its requirements do not know them
        "disruption": {"consolidateAfter": "Never", "budgets": [{"nodes": "0"}]},
        "template": {
            "spec": {
                "nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"},
                "requirements": [{"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]}],
            }
        },
    },
}


def json_key(claim: Json) -> str:
    """What tells two NodeClaims apart, but for the counter in the hostname."""
    made = claim["nodeclaim"]
    return repr((sorted(made["metadata"]["labels"].items()), sorted(map(repr, made["requirements"]))))


def plain_pod(selector: Mapping[str, str]) -> Json:
    container = {"name": "c", "image": "pause", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}
    spec: Json = {"containers": [container]}
    if selector:
        spec["nodeSelector"] = dict(selector)
    return {"metadata": {"name": "probe"}, "spec": spec}


def _refused(answer: Json) -> Json | None:
    ignored = (answer.get("ignored") or {}).get(POD)
    if ignored is not None:
        # the lists of allowed keys and domains that follow are those of every such sentence
        return {"outcome": "ignored", "message": {"contains": ignored.split("; specify")[0]}}
    error = (answer.get("errors") or {}).get(POD)
    if error is None:
        return None
    outcome = "no-known-values" if "does not have known values" in error else "incompatible"
    return {"outcome": outcome, "message": error}
