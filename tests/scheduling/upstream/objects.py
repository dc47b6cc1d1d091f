"""Short ways to write the objects of core's tests, without anything that they do not say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tests.scheduling.upstream.cloud import CAPACITY

__all__ = ["affinity", "daemonset", "near", "need", "nodepool", "pod", "pods", "port", "spread", "taint", "tolerate"]

Json = dict[str, Any]

ANY_KIND = {"key": CAPACITY, "operator": "In", "values": ["spot", "on-demand", "reserved"]}
"""What the NodePool of every suite requires."""


def need(key: str, operator: str, *values: str, **more: Any) -> Json:
    """A requirement."""
    return {"key": key, "operator": operator, **({"values": list(values)} if values else {}), **more}


def taint(key: str, value: str = "", effect: str = "NoSchedule") -> Json:
    """A taint."""
    return {"key": key, "value": value, "effect": effect} if value else {"key": key, "effect": effect}


def tolerate(key: str, value: str = "", effect: str = "") -> Json:
    """A toleration: Exists without a value."""
    found = {"key": key, "operator": "Equal" if value else "Exists"}
    return {**found, **({"value": value} if value else {}), **({"effect": effect} if effect else {})}


def nodepool(name: str = "default", *requirements: Json, **fields: Any) -> Json:
    """A ready NodePool; `requirements` default to any capacity type.

    ``labels``, ``taints``, ``startup`` (taints) and ``template`` (more of its spec) are the template's, ``conditions`` and ``metadata``
    the object's, the rest the spec's.
    """
    template: Json = {
        "requirements": list(requirements or (ANY_KIND,)),
        "nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"},
        **fields.pop("template", {}),
    }
    if "taints" in fields:
        template["taints"] = fields.pop("taints")
    if "startup" in fields:
        template["startupTaints"] = fields.pop("startup")
    marks = {"metadata": {"labels": fields.pop("labels")}} if "labels" in fields else {}
    made: Json = {"metadata": {"name": name, "uid": f"uid-{name}", **fields.pop("metadata", {})}}
    conditions = fields.pop("conditions", None)
    if conditions is not None:
        made["status"] = {"conditions": conditions}
    limits = fields.pop("limits", {"cpu": "2000"})
    made["spec"] = {**({"limits": limits} if limits else {}), "template": {**marks, "spec": template}, **fields}
    return made


def pod(
    name: str = "pod",
    *,
    needs: Sequence[Json] = (),
    prefers: Sequence[Json] = (),
    labels: Mapping[str, str] | None = None,
    owner: Mapping[str, str] | None = None,
    namespace: str = "default",
    **fields: Any,
) -> Json:
    """A pod that waits. `needs` and `prefers` are one term each of node affinity; ``requests``, ``limits`` and ``ports`` the container's,
    ``on`` a Node's name, ``claims`` names of volume claims; the rest the spec's.
    """
    metadata: Json = {"name": name, "namespace": namespace, "labels": dict(labels or {})}
    if owner is not None:
        metadata["ownerReferences"] = [{"controller": True, "uid": owner["name"], **owner}]
    metadata.update(fields.pop("metadata", {}))
    resources = {part: fields.pop(part) for part in ("requests", "limits") if part in fields}
    if "limits" in resources:  # as the API server does
        resources["requests"] = {**resources["limits"], **resources.get("requests", {})}
    container: Json = {"name": "c", **({"resources": resources} if resources else {})}
    if "ports" in fields:
        container["ports"] = fields.pop("ports")
    spec: Json = {"containers": [container]}
    on = fields.pop("on", "")
    if on:
        spec["nodeName"] = on
    claims = fields.pop("claims", ())
    if claims:
        spec["volumes"] = [{"name": f"v{n}", "persistentVolumeClaim": {"claimName": c}} for n, c in enumerate(claims)]
    rules = {**affinity(needs=needs, prefers=prefers), **fields.pop("affinity", {})}
    if rules:
        spec["affinity"] = rules
    return {"metadata": metadata, "spec": {**spec, **fields}, **({"status": {"phase": "Running"}} if on else {})}


def pods(count: int, prefix: str = "pod", **fields: Any) -> list[Json]:
    """`count` pods alike."""
    return [pod(f"{prefix}-{number:02}", **fields) for number in range(count)]


def affinity(
    *,
    needs: Sequence[Json] = (),
    prefers: Sequence[Json] = (),
    terms: Sequence[Sequence[Json]] = (),
    weighted: Sequence[tuple[int, Json]] = (),
    near: Sequence[Json] = (),
    apart: Sequence[Json] = (),
    rather_near: Sequence[tuple[int, Json]] = (),
    rather_apart: Sequence[tuple[int, Json]] = (),
) -> Json:
    """The affinity of a pod; `terms` are alternatives of required node affinity, `weighted` preferred node affinity."""
    found: Json = {}
    required = [{"matchExpressions": list(term)} for term in (([needs] if needs else []) + list(terms))]
    wishes = ([(1, list(prefers))] if prefers else []) + [(weight, [wish]) for weight, wish in weighted]
    preferred = [{"weight": weight, "preference": {"matchExpressions": wish}} for weight, wish in wishes]
    hard, soft = "requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"
    if required or preferred:
        found["nodeAffinity"] = {
            **({hard: {"nodeSelectorTerms": required}} if required else {}),
            **({soft: preferred} if preferred else {}),
        }
    for kind, musts, shoulds in (("podAffinity", near, rather_near), ("podAntiAffinity", apart, rather_apart)):
        if musts or shoulds:
            found[kind] = {
                **({hard: list(musts)} if musts else {}),
                **({soft: [{"weight": w, "podAffinityTerm": term} for w, term in shoulds]} if shoulds else {}),
            }
    return found


def near(key: str, labels: Mapping[str, str], **more: Any) -> Json:
    """A term of pod affinity or anti-affinity."""
    return {"topologyKey": key, "labelSelector": {"matchLabels": dict(labels)}, **more}


def spread(key: str, labels: Mapping[str, str] | None, skew: int = 1, *, anyway: bool = False, **more: Any) -> Json:
    """A topology spread constraint; without labels it has no selector."""
    selector = {} if labels is None else {"labelSelector": {"matchLabels": dict(labels)}}
    when = "ScheduleAnyway" if anyway else "DoNotSchedule"
    return {"topologyKey": key, "maxSkew": skew, "whenUnsatisfiable": when, **selector, **more}


def port(number: int, **more: Any) -> Json:
    """A host port."""
    return {"containerPort": 80, "hostPort": number, "protocol": "TCP", **more}


def daemonset(name: str = "daemon", *, labels: Mapping[str, str] | None = None, **fields: Any) -> Json:
    """A DaemonSet whose pods are written as `pod` writes them."""
    made = pod(name, **fields)
    marks = dict(labels or {"app": name})
    return {
        "metadata": {"name": name, "namespace": "default", "uid": name},
        "spec": {
            "selector": {"matchLabels": marks},
            "template": {"metadata": {"labels": marks}, "spec": made["spec"]},
        },
    }
