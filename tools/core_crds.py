"""The provider's CRDs on another release of core than the one that its go.mod names."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

__all__ = ["on_other_core"]


def on_other_core(
    crds: Iterable[Mapping[str, Any]], own: Iterable[Mapping[str, Any]], other: Iterable[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """The provider's CRDs as they would be on another core: that core's files, with the rules that the provider added to ``own``.

    ``own`` are the files of the core that the provider is built with (kaz ``hack/validation/*.sh`` add rules to them).
    """
    cores = {crd["metadata"]["name"]: crd for crd in own}
    others = {crd["metadata"]["name"]: crd for crd in other}
    result: list[Mapping[str, Any]] = []
    for crd in crds:
        name = crd["metadata"]["name"]
        if name not in cores:
            result.append(crd)
            continue
        target = copy.deepcopy(others[name])
        for provided, before, after in zip(
            crd["spec"]["versions"], cores[name]["spec"]["versions"], target["spec"]["versions"], strict=True
        ):
            _carry_over(*(version["schema"]["openAPIV3Schema"] for version in (provided, before, after)))
        result.append(target)
    return result


def _carry_over(provided: Mapping[str, Any], before: Mapping[str, Any], after: dict[str, Any]) -> None:
    """Adds the rules of ``provided`` that ``before`` lacks to ``after``, at every field. Raises ValueError where the field is gone."""
    known = before.get("x-kubernetes-validations", [])
    added = [rule for rule in provided.get("x-kubernetes-validations", []) if rule not in known]
    if added:
        after["x-kubernetes-validations"] = [*after.get("x-kubernetes-validations", []), *added]
    for name, child in provided.get("properties", {}).items():
        if name in before.get("properties", {}):
            if name not in after.get("properties", {}):
                if any("x-kubernetes-validations" in each for each in _below(child)):
                    raise ValueError(f"the other core has no field {name}, which the provider has rules for")
                continue
            _carry_over(child, before["properties"][name], after["properties"][name])
    for word in ("items", "additionalProperties"):
        if isinstance(provided.get(word), dict) and isinstance(before.get(word), dict):
            _carry_over(provided[word], before[word], after[word])


def _below(definition: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield definition
    for child in definition.get("properties", {}).values():
        yield from _below(child)
    for word in ("items", "additionalProperties"):
        if isinstance(definition.get(word), dict):
            yield from _below(definition[word])
