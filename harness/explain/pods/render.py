"""Explanations as text and as JSON-shaped values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from harness.explain.advice.changes import Change
from harness.explain.pods.scheduling import PodExplanation, PoolExplanation
from harness.explain.sizes.reasons import Cause, offering_text
from harness.trace.prices import price_text
from harness.wording import first_few
from plainlines import joined

__all__ = [
    "advice_lines",
    "as_text",
    "as_value",
    "cause_lines",
    "change_text",
    "names_text",
    "pool_lines",
    "pool_value",
]

_FEW = 3  # names, causes and Nodes that are listed where not everything is wanted
_WIDE = 160  # characters of a cause
DEAR = 5.0  # USD per hour from which on a price comes first


def as_text(pods: Sequence[PodExplanation], *, size: str | None = None, verbose: bool = False) -> str:
    """One paragraph for each pod, or for pods of which the same is said; with `size` also everything about that size and its offerings.

    `verbose`: every cause against every size, and Karpenter's sentences in full.
    """
    alike: dict[tuple[str, ...], tuple[list[str], list[PodExplanation]]] = {}
    for same in _fared_alike(pods):
        lines = [_state(same[0]), *_pod(same[0], size, verbose)]
        alike.setdefault(tuple(map(same[0].unnamed, lines)), (lines, []))[1].extend(same)
    return "\n\n".join(joined((f"{names_text(same)}: {state}", *lines)) for (state, *lines), same in alike.values())


def _fared_alike(pods: Sequence[PodExplanation]) -> Iterable[list[PodExplanation]]:
    """Pods that share an explanation: thousands of replicas are put into words once."""
    groups: dict[Hashable, list[PodExplanation]] = {}
    for pod in pods:
        shared = (id(pod.pools), pod.state, pod.place, pod.sentence, pod.nodes, pod.waiting, pod.changes, pod.tried)
        groups.setdefault(shared if pod.pools else (pod.pod, *shared), []).append(pod)
    return groups.values()


def names_text(pods: Sequence[PodExplanation]) -> str:
    """Pods as people know them: `Deployment/web, 3 pods`; `Pod/a and 2 more like it (Pod/b, Pod/c)`."""
    counts = Counter(pod.workload or f"Pod/{pod.pod}" for pod in pods)
    if len(counts) == 1:
        ((name, count),) = counts.items()
        return name if name.startswith("Pod/") else f"{name}, {count} {'pod' if count == 1 else 'pods'}"
    if all(name.startswith("Pod/") for name in counts):
        first, *others = counts
        shown = ", ".join(others[:_FEW]) + (", …" if len(others) > _FEW else "")
        return f"{first} and {len(others)} more like it ({shown})"
    shown = first_few([f"{name} ({count})" for name, count in counts.items()], _FEW)
    return f"{shown}, {sum(counts.values())} pods"


def _state(pod: PodExplanation) -> str:
    return f"{pod.state} on {pod.place}" if pod.place and pod.node else pod.state


def _pod(pod: PodExplanation, size: str | None, verbose: bool) -> Iterator[str]:
    for line in pod.places:
        yield f"  {line}"
    if pod.sentence:
        yield f"  Karpenter says: {pod.sentence if verbose else _short(pod.sentence)}"
    for line in pod.waiting:
        yield f"  {line}"
    yield from _against(pod, size, verbose=verbose)
    for line in advice_lines(pod):
        yield f"  {line}"


def cause_lines(pod: PodExplanation) -> Iterator[str]:
    """Yield the causes against a pod's sizes: names that are not to be had, then NodePools and Nodes with the causes that weigh most."""
    for line in pod.places:
        yield f"  {line}"
    yield from _against(pod, None, verbose=False)


def _against(pod: PodExplanation, size: str | None, *, verbose: bool) -> Iterator[str]:
    for pool in pod.pools:
        if verbose or size or pool.sentence or pool.filtered or not pool.kept:
            yield from pool_lines(pool, size, verbose=verbose)
    # a machine was made for it: what Karpenter had against Nodes before that is over
    nodes = pod.nodes if verbose or not pod.target else ()
    for node, reason in nodes if verbose else nodes[:_FEW]:
        yield f"  Node {node}: {reason if verbose else _short(reason)}"
    if not verbose and len(nodes) > _FEW:
        yield f"  and {len(nodes) - _FEW} more Nodes (-v has all)"


def advice_lines(pod: PodExplanation) -> Iterator[str]:
    """Yield the changes that would help it, or that nothing does that was tried."""
    texts = [*map(_short_text, pod.short), *map(change_text, pod.changes)]
    for number, text in enumerate(texts):
        yield f"Or: {text[0].lower()}{text[1:]}" if number else text
    if pod.tried and not pod.changes:
        tried = f"{pod.tried} {'was' if pod.tried == 1 else 'were'} tried"
        tried += f" ({'; '.join(pod.kinds)})" if pod.kinds else ""
        if pod.untried:
            yield f"No change is known that would be enough: {tried}, {pod.untried} more would have taken too long"
        else:
            yield f"No change, nor two together, would be enough: {tried}"
    if pod.refused and not pod.changes:
        yield f"Where Karpenter would make a machine after a change, Azure refuses it: {', '.join(pod.refused)}"


def _short(sentence: str) -> str:
    """A sentence of Karpenter's without the lists of requirements and resources at its end."""
    head, sign, _ = sentence.partition(", requirements=")
    return f"{head}, …" if sign else sentence


def _short_text(change: Change) -> str:
    """A word that was probably meant, and what Karpenter has against the pods even then."""
    rest = _short(change.rest).rstrip(".")
    return f"Did you mean {change.meant}? To {change.text} is not enough: Karpenter then says: {rest}"


def change_text(change: Change) -> str:
    """Return the text of a change that would help, with its machines; their price comes first where that is much."""
    meant = f"Did you mean {change.meant}? " if change.meant else ""
    dear = f"For {change.price:.2f} USD/h it" if change.price >= DEAR else "It"
    alters = f", which gives another machine than was asked for ({'; '.join(change.alters)})" if change.alters else ""
    some = f" for {change.pods} of {change.wanted} pods" if change.pods < change.wanted else ""
    place = f"NodePool {change.nodepool}" if change.nodes else "Nodes that are there"
    count = f"{change.nodes} Nodes, most of them " if change.nodes > 1 else ""
    most = " at most" if change.as_on_demand else ""
    price = f"at {change.price:.4f} USD/h{most}" if change.price else "of which no price is known"
    price = f"on spot {price}" if change.spot else price
    size = f"{change.size} ({change.arch})" if change.arch else change.size
    bought = f", {count}{size} {price}" if change.size else ""
    together = " in all" if change.nodes > 1 else ""
    rest = f"; of the others Karpenter then says: {_short(change.rest)}" if some and change.rest else ""
    lost = ", ".join(f"{count} {'pod' if count == 1 else 'pods'} of {name}" for name, count in change.lost)
    rest += f"; without a Node then: {lost}" if lost else ""
    return f"{meant}{dear} would help{some} to {change.text}{alters} (then: {place}{bought}{together}{rest})"


def _verdict(pool: PoolExplanation) -> str:
    if not pool.looked:
        return f"no size was looked at, because {pool.sentence}"
    allowed, count = len(pool.kept), len(pool.verdicts)
    if pool.filtered and allowed:
        return f"{allowed} of {count} sizes suit it, but they have too few values for its minValues, so no pod is tried with it"
    if pool.filtered:
        return f"none of {count} sizes suits it, so no pod is tried with it"
    if pool.sentence and allowed:
        return f"{allowed} of {count} sizes would do, but {pool.sentence}"
    return f"{allowed} of {count} sizes will do"


def pool_lines(pool: PoolExplanation, size: str | None, *, verbose: bool = True) -> Iterator[str]:
    """One NodePool in words, with everything about one size; without `verbose` only the causes that weigh most."""
    yield f"  NodePool {pool.nodepool}: {_verdict(pool) if verbose else _short(_verdict(pool))}"
    if pool.chosen:
        yield f"    {pool.chosen}"
    for key, (wanted, present) in sorted(pool.unmet.items()):
        yield f"    minValues asks for {wanted} values of {key}, the sizes that suit have {present}"
    if verbose:
        yield from _all_causes(pool)
    elif pool.looked and (pool.filtered or not pool.kept):
        yield from _main_causes(pool)
    if pool.guessed:
        some = ", ".join([*pool.guessed][:3]) + (", …" if len(pool.guessed) > 3 else "")
        fields = ", ".join(sorted({field for fields in pool.guessed.values() for field in fields}, reverse=True))
        yield f"    guessed: {fields} of {len(pool.guessed)} sizes ({some}), refused for that alone; the answer could differ"
    if size is not None and size in pool.dropped_sizes:
        yield f"    {size}: not an instance type, dropped by the filter {pool.dropped_sizes[size]}"
    for verdict in pool.verdicts:
        if verdict.instance_type.name == size:
            texts = [cause.text for cause in pool.causes(verdict)] or ["nothing speaks against it"]
            yield f"    {size}: {'; '.join(texts)}"
            for offering in verdict.offerings:
                text = offering_text(size, offering, pool.why)
                price = price_text(offering.offering.price, unpriced=offering.offering.unpriced)
                yield f"      {offering.offering.zone} {offering.offering.capacity_type} {price}: {text}"


def _all_causes(pool: PoolExplanation) -> Iterator[str]:
    everything = pool.all_causes
    for cause, count in sorted(pool.deciding.items(), key=lambda entry: (-entry[1], entry[0])):
        more = everything[cause] - count
        also = f" ({everything[cause]} in all, {more} of them counted for another reason)" if more else ""
        yield f"    {count:5} {cause.text}{also}"
    if pool.dropped:
        counted = ", ".join(
            f"{count} {name}" for name, count in sorted(pool.dropped.items(), key=lambda entry: -entry[1])
        )
        yield f"    not instance types: {counted}"


def _main_causes(pool: PoolExplanation) -> Iterator[str]:
    """Yield the causes against sizes that the NodePool itself allows, then those for which it rules sizes out."""
    allowed, ruled_out = pool.deciding_allowed, pool.ruled_out
    own = _FEW - 2 if allowed else _FEW
    main_causes = [*_most(allowed)[:_FEW], *_most(ruled_out)[:own]]
    for cause, count in main_causes:
        yield f"    {count:5} {cause.text if len(cause.text) <= _WIDE else f'{cause.text[:_WIDE]}…'}"
    rest = len(pool.verdicts) - len(pool.kept) - sum(count for _, count in main_causes)
    if rest:
        yield f"    {rest:5} for other reasons (-v)"


def _most(causes: Mapping[Cause, int]) -> list[tuple[Cause, int]]:
    return sorted(causes.items(), key=lambda entry: (-entry[1], entry[0]))


def as_value(pods: Sequence[PodExplanation]) -> list[dict[str, Any]]:
    """The same with every size and offering; pods that differ in name only are listed with the first of them as `alike`."""
    return [
        {
            "pod": pod.pod,
            "alike": [other.pod for other in others],
            "workload": pod.workload,
            "state": pod.state,
            "place": pod.place or None,
            "karpenter": pod.sentence or None,
            "waiting": list(pod.waiting),
            "nodepools": [pool_value(pool) for pool in pod.pools],
            "nodes": [{"node": node, "reason": reason} for node, reason in pod.nodes],
            "changes": [
                {
                    "change": advised.text,
                    "nodepool": advised.nodepool or None,
                    "size": advised.size or None,
                    "price": advised.price,
                    "nodes": advised.nodes,
                    "pods": advised.pods,
                    "meant": advised.meant or None,
                    "alters": list(advised.alters),
                    "region": advised.region or None,
                    "rest": advised.rest or None,
                    "lost": dict(advised.lost),
                }
                for advised in pod.changes
            ],
            "meant_but_short": [
                {"change": short.text, "meant": short.meant, "rest": short.rest} for short in pod.short
            ],
            "changes_tried": pod.tried,
            "changes_untried": pod.untried,
            "kinds_tried": list(pod.kinds),
            "refused_by_azure": list(pod.refused),
            "places": list(pod.places),
        }
        for pod, *others in _fared_alike(pods)
    ]


def pool_value(pool: PoolExplanation) -> dict[str, Any]:
    """The same with every size and offering."""
    everything = pool.all_causes
    return {
        "nodepool": pool.nodepool,
        "karpenter": pool.sentence or None,
        "topology": pool.chosen or None,
        "filtered_out": pool.filtered,
        "min_values": {key: {"asked": wanted, "present": present} for key, (wanted, present) in pool.unmet.items()},
        "sizes": len(pool.verdicts),
        "guessed": {size: dict(fields) for size, fields in pool.guessed.items()},
        "kept": list(pool.kept),
        "causes": [
            {"rule": cause.rule, "subject": cause.subject, "text": cause.text, "first": first, "all": everything[cause]}
            for cause, first in sorted(
                {cause: pool.deciding.get(cause, 0) for cause in everything}.items(),
                key=lambda entry: (-entry[1], entry[0]),
            )
        ],
        "dropped": dict(pool.dropped),
        "dropped_sizes": dict(pool.dropped_sizes),
        "excluded": {
            verdict.instance_type.name: {
                "reasons": [cause.text for cause in pool.causes(verdict)],
                "offerings": [
                    {
                        "zone": offering.offering.zone,
                        "capacityType": offering.offering.capacity_type,
                        "verdict": offering_text(verdict.instance_type.name, offering, pool.why),
                    }
                    for offering in verdict.offerings
                ],
            }
            for verdict in pool.verdicts
            if not verdict.kept
        },
    }
