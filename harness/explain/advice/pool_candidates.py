"""Changes of a NodePool or of an AKSNodeClass that could let a pod in: labels, limits, minValues, what is allowed; not yet tried."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from harness.explain.advice.alters import CAPACITY_TYPES
from harness.explain.advice.candidates import (
    Candidate,
    Looked,
    NodeClassSeen,
    Rank,
    expression_text,
    only_reasons,
    required_terms,
)
from harness.explain.advice.edits import in_spec, of_requirement, setting, without
from harness.explain.advice.synonyms import OF_VIRTUAL_NODES
from harness.karpenter.labels.azure import AKS_SCALE_SET_PRIORITY
from harness.karpenter.labels.core import CAPACITY_TYPE
from harness.karpenter.requirements import Conflicts, Requirement, UndefinedKey
from harness.karpenter.scheduling.reasons.ledger import PoolFiltered, PoolTried
from harness.karpenter.scheduling.reasons.pods import NodeLimitReached, RequirementsIncompatible
from harness.karpenter.scheduling.reasons.verdicts import BeyondLimit, NodePoolExcludes, PodExcludes, TooSmall
from harness.kube.api.objects import spec_of
from harness.kube.api.quantity import Quantity
from harness.kube.api.resources import ResourceList

__all__ = ["Needed", "nodeclass_candidates", "pool_candidates"]

Needed = Callable[[str], ResourceList]
"""NodePool → what its Nodes would have in all if it had no limits; empty when that is not known."""
_FEW = 2  # values of one key that are proposed
_OS_DISKS = (256, 512, 1024, 2048)
"""Sizes of OS disks in GB that are proposed; AKS takes at most 2048."""
_FOR_PODS = 880_000_000  # bytes of each GB that kubelet's thresholds leave


def pool_candidates(
    pod: Mapping[str, Any], pool: Mapping[str, Any], entry: Looked, needed: Needed | None = None
) -> Iterator[Candidate]:
    """Yield changes of the NodePool. `needed` where more than this pod waits, so that limits are raised for all of them."""
    if isinstance(entry, PoolTried):
        yield from _missing_labels(pod, pool, entry)
        yield from _limits(pool, entry, needed)
    else:
        yield from _min_values(pool, entry)
    yield from _allowed(pod, pool, entry)
    yield from _removed(pool)


def _missing_labels(pod: Mapping[str, Any], pool: Mapping[str, Any], entry: PoolTried) -> Iterator[Candidate]:
    """Labels for the keys that the pod asks for and the NodePool does not know."""
    cause = entry.reason.cause if isinstance(entry.reason, RequirementsIncompatible) else None
    if not isinstance(cause, UndefinedKey):
        return
    present = {*entry.requirements.vocabulary.well_known, *entry.requirements}
    keys = [*(spec_of(pod).get("nodeSelector") or {}), *(expression["key"] for _, _, expression in required_terms(pod))]
    for key in dict.fromkeys([cause.key, *(key for key in keys if key not in present)]):
        value = next(iter(_asked(pod, key)), "any")
        if OF_VIRTUAL_NODES.get(key) == value:
            continue  # a label does not make a virtual node of a machine
        wording = f"set the label {key}: {value} in NodePool {entry.nodepool}"
        edit = setting(("spec", "template", "metadata", "labels"), key, value)
        yield Candidate(Rank.ADD, wording, edit, entry.nodepool)


def _limits(pool: Mapping[str, Any], entry: PoolTried, needed: Needed | None) -> Iterator[Candidate]:
    """Limits raised by what is missing; taken away where that is not enough."""
    limits, name = pool["spec"].get("limits"), entry.nodepool
    if not limits:
        return
    least: dict[str, Quantity] = {}
    for reason in only_reasons(entry.types()):
        if isinstance(reason, BeyondLimit):
            lacks = reason.capacity - reason.remaining
            least[reason.resource] = min(lacks, least.get(reason.resource, lacks))
    if isinstance(entry.reason, NodeLimitReached):
        least["nodes"] = Quantity.parse(1)
    if needed is not None and least:
        raised = needed(name)
        least |= {
            resource: raised[resource] - Quantity.parse(limits[resource]) for resource in least if resource in raised
        }
    wanted = {
        resource: str(Quantity.parse(limits[resource]) + lacks)
        for resource, lacks in least.items()
        if resource in limits and not (lacks.negative or lacks.is_zero())
    }
    for resource, to in wanted.items():
        wording = f"raise the {resource} limit of NodePool {name} from {limits[resource]} to {to}"
        yield Candidate(Rank.RAISE, wording, setting(("spec", "limits"), resource, to), name)
    if not wanted:
        yield Candidate(Rank.RAISE, f"remove the limits of NodePool {name}", without(("spec",), "limits"), name)


def _min_values(pool: Mapping[str, Any], entry: PoolFiltered) -> Iterator[Candidate]:
    name = entry.nodepool
    for requirement in pool["spec"]["template"]["spec"].get("requirements") or ():
        present, lower_bound = entry.unmet.get(requirement["key"]), requirement.get("minValues")
        if present and lower_bound is not None:

            def lower(requirements: list[dict[str, Any]], index: int, least: int = present) -> None:
                requirements[index]["minValues"] = least

            wording = f"lower minValues of {requirement['key']} from {lower_bound} to {present} in NodePool {name}"
            yield Candidate(Rank.ADD, wording, of_requirement(requirement, lower), name)
            # the pod, or the number of sizes that a NodeClaim may name, can leave fewer values than the NodePool has
            wording = f"remove minValues ({lower_bound}) of {requirement['key']} from NodePool {name}"
            yield Candidate(
                Rank.SHRINK,
                wording,
                of_requirement(requirement, lambda all_, at: all_[at].pop("minValues", None)),
                name,
            )


def _allowed(pod: Mapping[str, Any], pool: Mapping[str, Any], entry: Looked) -> Iterator[Candidate]:
    """More values for a requirement that alone keeps the pod, or the sizes that would suit it, away."""
    values: dict[str, list[str]] = {}
    cause = (
        entry.reason.cause
        if isinstance(entry, PoolTried) and isinstance(entry.reason, RequirementsIncompatible)
        else None
    )
    for conflict in cause.keys if isinstance(cause, Conflicts) else ():
        values[conflict.key] = list(_asked(pod, conflict.key)) or _wanted(conflict.incoming)
    # offerings of the other kind are kept away before the label is looked at
    priorities = _asked(pod, AKS_SCALE_SET_PRIORITY)
    values.setdefault(CAPACITY_TYPE, []).extend(
        CAPACITY_TYPES[priority] for priority in priorities if priority in CAPACITY_TYPES
    )
    priced: dict[tuple[str, str], float] = {}
    for verdict in entry.types():
        reason = verdict.reasons[0] if len(verdict.reasons) == 1 else None
        if not isinstance(reason, NodePoolExcludes | PodExcludes) or len(reason.conflicts.keys) != 1:
            continue
        key = reason.conflicts.keys[0].key
        wanted = entry.requirements  # of NodePool and pod, where the NodePool's own are looked at alone above
        together = verdict.instance_type.requirements.intersects(wanted)
        if together is None or any(conflict.key != key for conflict in together.keys):
            continue
        price = min((offering.offering.price for offering in verdict.offerings if offering.usable), default=0.0)
        for value in verdict.instance_type.requirements.get(key).values:
            priced[(key, value)] = min(price, priced.get((key, value), price))
    for (key, value), _ in sorted(priced.items(), key=lambda entry: (entry[1], entry[0])):
        values.setdefault(key, []).append(value)
    for requirement in pool["spec"]["template"]["spec"].get("requirements") or ():
        if requirement["operator"] != "In":
            continue
        present = requirement.get("values") or ()
        candidates = dict.fromkeys(values.get(requirement["key"], ()))
        for value in [candidate for candidate in candidates if candidate not in present][:_FEW]:

            def allow(requirements: list[dict[str, Any]], index: int, value: str = value) -> None:
                requirements[index]["values"] = [*requirements[index]["values"], value]

            wording = f"also allow {value} for {requirement['key']} in NodePool {pool['metadata']['name']}"
            edit = of_requirement(requirement, allow)
            yield Candidate(Rank.ALLOW, wording, edit, pool["metadata"]["name"], subject=requirement["key"])


def _wanted(incoming: Requirement) -> list[str]:
    """Return the values that something else than the pod asks for, such as its volumes."""
    return [] if incoming.complement else sorted(incoming.values)


def _removed(pool: Mapping[str, Any]) -> Iterator[Candidate]:
    """The NodePool without one of its requirements or labels."""
    name = pool["metadata"]["name"]
    template = pool["spec"]["template"]
    for requirement in template["spec"].get("requirements") or ():
        wording = f"remove {expression_text(requirement)} from NodePool {name}"
        edit = of_requirement(requirement, lambda all_, at: all_.__delitem__(at))
        yield Candidate(Rank.REMOVE_RULE, wording, edit, name, subject=requirement["key"])
    labels = ("spec", "template", "metadata", "labels")
    for key, value in ((template.get("metadata") or {}).get("labels") or {}).items():
        wording = f"remove the label {key}: {value} from NodePool {name}"
        yield Candidate(Rank.REMOVE_RULE, wording, without(labels, key), name)


def _asked(pod: Mapping[str, Any], key: str) -> Sequence[str]:
    """The values that a pod asks for."""
    selector = pod.get("spec", {}).get("nodeSelector") or {}
    if key in selector:
        return [str(selector[key])]
    return [
        str(value)
        for _, _, expression in required_terms(pod)
        if expression["key"] == key and expression["operator"] == "In"
        for value in expression.get("values") or ()
    ]


_NODECLASS: Mapping[str, tuple[str, tuple[str, ...], Any]] = {
    # filter: what to do, the field, its new value; None takes it away
    "gpu-image-family": ("set spec.imageFamily: Ubuntu, which has GPU drivers,", ("imageFamily",), "Ubuntu"),
    "encryption-at-host": ("take spec.security.encryptionAtHost away", ("security", "encryptionAtHost"), None),
    "local-dns": ("set spec.localDNS.mode: Disabled", ("localDNS", "mode"), "Disabled"),
    "gpu-driver-mode": ("set spec.gpu.mode: None, without a driver,", ("gpu", "mode"), "None"),
    "artifact-streaming": ("set spec.artifactStreaming.enabled: false", ("artifactStreaming", "enabled"), False),
    "trusted-launch": ("take spec.security.trustedLaunch away", ("security", "trustedLaunch"), None),
}


def nodeclass_candidates(seen: NodeClassSeen, looked_at: Sequence[Looked]) -> Iterator[Candidate]:
    """Yield changes of the AKSNodeClass for the sizes that its fields keep away, and for disks that the pods fit on."""
    name = seen.nodeclass["metadata"]["name"]
    tried = [entry for entry in looked_at if isinstance(entry, PoolTried) and entry.nodepool in seen.nodepools]
    short = [reason for entry in tried for reason in only_reasons(entry.types()) if isinstance(reason, TooSmall)]
    wanted = [reason.requested.value() for reason in short if reason.resource == "ephemeral-storage"]
    larger = [size for size in _OS_DISKS if wanted and size * _FOR_PODS >= max(wanted)]
    if larger:
        text = f"set spec.osDiskSizeGB: {larger[0]} in AKSNodeClass {name}"
        yield Candidate(Rank.ADD, text, in_spec(("osDiskSizeGB",), larger[0]), nodeclass=seen)
    for filter_, (wording, path, value) in _NODECLASS.items():
        if filter_ in seen.filters:
            text = f"{wording} in AKSNodeClass {name}"
            yield Candidate(Rank.SHRINK, text, in_spec(path, value), nodeclass=seen)
