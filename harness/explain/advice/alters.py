"""The difference between machines and the wishes of a pod and its NodePools: architecture, system, GPU, capacity type."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any

from harness.explain.advice.trials import Outcome
from harness.explain.sizes.fit import asked_by
from harness.karpenter.cloudprovider import InstanceType
from harness.karpenter.labels.azure import AKS_SCALE_SET_PRIORITY, SKU_GPU_COUNT, SKU_GPU_NAME
from harness.karpenter.labels.core import CAPACITY_TYPE
from harness.karpenter.labels.vocabulary import Vocabulary
from harness.karpenter.requirement import IN, Requirement
from harness.karpenter.requirements import Requirements
from harness.kube.api.labels import ARCH, INSTANCE_TYPE, OS

__all__ = ["CAPACITY_TYPES", "alterations"]

_GPU_RESOURCES = ("nvidia.com/gpu", "amd.com/gpu")
CAPACITY_TYPES = {"spot": "spot", "regular": "on-demand"}
"""The values of AKS's label `kubernetes.azure.com/scalesetpriority` as Karpenter's capacity types."""
_MEANS = {ARCH: "architecture", OS: "operating system", CAPACITY_TYPE: "capacity type"}


def alterations(
    pod: Mapping[str, Any],
    pools: Sequence[Mapping[str, Any]],
    outcome: Outcome,
    vocabulary: Vocabulary,
    types: Iterable[InstanceType] = (),
) -> Iterator[str]:
    """`architecture arm64, not amd64` and the like, for the new Nodes of an outcome; `types`: the sizes that may be asked for by name."""
    requirements = Requirements.from_pod(pod, vocabulary=vocabulary, strict=True)
    # what AKS's label says is Karpenter's capacity type
    if CAPACITY_TYPE not in requirements and AKS_SCALE_SET_PRIORITY in requirements:
        kinds = [
            CAPACITY_TYPES[priority]
            for priority in requirements[AKS_SCALE_SET_PRIORITY].values
            if priority in CAPACITY_TYPES
        ]
        requirements = (
            requirements.add(Requirement.of(CAPACITY_TYPE, IN, kinds, vocabulary=vocabulary)) if kinds else requirements
        )
    by_name = {instance_type.name: instance_type for instance_type in types}
    for key, noun in _MEANS.items():
        wanted = _wanted(key, requirements, pools, vocabulary)
        if wanted is None and key in (ARCH, OS):
            wanted = _of_named_sizes(key, requirements, pools, vocabulary, by_name)
        for value in dict.fromkeys(labels[key] for labels in outcome.nodes.values() if key in labels):
            if wanted is not None and not any(requirement.has(value) for requirement in wanted):
                yield f"{noun} {value}, not {' or '.join(dict.fromkeys(_values(requirement) for requirement in wanted))}"
    with_gpu = frozenset(name for name, instance_type in by_name.items() if _of_size(instance_type, SKU_GPU_NAME))
    yield from _gpus(pod, requirements, outcome, with_gpu)


def _wanted(
    key: str, of_pod_requirements: Requirements, pools: Sequence[Mapping[str, Any]], vocabulary: Vocabulary
) -> list[Requirement] | None:
    """Return the requirements that pod and NodePools agree upon, else the pod's own; None without any."""
    of_pod = _own(of_pod_requirements, key)
    of_pools = []
    for pool in pools:
        own = asked_by(pool, vocabulary)
        if key in own:
            of_pools.append(own[key])
    if of_pod is None:
        return of_pools if len(of_pools) == len(pools) and of_pools else None
    together = [requirement.intersection(of_pod) for requirement in of_pools if requirement.has_intersection(of_pod)]
    return together or [of_pod]


def _of_named_sizes(
    key: str,
    of_pod_requirements: Requirements,
    pools: Sequence[Mapping[str, Any]],
    vocabulary: Vocabulary,
    by_name: Mapping[str, InstanceType],
) -> list[Requirement] | None:
    """Return the properties of the sizes that pod or NodePools ask for by name; None when some ask for none."""
    together = [
        _own(requirements, INSTANCE_TYPE)
        for requirements in (of_pod_requirements, *(asked_by(pool, vocabulary) for pool in pools))
    ]
    of_pod, *of_pools = together
    naming = [of_pod] if of_pod is not None else of_pools
    sizes = [
        by_name.get(name)
        for requirement in naming
        if requirement is not None and not requirement.complement
        for name in requirement.values
    ]
    if not sizes or any(requirement is None or requirement.complement for requirement in naming) or None in sizes:
        return None
    return [
        instance_type.requirements[key]
        for instance_type in sizes
        if instance_type is not None and key in instance_type.requirements
    ] or None


def _own(requirements: Requirements, key: str) -> Requirement | None:
    """The requirement on a key; None where there is none, which `Requirements.get` takes for one that allows everything."""
    return next((requirement for name, requirement in requirements.items() if name == key), None)


def _of_size(size: InstanceType, key: str) -> frozenset[str]:
    return size.requirements[key].values if key in size.requirements else frozenset()


def _values(requirement: Requirement) -> str:
    values = "/".join(sorted(requirement.values))
    return f"other than {values}" if requirement.complement else values


def _gpus(pod: Mapping[str, Any], requirements: Requirements, outcome: Outcome, with_gpu: Set[str]) -> Iterator[str]:
    spec = pod.get("spec") or {}
    resources = [
        {
            **((container.get("resources") or {}).get("limits") or {}),
            **((container.get("resources") or {}).get("requests") or {}),
        }
        for container in spec.get("containers") or ()
    ]
    names, counts = _own(requirements, SKU_GPU_NAME), _own(requirements, SKU_GPU_COUNT)
    sizes = requirements[INSTANCE_TYPE].values if INSTANCE_TYPE in requirements else frozenset()
    wants = (
        any(name in amounts for amounts in resources for name in _GPU_RESOURCES)
        or names is not None
        or counts is not None
    )
    wants = wants or bool(sizes and sizes <= with_gpu)  # a size that is asked for by name
    for labels in outcome.nodes.values():
        name, count = labels.get(SKU_GPU_NAME), labels.get(SKU_GPU_COUNT, "0")
        there = name is not None or count != "0"  # of older sizes no accelerator is recorded
        size = labels.get(INSTANCE_TYPE)
        if wants and not there:
            yield "without a GPU"
        elif not wants and there and size not in sizes:
            yield f"with {count} {name} GPU" if name else f"with {count} GPU"
        elif there and names is not None and (name is None or not names.has(name)):
            yield f"GPU {name or 'without a name'}, not {_values(names)}"
        else:
            continue
        return
