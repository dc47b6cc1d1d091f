"""Writes the table of core Kubernetes types that harness.kube.admission.core_types reads, from client-go's own schema.

    python tools/core_types.py PATH/client-go/applyconfigurations/internal/internal.go

The schema there is what server-side apply works with: every field of every type with its shape, without descriptions. The result holds the
kinds that people put beside NodePools, and all types below them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

TARGET = Path(__file__).parent.parent / "harness/kube/admission/data/core_types.json"
KINDS = {
    "v1": (
        *("Pod", "Node", "Namespace", "PersistentVolume", "PersistentVolumeClaim", "Service", "ConfigMap", "Secret"),
        *("ServiceAccount", "LimitRange", "ResourceQuota", "Endpoints", "PodTemplate", "ReplicationController"),
    ),
    "admissionregistration.k8s.io/v1": (
        *("MutatingWebhookConfiguration", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"),
        "ValidatingWebhookConfiguration",
    ),
    "apps/v1": ("ControllerRevision", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"),
    "autoscaling/v1": ("HorizontalPodAutoscaler",),
    "autoscaling/v2": ("HorizontalPodAutoscaler",),
    "batch/v1": ("CronJob", "Job"),
    "certificates.k8s.io/v1": ("CertificateSigningRequest",),
    "coordination.k8s.io/v1": ("Lease",),
    "discovery.k8s.io/v1": ("EndpointSlice",),
    "flowcontrol.apiserver.k8s.io/v1": ("FlowSchema", "PriorityLevelConfiguration"),
    "networking.k8s.io/v1": ("IPAddress", "Ingress", "IngressClass", "NetworkPolicy", "ServiceCIDR"),
    "node.k8s.io/v1": ("RuntimeClass",),
    "policy/v1": ("PodDisruptionBudget",),
    "rbac.authorization.k8s.io/v1": ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"),
    "scheduling.k8s.io/v1": ("PriorityClass",),
    "storage.k8s.io/v1": (
        *("CSIDriver", "CSINode", "CSIStorageCapacity", "StorageClass", "VolumeAttachment", "VolumeAttributesClass"),
    ),
}
SCALARS = {"string": "string", "boolean": "boolean", "numeric": "integer", "untyped": "any"}
NAMED = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": "quantity",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "integer or string",
    "io.k8s.apimachinery.pkg.apis.meta.v1.Time": "string",
    "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime": "string",
    "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1": "any",
}


def main(source: Path) -> None:
    """Reads the schema and writes the table."""
    text = source.read_text(encoding="utf-8").split("typed.YAMLObject(`", 1)[1].split("`)", 1)[0]
    types = {entry["name"]: entry for entry in yaml.safe_load(text)["types"]}
    found: dict[str, dict[str, str]] = {}

    def short(name: str) -> str:
        return name.removeprefix("io.k8s.api.").removeprefix("io.k8s.apimachinery.pkg.apis.")

    def shape(entry: Mapping[str, Any]) -> str:
        if "scalar" in entry:
            return SCALARS[entry["scalar"]]
        if "namedType" in entry:
            return named(entry["namedType"])
        if "list" in entry:
            return "[]" + shape(entry["list"]["elementType"])
        element = entry["map"].get("elementType")
        return "{}" + shape(element) if element else "any"

    def named(name: str) -> str:
        if name in NAMED:
            return NAMED[name]
        fields = types[name].get("map", {}).get("fields")
        if fields is None:
            return shape(types[name])
        if short(name) not in found:
            found[short(name)] = {}
            found[short(name)] |= {field["name"]: shape(field["type"]) for field in fields}
        return short(name)

    kinds: dict[str, str] = {}
    for version, names in KINDS.items():
        group, _, number = version.rpartition("/")
        package = group.partition(".")[0] or "core"
        for name in names:
            kinds[f"{version}/{name}"] = named(f"io.k8s.api.{package}.{number}.{name}")
    rows = ",\n".join(
        f"  {json.dumps(name)}: {json.dumps(fields, sort_keys=True)}" for name, fields in sorted(found.items())
    )
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(f'{{"kinds": {json.dumps(kinds)},\n"types": {{\n{rows}\n}}}}\n', encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
