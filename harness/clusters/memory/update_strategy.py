"""The parts of an object that a write may change, and the grace period of a deletion: rules of the API server as pure functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.kube.api.kinds import Kind
from harness.kube.api.objects import Object


def prepared_for_update(kind: Kind, subresource: str, old: Object, sent: Mapping[str, Any]) -> dict[str, Any]:
    """Return the object as a write of it, or of one of its subresources, may change it."""
    if subresource == "status":
        new = dict(old)
        if "status" in sent:
            new["status"] = sent["status"]
        else:
            new.pop("status", None)
        new["metadata"] = dict(old["metadata"])
        return new
    if subresource == "finalize":
        left = (sent.get("spec") or {}).get("finalizers") or []
        return {**old, "metadata": dict(old["metadata"]), "spec": {"finalizers": left}}
    new = dict(sent)
    new["metadata"] = {**(sent.get("metadata") or {}), "name": old["metadata"]["name"]}
    new["apiVersion"], new["kind"] = old["apiVersion"], old["kind"]
    if kind.status_subresource and not subresource:
        if "status" in old:
            new["status"] = old["status"]
        else:
            new.pop("status", None)
    if kind.kind == "Namespace":  # only the subresource for it changes them
        new["spec"] = old["spec"]
    return new


def grace_period(kind: Kind, old: Object, requested: int | None) -> int | None:
    """The grace period of a deletion; only pods that a kubelet runs have one (core pod strategy CheckGracefulDelete)."""
    if kind.kind != "Pod":
        return None
    spec, status = old.get("spec") or {}, old.get("status") or {}
    if not spec.get("nodeName") or status.get("phase") in ("Succeeded", "Failed"):
        return 0
    return lasting(int(spec["terminationGracePeriodSeconds"]) if requested is None else requested)


def lasting(grace: int) -> int:
    """A grace period as the API server takes it: a negative one is a second."""
    return grace if grace >= 0 else 1
