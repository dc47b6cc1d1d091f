"""The pods of a StatefulSet, and their claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.kube.api.objects import Object, annotations_of, is_terminating, labels_of, metadata_of, name_of, spec_of
from harness.kube.workloads.plans import Plan
from harness.kube.workloads.templates import pod_from_template

__all__ = ["stateful_set"]


def stateful_set(owner: Object, pods: Sequence[Object]) -> Plan:
    """Keeps pods `<name>-0 … n-1`; ordered start waits for the one before to run. A pod's claims come before it, and outlive it."""
    spec = spec_of(owner)
    wanted = [f"{name_of(owner)}-{ordinal}" for ordinal in range(int(spec.get("replicas", 1)))]
    present = {name_of(pod): pod for pod in pods}
    surplus = tuple(pod for name, pod in present.items() if name not in wanted and not is_terminating(pod))
    create: list[Object] = []
    for name in wanted:
        pod = present.get(name)
        if pod is None:
            claims = _claims(owner, name)
            create.extend(claims.values())
            create.append(_stateful_pod(owner, name, claims))
        if spec.get("podManagementPolicy") != "Parallel":
            running = pod is not None and (pod.get("status") or {}).get("phase") == "Running"
            if not running:
                break
    return Plan(tuple(create), surplus)


def _claims(owner: Object, pod: str) -> dict[str, dict[str, Any]]:
    """The claims of one pod of a StatefulSet, by the name of their template."""
    selected = (spec_of(owner).get("selector") or {}).get("matchLabels") or {}
    found: dict[str, dict[str, Any]] = {}
    for template in spec_of(owner).get("volumeClaimTemplates") or ():
        meta: dict[str, Any] = {
            "name": f"{name_of(template)}-{pod}",
            "namespace": metadata_of(owner).get("namespace") or "default",
            "labels": {**labels_of(template), **selected},
        }
        if annotations_of(template):
            meta["annotations"] = dict(annotations_of(template))
        spec = dict(spec_of(template))
        found[name_of(template)] = {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": meta,
            "spec": spec,
        }
    return found


def _stateful_pod(owner: Object, name: str, claims: Mapping[str, Object]) -> dict[str, Any]:
    """A pod with its claims as volumes, in the place of volumes of the same name."""
    pod = pod_from_template(owner, spec_of(owner).get("template") or {}, name=name)
    pod["metadata"]["labels"] |= {
        "statefulset.kubernetes.io/pod-name": name,
        "apps.kubernetes.io/pod-index": name.rpartition("-")[2],
    }
    if claims:
        others = [each for each in pod["spec"].get("volumes") or () if each.get("name") not in claims]
        own = [
            {"name": volume, "persistentVolumeClaim": {"claimName": name_of(claim)}} for volume, claim in claims.items()
        ]
        pod["spec"]["volumes"] = [*own, *others]
    return pod
