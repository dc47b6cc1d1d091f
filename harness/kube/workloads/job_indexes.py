"""The completion indexes of an Indexed Job, and the pods that stand for them.

Source: kubernetes pkg/controller/job/indexed_job_utils.go.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any

from harness.kube.api.objects import Object, annotations_of, labels_of, metadata_of, spec_of
from harness.kube.go.text import parse_int

__all__ = ["INDEX", "format_indexes", "index_of", "parse_indexes", "pending_indexes", "repeated", "with_index"]

INDEX = "batch.kubernetes.io/job-completion-index"
"""The annotation and the label of a pod's index."""
_ENVIRONMENT = "JOB_COMPLETION_INDEX"
_LONGEST_GENERATED = 58  # apiserver pkg/storage/names/generate.go
_MOST = 1_000_000  # indexes that are counted: a text may name any number of them


def index_of(pod: Object) -> int | None:
    """Return the completion index of a pod; None without a valid one."""
    number = parse_int(annotations_of(pod).get(INDEX, ""))
    return number if number is not None and number >= 0 else None


def parse_indexes(text: str, completions: int) -> set[int]:
    """Return the indexes below `completions` of a text such as `1,3-5`; parts that are no interval do not count."""
    indexes: set[int] = set()
    for part in text.split(",") if text else ():
        first, _, last = part.partition("-")
        low = parse_int(first)
        high = parse_int(last) if last else low
        if low is not None and high is not None and low < completions:
            indexes.update(range(low, min(high + 1, completions, _MOST)))
    return indexes


def format_indexes(indexes: Iterable[int]) -> str:
    """Return indexes as the status of a Job has them: runs of three and more as `first-last`."""
    runs: list[list[int]] = []
    for index in sorted(indexes):
        if runs and index == runs[-1][-1] + 1:
            runs[-1][1:] = [index]
        else:
            runs.append([index])
    return ",".join(
        f"{run[0]}{'-' if run[-1] > run[0] + 1 else ','}{run[-1]}" if run[1:] else str(run[0]) for run in runs
    )


def pending_indexes(count: int, completions: int, taken: Container[int | None]) -> list[int]:
    """Return the first `count` indexes below `completions` that are not taken."""
    free: list[int] = []
    for index in range(completions):
        if len(free) >= count:
            break
        if index not in taken:
            free.append(index)
    return free


def repeated(
    pods: Sequence[Object], completions: int, in_order: Callable[[Sequence[Object]], list[Object]]
) -> tuple[list[Object], list[Object]]:
    """Return the pods without a valid index or with one that another pod has, and the rest, by index.

    `in_order` sorts pods by the order of their deletion; the last of those with one index stays.
    """
    surplus: list[Object] = []
    left: list[Object] = []
    by_index: dict[int, list[Object]] = {}
    for pod in pods:
        index = index_of(pod)
        if index is None or index >= completions:
            surplus.append(pod)
        else:
            by_index.setdefault(index, []).append(pod)
    for _, same in sorted(by_index.items()):
        *gone, stays = in_order(same) if len(same) > 1 else same
        surplus += gone
        left.append(stays)
    return surplus, left


def with_index(pod: Mapping[str, Any], job: str, index: int, annotations: Mapping[str, str]) -> dict[str, Any]:
    """Return a pod of a Job of this name as that of an index, with further annotations."""
    suffix = f"-{index}-"
    number = str(index)
    meta = {
        **metadata_of(pod),
        "generateName": job[: _LONGEST_GENERATED - len(suffix)] + suffix,
        "labels": {**labels_of(pod), INDEX: number},
        "annotations": {**annotations_of(pod), INDEX: number, **annotations},
    }
    spec = {**spec_of(pod), "hostname": f"{job}-{index}"}
    for field in ("initContainers", "containers"):
        if field in spec:
            spec[field] = [_with_variable(container) for container in spec[field]]
    return {**pod, "metadata": meta, "spec": spec}


def _with_variable(container: Mapping[str, Any]) -> Mapping[str, Any]:
    present = container.get("env") or ()
    if any(variable.get("name") == _ENVIRONMENT for variable in present):
        return container
    source = {"fieldRef": {"apiVersion": "v1", "fieldPath": f"metadata.labels['{INDEX}']"}}
    return {**container, "env": [*present, {"name": _ENVIRONMENT, "valueFrom": source}]}
