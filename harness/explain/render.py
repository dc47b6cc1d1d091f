"""Explanations as text and as JSON-shaped values."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any

from harness.explain.reasons import causes_of, offering_text
from harness.explain.scheduling import PodExplanation, PoolExplanation

__all__ = ["as_text", "as_value"]


def as_text(pods: Sequence[PodExplanation], *, size: str | None = None) -> str:
    """One paragraph for each pod, or for pods of which the same is said; with `size` also everything about that size and its offerings."""
    alike: dict[tuple[str, ...], list[PodExplanation]] = {}
    for same in _fared_alike(pods):
        alike.setdefault((_state(same[0]), *_pod(same[0], size)), []).extend(same)
    return "\n\n".join("\n".join((f"{_names(same)}: {state}", *lines)) for (state, *lines), same in alike.items())


def _fared_alike(pods: Sequence[PodExplanation]) -> Iterable[list[PodExplanation]]:
    """Pods that share an explanation: thousands of replicas are put into words once."""
    groups: dict[Hashable, list[PodExplanation]] = {}
    for pod in pods:
        shared = (id(pod.pools), pod.state, pod.place, pod.sentence, pod.nodes, pod.waiting, pod.changes, pod.tried)
        groups.setdefault(shared if pod.pools else (pod.pod, *shared), []).append(pod)
    return groups.values()


def _names(pods: Sequence[PodExplanation]) -> str:
    first, *others = [pod.pod for pod in pods]
    if not others:
        return f"Pod {first}"
    shown = ", ".join(others[:3]) + (", …" if len(others) > 3 else "")
    return f"Pod {first} and {len(others)} more like it ({shown})"


def _state(pod: PodExplanation) -> str:
    return f"{pod.state} on {pod.place}" if pod.place else pod.state


def _pod(pod: PodExplanation, size: str | None) -> Iterator[str]:
    if pod.sentence:
        yield f"  Karpenter says: {pod.sentence}"
    for line in pod.waiting:
        yield f"  {line}"
    for pool in pod.pools:
        yield from pool_lines(pool, size)
    for node, reason in pod.nodes:
        yield f"  Node {node}: {reason}"
    for change in pod.changes:
        place = change.nodepool if change.nodepool.startswith("Node ") else f"NodePool {change.nodepool}"
        bought = f", {change.size} at {change.price:.4f} USD/h" if change.size else ""
        yield f"  It would help to {change.text} (then: {place}{bought})"
    if pod.tried and not pod.changes:
        yield f"  No change, nor two together, would be enough: {pod.tried} {'was' if pod.tried == 1 else 'were'} tried"


def _verdict(pool: PoolExplanation) -> str:
    kept, count = len(pool.kept), len(pool.verdicts)
    if pool.filtered and kept:
        return f"{kept} of {count} sizes suit it, but they have too few values for its minValues, so no pod is tried with it"
    if pool.filtered:
        return f"none of {count} sizes suits it, so no pod is tried with it"
    if pool.sentence and kept == count:
        return f"no size was looked at, because {pool.sentence}"
    if pool.sentence and kept:
        return f"{kept} of {count} sizes would do, but {pool.sentence}"
    return f"{kept} of {count} sizes will do"


def pool_lines(pool: PoolExplanation, size: str | None) -> Iterator[str]:
    """One NodePool in words, with everything about one size."""
    yield f"  NodePool {pool.nodepool}: {_verdict(pool)}"
    for key, (asked, present) in sorted(pool.unmet.items()):
        yield f"    minValues asks for {asked} values of {key}, the sizes that suit have {present}"
    everything = pool.all_causes
    for cause, count in sorted(pool.deciding.items(), key=lambda one: (-one[1], one[0])):
        more = everything[cause] - count
        also = f" ({everything[cause]} in all, {more} of them counted for another reason)" if more else ""
        yield f"    {count:5} {cause.text}{also}"
    if pool.dropped:
        counted = ", ".join(f"{count} {name}" for name, count in sorted(pool.dropped.items(), key=lambda one: -one[1]))
        yield f"    not instance types: {counted}"
    if pool.verdicts and pool.guessed[0]:
        guessed, zones = pool.guessed
        yield f"    guessed, not recorded from Azure: something about {guessed} of these sizes, the zones of {zones}"
    if size is not None and size in pool.dropped_sizes:
        yield f"    {size}: not an instance type, dropped by the filter {pool.dropped_sizes[size]}"
    for verdict in pool.verdicts:
        if verdict.instance_type.name == size:
            texts = [cause.text for cause in causes_of(verdict)] or ["nothing speaks against it"]
            yield f"    {size}: {'; '.join(texts)}"
            for one in verdict.offerings:
                yield f"      {one.offering.zone} {one.offering.capacity_type} {one.offering.price:.4f} USD/h: {offering_text(one)}"


def as_value(pods: Sequence[PodExplanation]) -> list[dict[str, Any]]:
    """The same with every size and offering; pods that differ in name only are listed with the first of them as `alike`."""
    return [
        {
            "pod": pod.pod,
            "alike": [other.pod for other in others],
            "state": pod.state,
            "place": pod.place or None,
            "karpenter": pod.sentence or None,
            "waiting": list(pod.waiting),
            "nodepools": [pool_value(pool) for pool in pod.pools],
            "nodes": [{"node": node, "reason": reason} for node, reason in pod.nodes],
            "changes": [
                {"change": one.text, "nodepool": one.nodepool, "size": one.size or None, "price": one.price}
                for one in pod.changes
            ],
            "changes_tried": pod.tried,
        }
        for pod, *others in _fared_alike(pods)
    ]


def pool_value(pool: PoolExplanation) -> dict[str, Any]:
    """The same with every size and offering."""
    everything = pool.all_causes
    return {
        "nodepool": pool.nodepool,
        "karpenter": pool.sentence or None,
        "filtered_out": pool.filtered,
        "min_values": {key: {"asked": asked, "present": present} for key, (asked, present) in pool.unmet.items()},
        "sizes": len(pool.verdicts),
        "guessed": {"sizes": pool.guessed[0], "zones": pool.guessed[1]},
        "kept": list(pool.kept),
        "causes": [
            {"rule": cause.rule, "subject": cause.subject, "text": cause.text, "first": first, "all": everything[cause]}
            for cause, first in sorted(
                {cause: pool.deciding.get(cause, 0) for cause in everything}.items(), key=lambda one: (-one[1], one[0])
            )
        ],
        "dropped": dict(pool.dropped),
        "dropped_sizes": dict(pool.dropped_sizes),
        "excluded": {
            verdict.instance_type.name: {
                "reasons": [cause.text for cause in causes_of(verdict)],
                "offerings": [
                    {
                        "zone": one.offering.zone,
                        "capacityType": one.offering.capacity_type,
                        "verdict": offering_text(one),
                    }
                    for one in verdict.offerings
                ],
            }
            for verdict in pool.verdicts
            if not verdict.kept
        },
    }
