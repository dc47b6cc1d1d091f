"""The pods of a pass, and the NodePools that it may use.

Core ``pkg/controllers/provisioning/provisioner.go``, ``pkg/utils/nodepool/nodepool.go``.
"""

from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING

from harness.karpenter.lifecycle.conditions import nodepool_is_ready
from harness.karpenter.releases.scheduling import SchedulingRules
from harness.karpenter.scheduling.nodeclaims.planned import pod_key
from harness.karpenter.scheduling.pods.volume_claim_checks import volume_claim_problem
from harness.karpenter.scheduling.pods.volumes import VolumeLookup
from harness.karpenter.validation.pods import pod_findings
from harness.karpenter.validation.runtime import wording_of
from harness.kube.api.fingerprint import fingerprint
from harness.kube.api.objects import Object, is_terminating, name_of, namespace_of, spec_of
from harness.kube.scheduling.pods import is_provisionable

if TYPE_CHECKING:
    from harness.karpenter.releases import ProviderRelease


class PendingPods:
    """Unbound pods: ``accepted`` are to be scheduled, ``ignored`` maps the others that are invalid to Karpenter's sentence.

    ``rejected`` are those of ``ignored`` that would be scheduled if they were valid.
    """

    def __init__(
        self, unbound: Iterable[Object], release: "ProviderRelease", volumes: VolumeLookup, rules: SchedulingRules
    ) -> None:
        self.accepted: list[Object] = []
        self.ignored: dict[str, str] = {}
        self.rejected: dict[str, str] = {}
        wording = wording_of(release)
        texts_of: dict[Hashable, list[str]] = {}
        for pod in sorted(unbound, key=lambda pod: (namespace_of(pod), name_of(pod))):
            spec = spec_of(pod)
            texts: list[str] = []
            if spec.get("nodeSelector") or spec.get("affinity"):
                key = fingerprint([spec.get("nodeSelector"), spec.get("affinity")])
                if key not in texts_of:
                    texts_of[key] = [finding.text for finding in pod_findings(pod, wording)]
                texts = texts_of[key]
            volume_problem = volume_claim_problem(pod, volumes, rules) if spec.get("volumes") else None
            if texts or volume_problem:
                text = "; ".join([*texts, *([volume_problem] if volume_problem else [])])
                self.ignored[pod_key(pod)] = text
                if is_provisionable(pod):
                    self.rejected[pod_key(pod)] = text
            elif is_provisionable(pod):
                self.accepted.append(pod)


def usable_nodepools(nodepools: Sequence[Object], node_class: tuple[str, str], rules: SchedulingRules) -> list[Object]:
    """The NodePools of the provider's node class that are ready, not static and not being deleted: by weight, then name, both
    descending."""
    usable = []
    for pool in sorted(nodepools, key=name_of, reverse=True):
        spec = spec_of(pool)
        reference = spec_of(spec.get("template") or {}).get("nodeClassRef") or {}
        if (
            (reference.get("group") or "", reference.get("kind") or "") == node_class
            and not (rules.static_nodepools and spec.get("replicas") is not None)
            and nodepool_is_ready(pool)
            and not is_terminating(pool)
        ):
            usable.append(pool)

    return sorted(usable, key=lambda pool: -(spec_of(pool).get("weight") or 0))
