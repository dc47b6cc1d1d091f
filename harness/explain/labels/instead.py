"""Substitutes for a label that is closed: ways that the release at hand takes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from harness.explain.labels.probes import default_objects
from harness.karpenter.releases import ProviderRelease
from harness.karpenter.validation import admit, crd_set, runtime_validate

__all__ = ["advice"]

_CLOSED = ("kubernetes.azure.com", "karpenter.azure.com", "karpenter.sh", "kubernetes.io", "k8s.io")


def advice(key: str, release: ProviderRelease, kubernetes: str) -> tuple[str, ...]:
    """Ways out for a key, best first; empty when the key is open. A well-known key is only refused for its value."""
    if key in release.vocabulary.well_known:
        values = release.vocabulary.known_values.get(key)
        return (f"values that Karpenter knows: {', '.join(sorted(values))}",) if values else ()
    entry: Mapping[str, Any] = _table().get(key, {})
    usable = [other for other in entry.get("keys", ()) if _settable(other, release, kubernetes)]
    advices = [f"ask for {', '.join(usable)}"] if usable else []
    if "text" in entry:
        advices.append(entry["text"])
    if not advices and key.partition("/")[0] in _CLOSED:
        advices.append(f"use a label in a domain of your own (example.com/{key.rpartition('/')[2]})")
    return tuple(advices)


def _settable(key: str, release: ProviderRelease, kubernetes: str) -> bool:
    """Return whether a NodePool may have a requirement on the key."""
    _, pool = default_objects()
    spec = pool["spec"]["template"]["spec"]
    requirements = [*spec["requirements"], {"key": key, "operator": "Exists"}]
    asking = {**pool, "spec": {**pool["spec"], "template": {"spec": {**spec, "requirements": requirements}}}}
    admission = admit(asking, crds=crd_set(release.crds), kubernetes=kubernetes)
    return admission.accepted and not runtime_validate(admission.object, release)


@cache
def _table() -> Mapping[str, Any]:
    text = files("harness.explain.labels").joinpath("data", "advice.json").read_text(encoding="utf-8")
    table: Mapping[str, Any] = json.loads(text)["advice"]
    return table
