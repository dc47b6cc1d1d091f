"""Obstacles to a move, seen or unseen: budgets, volumes, requests that are missing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from harness.kube.api.amounts import share
from harness.kube.api.objects import Object, labels_of, mapping_in, name_of, namespace_of, spec_of
from harness.kube.api.selectors import Selector, SelectorError
from harness.kube.scheduling.node_affinity import term_matches
from harness.migrate.judging.workloads import Running

__all__ = ["closed_budgets", "misplaced_volumes", "requestless", "unreadable_budgets"]


def closed_budgets(running: Running, budgets: Iterable[Object]) -> Iterator[str]:
    """Yield a sentence for each PodDisruptionBudget that allows no eviction even when all pods of the workload are healthy."""
    labels = labels_of(running.pod)
    for budget in budgets:
        spec = spec_of(budget)
        here = (namespace_of(budget) or "default") == running.workload.namespace
        selector = _selector(budget)
        if not here or isinstance(selector, str) or not selector.matches(labels):
            continue
        setting = _asked(spec, running.replicas)
        if setting is not None:
            yield f"PodDisruptionBudget/{name_of(budget)} allows no eviction: {setting} with {running.replicas} pods"


def unreadable_budgets(running: Running, budgets: Iterable[Object]) -> Iterator[str]:
    """Yield a sentence for each PodDisruptionBudget beside the workload whose selector no API server would take."""
    for budget in budgets:
        selector = _selector(budget)
        if (namespace_of(budget) or "default") == running.workload.namespace and isinstance(selector, str):
            yield f"PodDisruptionBudget/{name_of(budget)} is not looked at: its selector is refused: {selector}"


def _selector(budget: Object) -> Selector | str:
    """The selector of a budget, or why it is none."""
    try:
        return Selector.parse(spec_of(budget).get("selector"))
    except SelectorError as error:
        return str(error)


def _asked(spec: Mapping[str, Any], replicas: int) -> str | None:
    """Return the setting of a budget that leaves no pod to be evicted (kubernetes pkg/controller/disruption: shares are rounded up)."""
    least, most = spec.get("minAvailable"), spec.get("maxUnavailable")
    if least is not None and share(least, replicas, up=True) >= replicas:
        return f"minAvailable {least}"
    if most is not None and share(most, replicas, up=True) == 0:
        return f"maxUnavailable {most}"
    return None


def misplaced_volumes(
    running: Running, claims: Mapping[tuple[str, str], Object], volumes: Mapping[str, Object], nodes: Sequence[Object]
) -> Iterator[str]:
    """Yield a sentence for each bound volume of the workload's pods that can be attached to none of the new Nodes.

    `claims` by namespace and name, `volumes` by name; `nodes` has a Node for each zone in which machines may be made.
    """
    for name in _claims_of(running, claims):
        claim = claims[(running.workload.namespace, name)]
        volume = volumes.get(str(spec_of(claim).get("volumeName") or ""))
        terms = (
            mapping_in(mapping_in(spec_of(volume).get("nodeAffinity")).get("required")).get("nodeSelectorTerms")
            if volume
            else None
        )
        if volume is not None and terms and not any(term_matches(term, node) for term in terms for node in nodes):
            where = "; ".join(sorted({_shown(term) for term in terms}))
            yield f"volume {name_of(volume)} of claim {name} is bound to {where}, where no machine of its NodePool is made"


def _claims_of(running: Running, claims: Mapping[tuple[str, str], Object]) -> list[str]:
    """The claims of a workload's pods that there are: by name, or made of a StatefulSet's templates."""
    place = running.workload.namespace
    named = [
        str(mapping_in(volume.get("persistentVolumeClaim")).get("claimName"))
        for volume in spec_of(running.pod).get("volumes") or ()
        if volume.get("persistentVolumeClaim")
    ]
    templates = [name_of(template) for template in spec_of(running.object).get("volumeClaimTemplates") or ()]
    prefixes = tuple(f"{template}-{running.workload.name}-" for template in templates)
    made = [name for namespace, name in claims if namespace == place and prefixes and name.startswith(prefixes)]
    return [name for name in (*named, *made) if (place, name) in claims]


def _shown(term: Mapping[str, Any]) -> str:
    expressions = term.get("matchExpressions") or ()
    return ", ".join(
        f"{expression.get('key')} in {', '.join(map(str, expression.get('values') or ())) or 'none'}"
        for expression in expressions
    )


def requestless(pod: Object) -> list[str]:
    """Return the names of containers that ask for no CPU or no memory: Karpenter packs them as if they needed nothing."""
    names = []
    for container in spec_of(pod).get("containers") or ():
        resources = mapping_in(container.get("resources"))
        requests = {**mapping_in(resources.get("limits")), **mapping_in(resources.get("requests"))}
        if not {"cpu", "memory"} <= requests.keys():
            names.append(str(container.get("name")))
    return names
