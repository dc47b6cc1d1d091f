"""Pending pods that Karpenter does not consider, and the reasons.

Source: core pkg/controllers/provisioning/provisioner.go (Validate). Volumes are the caller's: they need the cluster.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from harness.karpenter.labels.core import NODEPOOL
from harness.karpenter.requirement import DOES_NOT_EXIST
from harness.karpenter.requirements import Requirements
from harness.karpenter.validation.rejections import Rejection, RejectionLayer
from harness.karpenter.validation.runtime import Finding, Wording, requirement_findings, wording_of
from harness.kube.api.field_errors import Pointer

if TYPE_CHECKING:
    from harness.karpenter.releases import ProviderRelease

OPTED_OUT = "opted-out"
"""Rule of pods that ask for nodes without a NodePool; Karpenter publishes no event for them."""

_AFFINITY: Pointer = ("spec", "affinity", "nodeAffinity")
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def validate_pod(pod: Mapping[str, Any], release: ProviderRelease) -> tuple[Rejection, ...]:
    """Return the reasons why Karpenter ignores a pod, before volumes are looked at; empty when it does not."""
    metadata = pod.get("metadata") or {}
    name = f"Pod/{metadata.get('namespace') or 'default'}/{metadata.get('name', '')}"
    return tuple(
        Rejection(RejectionLayer.POD, name, "", finding.key, finding.rule, finding.text, finding.text, finding.pointer)
        for finding in pod_findings(pod, wording_of(release))
    )


def pod_findings(pod: Mapping[str, Any], wording: Wording) -> list[Finding]:
    """The findings in Karpenter's order; the node selector, whose order is random there, by key."""
    return [*_opted_out(pod, wording), *_node_selector(pod, wording), *_affinity(pod, wording)]


def _opted_out(pod: Mapping[str, Any], wording: Wording) -> Iterator[Finding]:
    requirements = Requirements.from_pod(pod, vocabulary=wording.vocabulary)
    if NODEPOOL in requirements and requirements[NODEPOOL].operator == DOES_NOT_EXIST:
        text = "configured to not run on a Karpenter provisioned node"
        requirement = f"{NODEPOOL} {DOES_NOT_EXIST}"
        text += f" (requirement={requirement})" if wording.structured_errors else f" via the {requirement} requirement"
        yield Finding(OPTED_OUT, text, NODEPOOL, ("spec",))


def _node_selector(pod: Mapping[str, Any], wording: Wording) -> Iterator[Finding]:
    selector = (pod.get("spec") or {}).get("nodeSelector") or {}
    for key in sorted(selector):
        findings = requirement_findings({"key": key, "operator": "In", "values": [selector[key]]}, wording)
        for finding in findings:
            yield Finding(finding.rule, finding.text, finding.key, ("spec", "nodeSelector", key))


def _affinity(pod: Mapping[str, Any], wording: Wording) -> Iterator[Finding]:
    affinity: Any = pod
    for part in _AFFINITY:
        affinity = (affinity or {}).get(part)
    affinity = affinity or {}
    if wording.validates_preferred_terms:
        for number, term in enumerate(affinity.get(_PREFERRED) or ()):
            yield from _term(term.get("preference") or {}, (*_AFFINITY, _PREFERRED, number, "preference"), wording)
    required = (affinity.get(_REQUIRED) or {}).get("nodeSelectorTerms") or ()
    for number, term in enumerate(required):
        yield from _term(term, (*_AFFINITY, _REQUIRED, "nodeSelectorTerms", number), wording)


def _term(term: Mapping[str, Any], at: Pointer, wording: Wording) -> Iterator[Finding]:
    if term.get("matchFields") is not None:
        yield Finding(
            "match-fields", "node selector term with matchFields is not supported", None, (*at, "matchFields")
        )
    for index, expression in enumerate(term.get("matchExpressions") or ()):
        for finding in requirement_findings(expression, wording):
            place = (*at, "matchExpressions", index, *finding.pointer)
            yield Finding(finding.rule, finding.text, finding.key, place)
