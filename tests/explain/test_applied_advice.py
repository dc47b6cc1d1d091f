"""Pods that one mistake keeps pending, as users make them: each advice is read from the output, applied to the manifests and tried."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness import testing
from tests.cli.command import call

POOLS = Path(__file__).parent / "data" / "three-nodepools.yaml"
"""NodePool spot with a taint, on-demand with a limit, gpu with a taint."""
MEMORY, SIZE, ZONE = "karpenter.azure.com/sku-memory", "node.kubernetes.io/instance-type", "topology.kubernetes.io/zone"
FAMILY, CPU, GPU = "karpenter.azure.com/sku-family", "karpenter.azure.com/sku-cpu", "karpenter.azure.com/sku-gpu-name"
AFFINITY, SELECTOR = "the pod's required node affinity", "the pod's nodeSelector"

Objects = dict[str, dict[str, Any]]
"""By kind and name."""


def affinity(*expressions: tuple[str, str, str]) -> dict[str, Any]:
    """A required node affinity of one term: key, operator and values, separated by commas."""
    terms = [{"key": key, "operator": operator, "values": values.split(",")} for key, operator, values in expressions]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": terms}]}}
    return {"affinity": {"nodeAffinity": required}}


def tolerating(value: str) -> dict[str, Any]:
    return {"tolerations": [{"key": "sku", "operator": "Equal", "value": value, "effect": "NoSchedule"}]}


def requesting(limits: Mapping[str, str] | None = None, **requests: str) -> dict[str, Any]:
    resources = {"requests": {"cpu": "1", "memory": "2Gi", **requests}, "limits": dict(limits or {})}
    return {"containers": [{"name": "a", "image": "a", "resources": resources}]}


ONE_GPU = requesting({"nvidia.com/gpu": "1"})
CASES: Mapping[str, tuple[int, dict[str, Any], str]] = {
    # replicas, what the pods say, the first advice
    "the label of an agent pool": (
        1,
        {"nodeSelector": {"agentpool": "ondemand"}},
        f"ask for karpenter.sh/nodepool: on-demand in place of agentpool: ondemand in {SELECTOR}",
    ),
    "a GPU without a toleration": (
        1,
        {"nodeSelector": {GPU: "T4"}, **ONE_GPU},
        "tolerate the taint sku:NoSchedule of NodePool gpu",
    ),
    "more memory than a size has": (
        1,
        requesting(cpu="14", memory="200Gi"),
        "request at most 108Gi memory in container a",
    ),
    "the bare number of a zone": (
        1,
        {"nodeSelector": {ZONE: "1"}},
        f"ask for {ZONE}: eastus-1 in place of 1 in {SELECTOR}",
    ),
    "bare numbers of zones": (
        1,
        affinity((ZONE, "In", "1,2")),
        f"write eastus-1 and eastus-2 in place of 1 and 2 for {ZONE} in {AFFINITY}",
    ),
    "a zone of AWS": (
        1,
        {"nodeSelector": {ZONE: "us-east-1b"}},
        f"ask for {ZONE}: eastus-2 in place of us-east-1b in {SELECTOR}",
    ),
    "a size of AWS": (
        1,
        {"nodeSelector": {SIZE: "m5.xlarge"}},
        f"ask for {SIZE}: Standard_D4als_v6 in place of m5.xlarge in {SELECTOR}",
    ),
    "a size of GCP": (
        1,
        {"nodeSelector": {SIZE: "n2-highmem-8"}},
        f"ask for {SIZE}: Standard_E8as_v5 in place of n2-highmem-8 in {SELECTOR}",
    ),
    "the capacity type of EKS": (
        1,
        {"nodeSelector": {"eks.amazonaws.com/capacityType": "ON_DEMAND"}},
        f"ask for karpenter.sh/capacity-type: on-demand in place of eks.amazonaws.com/capacityType: ON_DEMAND in {SELECTOR}",
    ),
    "GiB of memory where MiB are asked": (
        1,
        affinity((MEMORY, "In", "16,32")),
        f"write 16384 and 32768 in place of 16 and 32 for {MEMORY} in {AFFINITY}",
    ),
    "GiB in a selector": (
        1,
        {"nodeSelector": {MEMORY: "16Gi"}},
        f"ask for {MEMORY}: 16384 in place of 16Gi in {SELECTOR}",
    ),
    "Gi where Mi was meant": (
        1,
        requesting(memory="16384Gi"),
        "request 16Gi memory, not 16Ti, in container a",
    ),
    "a limit that is used up": (30, requesting(cpu="12"), "raise the cpu limit of NodePool on-demand from 300 to 480"),
    "a GPU's long name": (
        1,
        {"nodeSelector": {GPU: "Tesla-T4"}, **tolerating("gpu"), **ONE_GPU},
        f"ask for {GPU}: T4 in place of Tesla-T4 in {SELECTOR}",
    ),
    "the label of NVIDIA's operator": (
        1,
        {"nodeSelector": {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB"}, **tolerating("gpu"), **ONE_GPU},
        f"ask for {GPU}: A100 in place of nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB in {SELECTOR}",
    ),
    "the value of a toleration": (
        1,
        {**tolerating("GPU"), **ONE_GPU},
        "write gpu in place of GPU as value of the pod's toleration",
    ),
    "more GPUs than a size has": (
        1,
        {**tolerating("gpu"), **requesting({"nvidia.com/gpu": "16"})},
        "request at most 8 nvidia.com/gpu in container a",
    ),
    "a virtual node": (
        1,
        {"nodeSelector": {"type": "virtual-kubelet", "kubernetes.io/role": "agent"}},
        f"remove type: virtual-kubelet from {SELECTOR} and to remove kubernetes.io/role: agent from {SELECTOR}",
    ),
    "an amount that no size has": (1, affinity((CPU, "In", "6")), f"also allow 4 for {CPU} in {AFFINITY}"),
    "a bound that no size reaches": (
        1,
        affinity((MEMORY, "Gt", "2000000")),
        f"ask for {MEMORY} Gt 131071 in place of {MEMORY} Gt [2000000] in {AFFINITY}",
    ),
    "a series for a family": (
        1,
        affinity((FAMILY, "In", "Dsv5")),
        f"write D in place of Dsv5 for {FAMILY} in {AFFINITY}",
    ),
    "a label that no NodePool has": (
        1,
        affinity(("team", "In", "blue")),
        "set the label team: blue in NodePool on-demand",
    ),
    "another value than the NodePool's": (
        1,
        affinity(("acme.io/tier", "In", "frontend")),
        f"also allow stateful for acme.io/tier in {AFFINITY}",
    ),
    "two terms": (
        1,
        affinity((CPU, "In", "6"), ("team", "In", "blue")),
        f"remove {CPU} In [6] from {AFFINITY} and to remove team In [blue] from {AFFINITY}",
    ),
    "three selectors": (
        1,
        {"nodeSelector": {"team": "blue", "stage": "one", "site": "two"}},
        f"remove team: blue from {SELECTOR} and to remove stage: one from {SELECTOR} and to remove site: two from {SELECTOR}",
    ),
}


def write(folder: Path, objects: Objects) -> str:
    path = folder / "all.yaml"
    path.write_text("\n---\n".join(map(json.dumps, objects.values())))
    return str(path)


def manifests(replicas: int, spec: Mapping[str, Any]) -> Objects:
    deployment = testing.deployment("a", replicas)
    own = requesting() | dict(spec)
    deployment["spec"]["template"]["spec"] = own
    read = [*yaml.safe_load_all(POOLS.read_text()), deployment]
    return {f"{one['kind']} {one['metadata']['name']}": one for one in read}


@pytest.mark.parametrize(("replicas", "spec", "first"), CASES.values(), ids=CASES)
def test_advice_as_it_is_told_lets_the_pods_in(
    replicas: int, spec: dict[str, Any], first: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, _ = call(capsys, "explain", write(tmp_path, manifests(replicas, spec)))
    assert f" 0 bound, {replicas} pending" in out or replicas > 1
    told = re.findall(r"it would help to (.*?)(?:, which gives another machine .*)? \(then: ", out, re.IGNORECASE)
    assert told[0] == first
    for advice in told:
        objects = manifests(replicas, spec)
        for change in advice.split(" and to "):
            apply(objects, change)
        _, out, _ = call(capsys, "explain", write(tmp_path, objects))
        noun = "pod" if replicas == 1 else "pods"
        assert f"\n{replicas} {noun}: {replicas} bound, 0 pending\n" in out, advice


def test_every_kind_of_change_is_applied_by_some_case() -> None:
    used = {
        rule
        for rule in RULES
        for _, _, first in CASES.values()
        for one in first.split(" and to ")
        if re.fullmatch(rule, one)
    }
    assert len(used) == len(RULES) - len(NOT_FIRST)


def apply(objects: Objects, change: str) -> None:
    """Does by hand what a line of advice says."""
    (rule, found), *_ = [(rule, found) for rule in RULES if (found := re.fullmatch(rule, change))]
    RULES[rule](objects, *found.groups())


def pod(objects: Objects) -> dict[str, Any]:
    spec: dict[str, Any] = objects["Deployment a"]["spec"]["template"]["spec"]
    return spec


def expressions(objects: Objects) -> list[dict[str, Any]]:
    required = pod(objects)["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    found: list[dict[str, Any]] = required["nodeSelectorTerms"][0]["matchExpressions"]
    return found


def expression(objects: Objects, key: str) -> dict[str, Any]:
    return next(one for one in expressions(objects) if one["key"] == key)


def requirements(objects: Objects, pool: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = objects[f"NodePool {pool}"]["spec"]["template"]["spec"]["requirements"]
    return found


def ask_for(objects: Objects, key: str, value: str, old: str) -> None:
    selector = pod(objects)["nodeSelector"]
    selector.pop(old.partition(": ")[0], None)
    selector[key] = value


def write_values(objects: Objects, values: str, old: str, key: str) -> None:
    assert expression(objects, key)["values"] == old.split(" and ")
    expression(objects, key)["values"] = values.split(" and ")


def write_bound(objects: Objects, key: str, operator: str, bound: str) -> None:
    expression(objects, key).update(operator=operator, values=[bound])


def write_toleration(objects: Objects, value: str, old: str, field: str) -> None:
    (toleration,) = [one for one in pod(objects)["tolerations"] if one[field] == old]
    toleration[field] = value


def raise_limit(objects: Objects, resource: str, pool: str, amount: str) -> None:
    objects[f"NodePool {pool}"]["spec"]["limits"][resource] = amount


def tolerate(objects: Objects, key: str, effect: str) -> None:
    pod(objects).setdefault("tolerations", []).append({"key": key, "operator": "Exists", "effect": effect})


def request(objects: Objects, amount: str, resource: str) -> None:
    resources = pod(objects)["containers"][0]["resources"]
    resources["requests"][resource] = amount
    if resource in resources["limits"]:
        resources["limits"][resource] = amount


def allow_in_pod(objects: Objects, value: str, key: str) -> None:
    expression(objects, key)["values"].append(value)


def allow_in_pool(objects: Objects, value: str, key: str, pool: str) -> None:
    next(one for one in requirements(objects, pool) if one["key"] == key)["values"].append(value)


def remove_selector(objects: Objects, key: str) -> None:
    del pod(objects)["nodeSelector"][key]


def remove_expression(objects: Objects, key: str) -> None:
    expressions(objects).remove(expression(objects, key))
    if not expressions(objects):
        del pod(objects)["affinity"]


def remove_requirement(objects: Objects, key: str, pool: str) -> None:
    found = requirements(objects, pool)
    found.remove(next(one for one in found if one["key"] == key))


def set_label(objects: Objects, key: str, value: str, pool: str) -> None:
    objects[f"NodePool {pool}"]["spec"]["template"]["metadata"]["labels"][key] = value


RULES: Mapping[str, Callable[..., None]] = {
    r"ask for (\S+): (\S+) in place of (.+) in the pod's nodeSelector": ask_for,
    r"write (.+) in place of (.+) for (\S+) in the pod's required node affinity": write_values,
    r"ask for (\S+) (\w+) (\d+) in place of .+ in the pod's required node affinity": write_bound,
    r"write (\S+) in place of (\S+) as (\w+) of the pod's toleration": write_toleration,
    r"raise the (\S+) limit of NodePool (\S+) from \S+ to (\S+)": raise_limit,
    r"tolerate the taint (\S+):(\w+) of NodePool \S+": tolerate,
    r"request (?:at most )?(\S+) (\S+?),?(?: not \S+,)? in container a": request,
    r"also allow (\S+) for (\S+) in the pod's required node affinity": allow_in_pod,
    r"also allow (\S+) for (\S+) in NodePool (\S+)": allow_in_pool,
    r"remove (\S+): \S+ from the pod's nodeSelector": remove_selector,
    r"remove (\S+) .+ from the pod's required node affinity": remove_expression,
    r"remove (\S+) .+ from NodePool (\S+)": remove_requirement,
    r"set the label (\S+): (\S+) in NodePool (\S+)": set_label,
}
NOT_FIRST = (allow_in_pool, remove_requirement)
"""What stands behind another advice."""
