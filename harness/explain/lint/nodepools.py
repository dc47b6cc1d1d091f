"""NodePools that cannot become what somebody means: their NodeClass, limits, taints and architectures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from harness.explain.lint.findings import Finding, finding
from harness.explain.lint.pods import PodTemplate
from harness.explain.sizes.fit import asked_by
from harness.karpenter.cloudprovider import InstanceType
from harness.karpenter.labels.azure import GROUP
from harness.karpenter.labels.vocabulary import Vocabulary
from harness.karpenter.requirements import Requirements
from harness.kube.api.labels import ARCH
from harness.kube.api.objects import Object, name_of, spec_of
from harness.kube.api.quantity import Quantity, QuantityError
from harness.kube.scheduling.taints import PREFER_NO_SCHEDULE, taint_text, untolerated
from harness.wording import did_you_mean, first_few

__all__ = ["architecture_findings", "limit_findings", "nodeclass_findings", "taint_findings"]

_TEMPLATE = ("spec", "template", "spec")
_KIND = "AKSNodeClass"
_AKS = "kubernetes.azure.com"
_FEW = 3  # workloads that are named


def nodeclass_findings(pool: Object, nodeclasses: Sequence[Object]) -> Iterator[Finding]:
    """A nodeClassRef of another group or kind, or with a name that no AKSNodeClass has where some are given."""
    reference = _template(pool).get("nodeClassRef") or {}
    group, kind, name = (str(reference.get(field) or "") for field in ("group", "kind", "name"))
    at = (*_TEMPLATE, "nodeClassRef")
    if (group, kind) != (GROUP, _KIND):
        field = "kind" if kind != _KIND else "group"
        only = f"Karpenter on Azure reads {_KIND} of group {GROUP} alone"
        text = f"nodeClassRef names {kind} of group {group}, and {only}: the NodePool is not used"
        yield finding("nodeclass-missing", pool, (*at, field), text)
    elif nodeclasses and name not in (names := [name_of(nodeclass) for nodeclass in nodeclasses]):
        hint = did_you_mean(name, names)
        text = f"nodeClassRef names {_KIND} {name}, and there is none of that name; {hint}: the NodePool is not used"
        yield finding("nodeclass-missing", pool, (*at, "name"), text)


def taint_findings(pool: Object, pods: Sequence[PodTemplate]) -> Iterator[Finding]:
    """Taints in AKS's domain, and taints that none of the pods tolerates where there are some."""
    for number, taint in enumerate(_template(pool).get("taints") or ()):
        at = (*_TEMPLATE, "taints", number)
        if str(taint.get("key")).partition("/")[0] == _AKS:
            # learn.microsoft.com/azure/aks/use-labels: the prefix is reserved; core adds tolerations for none of its taints
            text = (
                f"taint {taint_text(taint)}: AKS keeps the domain {_AKS} to itself, and neither it nor Karpenter gives pods a toleration "
                "for a NodePool's taint; a domain of your own says whose it is"
            )
            yield finding("azure-taint", pool, (*at, "key"), text)
        if taint.get("effect") == PREFER_NO_SCHEDULE or not pods:
            continue
        if all(untolerated([taint], spec_of(template.pod).get("tolerations") or ()) for template in pods):
            text = f"taint {taint_text(taint)}: no pod that is given tolerates it, so none gets a node of the NodePool"
            yield finding("taint-untolerated", pool, at, text)


def limit_findings(pool: Object, sizes: Sequence[InstanceType]) -> Iterator[Finding]:
    """Limits that the smallest of the NodePool's sizes exceeds, or no node at all."""
    for resource, written in (spec_of(pool).get("limits") or {}).items():
        try:
            limit = Quantity.parse(written)
        except QuantityError:
            continue
        at = ("spec", "limits", resource)
        if resource == "nodes" and limit < Quantity.parse(1):
            yield finding("limit-below-node", pool, at, f"limit nodes {written}: the NodePool makes no node")
        having = [size for size in sizes if resource in size.capacity]
        smallest = min(having, key=lambda size: (size.capacity[resource], size.name), default=None)
        if smallest is None or len(having) < len(sizes) or smallest.capacity[resource] <= limit:
            continue
        amount = smallest.capacity[resource]
        text = f"limit {resource} {written}: the smallest of the NodePool's sizes, {smallest.name}, has {amount}, so it makes no node"
        yield finding("limit-below-node", pool, at, text)


def architecture_findings(
    pool: Object, sizes: Sequence[InstanceType], pods: Sequence[PodTemplate], vocabulary: Vocabulary
) -> Iterator[Finding]:
    """Pods without an architecture that a NodePool takes whose sizes are of both, or of arm64 alone."""
    arm = [size for size in sizes if size.requirements[ARCH].has("arm64")]
    if not arm:
        return
    own = asked_by(pool, vocabulary)
    template = _template(pool)
    unasked = [
        asker
        for asker in pods
        if not asker.asks_for_architecture
        and not untolerated(template.get("taints") or (), spec_of(asker.pod).get("tolerations") or ())
        and own.compatible(Requirements.from_pod(asker.pod, vocabulary=vocabulary, strict=True), vocabulary.well_known)
        is None
    ]
    if unasked:
        named = first_few([f"{template.owner['kind']} {name_of(template.owner)}" for template in unasked], _FEW)
        whose = f"its sizes are of arm64 too ({arm[0].name} and others)"
        text = f"{whose}, and {named} asks for no architecture: an image for amd64 does not run there"
        at = next(
            (
                (*_TEMPLATE, "requirements", number, "values")
                for number, requirement in enumerate(template.get("requirements") or ())
                if requirement.get("key") == ARCH
            ),
            (*_TEMPLATE, "requirements"),
        )
        yield finding("arm64-unasked", pool, at, text)


def _template(pool: Object) -> dict[str, Any]:
    spec: dict[str, Any] = dict(spec_of(spec_of(pool).get("template") or {}))
    return spec
