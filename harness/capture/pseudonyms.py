"""Pseudonyms for names: the same for the same text, by category, counted in the order in which they appear."""

from __future__ import annotations

import re

from harness.capture.public_values import PUBLIC_KEYS, is_public
from harness.karpenter.labels import azure, core
from harness.kube.api import labels as kube

__all__ = ["Pseudonyms"]

_FIXED = {
    "namespace": frozenset({"default", "kube-system", "kube-public", "kube-node-lease"}),
    "priorityclass": frozenset({"system-cluster-critical", "system-node-critical"}),
    "storageclass": frozenset({"default", "managed", "managed-csi", "managed-csi-premium", "managed-premium"}),
    "zone": frozenset({".", "cluster.local"}),
    "driver": frozenset(
        {"disk.csi.azure.com", "file.csi.azure.com", "blob.csi.azure.com", "kubernetes.io/no-provisioner"}
    ),
}
"""Names that every cluster has: they identify nobody, and some have a meaning."""

_CATEGORIES = {
    core.NODEPOOL: "nodepool",
    f"{azure.GROUP}/aksnodeclass": "nodeclass",
    kube.HOSTNAME: "node",
    "kubernetes.io/metadata.name": "namespace",
}
"""Labels whose values are names of objects."""

_KEYS = frozenset(
    {
        *PUBLIC_KEYS,
        *_CATEGORIES,
        *(value for value in vars(azure).values() if isinstance(value, str) and azure.is_aks_label(value)),
        *azure.LEGACY,
        *(kube.EXCLUDE_BALANCERS, kube.NOT_READY, kube.UNREACHABLE, kube.UNSCHEDULABLE, kube.UNINITIALIZED),
        *(core.UNREGISTERED_TAINT["key"], core.DISRUPTED_TAINT["key"]),
        *("CriticalAddonsOnly", "node.cilium.io/agent-not-ready", "pod-template-hash", "controller-revision-hash"),
        *(
            f"app.kubernetes.io/{name}"
            for name in ("name", "instance", "version", "component", "part-of", "managed-by")
        ),
        *(
            "node-role.kubernetes.io/control-plane",
            "node.kubernetes.io/memory-pressure",
            "node.kubernetes.io/disk-pressure",
        ),
    }
)
"""Labels and taints whose names are public."""

_DOMAINS = ("karpenter.sh", "karpenter.azure.com", "kubernetes.azure.com", "kubernetes.io", "k8s.io")
_RESOURCES = frozenset({"cpu", "memory", "ephemeral-storage", "pods", "storage", "nvidia.com/gpu", "amd.com/gpu"})
_SIZED = re.compile(r"hugepages-[0-9]{1,4}(Ki|Mi|Gi)|attachable-volumes-(azure-disk|csi-disk\.csi\.azure\.com)")
"""Resources whose names Kubernetes makes."""

_COUNT = re.compile(r"-?[0-9]{1,4}")


class Pseudonyms:
    """One for each capture; without `anonymise` every name stays."""

    def __init__(self, *, anonymise: bool) -> None:
        self.anonymise = anonymise
        self._names: dict[tuple[str, str], str] = {}
        self._counts: dict[str, int] = {}

    def name(self, category: str, text: str) -> str:
        """The name of an object, a container, a driver: `node-3` in place of the third Node's."""
        if not self.anonymise or text in _FIXED.get(category, ()):
            return text
        return self._numbered(category, text, f"{category}-{{}}")

    def path(self, category: str, text: str, form: str) -> str:
        """Return a pseudonym of an id in Azure; `form` has `{}` for its number. Ids are replaced without `anonymise`, too."""
        return self._numbered(category, text.lower(), form)

    def key(self, key: str) -> str:
        """Return the key of a label or a taint; of a private one, the public domain at its end stays where that decides something."""
        if not self.anonymise or key in _KEYS:
            return key
        domain, slash, _ = key.rpartition("/")
        if not slash:
            return self._numbered("label", key, "label-{}")
        public_domain = next((public for public in _DOMAINS if domain == public or domain.endswith(f".{public}")), None)
        if public_domain is None:
            return self._numbered("label", key, "example.com/label-{}")
        if domain in (
            public_domain,
            f"node.{public_domain}",
            f"node-restriction.{public_domain}",
            f"app.{public_domain}",
        ):
            return self._numbered("label", key, f"{domain}/label-{{}}")
        below = (
            "node."
            if domain.endswith(f"node.{public_domain}")
            else "node-restriction."
            if domain.endswith(f"node-restriction.{public_domain}")
            else ""
        )
        return self._numbered("label", key, f"sub.{below}{public_domain}/label-{{}}")

    def value(self, key: str, value: str) -> str:
        """Return the value of a label or a taint under its original key."""
        if not self.anonymise or value in ("", "true", "false") or _COUNT.fullmatch(value):
            return value
        if is_public(key, value):
            return value
        category = _CATEGORIES.get(key)
        return self.name(category, value) if category else self._numbered("value", value, "value-{}")

    def resource(self, name: str) -> str:
        """The name of a resource."""
        if not self.anonymise or name in _RESOURCES or _SIZED.fullmatch(name):
            return name
        return self._numbered("resource", name, "example.com/resource-{}")

    def _numbered(self, category: str, text: str, form: str) -> str:
        pseudonym = self._names.get((category, text))
        if pseudonym is None:
            self._counts[category] = self._counts.get(category, 0) + 1
            pseudonym = self._names[category, text] = form.format(self._counts[category])
        return pseudonym
