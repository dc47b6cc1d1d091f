"""A cluster as the contract tests see it: its ports, and how to wait for what others do on it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from harness.clusters.provenance import Evidence
from harness.engine.ports import ADMIN, Identity, View, Writer
from harness.kube.api.objects import Object

T = TypeVar("T")

TAINTED = "node(s) had untolerated taint(s)"
UNHELPFUL = "Preemption is not helpful for scheduling"


@dataclass
class Subject:
    """`step` lets others act and brings the View up to date; `patient` clusters are asked again until they have."""

    name: str
    view: View
    writer: Callable[[Identity], Writer]
    evidence: Callable[[str], Iterable[Evidence]]
    step: Callable[[], None]
    unique: str
    seconds: float = 0.0
    made: list[tuple[str, str]] = field(default_factory=list)

    @property
    def admin(self) -> Writer:
        return self.writer(ADMIN)

    @property
    def namespace(self) -> str:
        return f"t-{self.unique}"

    def named(self, name: str) -> str:
        """A name that no other test on the same cluster has; for kinds without namespace."""
        return f"{name}-{self.unique}"

    def create(self, obj: Object) -> Object:
        """Creates a cluster-scoped object that is removed after the test, or a namespaced one."""
        found = self.admin.create(obj)
        if not found["metadata"].get("namespace"):
            self.made.append((found["kind"], found["metadata"]["name"]))
        return found

    def without_control_plane(self, sentence: str) -> str:
        """kube-scheduler's sentence about a pod, as it would be if kind's control plane were no node."""
        if self.name != "kind":
            return sentence

        def fewer(match: re.Match[str]) -> str:
            counted = {reason: int(count) for count, reason in re.findall(r"(\d+) ([^,]+?)(?:, |$)", match[2])}
            reason = next((each for each in (TAINTED, UNHELPFUL) if counted.get(each)), "")
            left = match[2]  # about the pod, and no node in particular
            if reason:
                counted[reason] -= 1
                left = ", ".join(f"{count} {reason}" for reason, count in counted.items() if count)
            return f"0/{int(match[1]) - 1} nodes are available: {left}."

        return re.sub(r"0/(\d+) nodes are available: ([^.]*)\.", fewer, sentence)

    def eventually(self, probe: Callable[[], T | None], what: str) -> T:
        """What `probe` answers once it is true: at once where nothing happens behind our back."""
        if not self.seconds:
            self.step()
            found = probe()
            assert found, what
            return found
        from harness.clusters.waiting import poll

        def again() -> T | None:
            self.step()
            return probe()

        return poll(again, what, seconds=self.seconds, every=0.05)

    def pod(self, name: str, **fields: Any) -> dict[str, Any]:
        """A pod of one container that nobody schedules unless told so."""
        spec = {
            "schedulerName": "nobody",
            "containers": [{"name": "main", "image": "registry.k8s.io/pause:3.10"}],
            **fields,
        }
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": self.namespace, "labels": {"app": name}},
            "spec": spec,
        }

    def node(self, name: str, *, ready: bool = True, **spec: Any) -> dict[str, Any]:
        """A node with four cores that runs nothing."""
        condition = {"type": "Ready", "status": "True" if ready else "False", "reason": "T", "message": "t"}
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": self.named(name), "labels": {"own": self.unique}},
            "spec": spec,
            "status": {
                "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"},
                "capacity": {"cpu": "4", "memory": "8Gi", "pods": "10"},
                "conditions": [{**condition, "lastTransitionTime": "2026-01-01T00:00:00Z"}],
            },
        }

    def nodepool(
        self, name: str, *requirements: dict[str, Any], labels: dict[str, str] | None = None
    ) -> dict[str, Any]:
        """A NodePool."""
        reference = {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"}
        template: dict[str, Any] = {"spec": {"nodeClassRef": reference, "requirements": list(requirements)}}
        if labels:
            template["metadata"] = {"labels": labels}
        return {
            "apiVersion": "karpenter.sh/v1",
            "kind": "NodePool",
            "metadata": {"name": self.named(name)},
            "spec": {"template": template},
        }
