"""Two releases' answers to the same question as findings: sizes, choices, Node labels, pods."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.explain.labels.instead import advice
from harness.explain.upgrade.findings import Effect, Finding
from harness.explain.upgrade.trial import Trial
from harness.explain.upgrade.workload import Placement
from harness.karpenter.labels.azure import ZONE_KEYS
from harness.karpenter.releases import ProviderRelease
from harness.kube.api.labels import HOSTNAME
from harness.wording import first_few

__all__ = ["choice_finding", "label_findings", "placement_findings", "size_findings"]

_OWN_NAME = frozenset({HOSTNAME})
_NAMED = 4


def size_findings(name: str, old: Trial, new: Trial) -> Iterator[Finding]:
    """Sizes that the NodePool allows before or after only."""
    lost, gained = sorted(old.allowed - new.allowed), sorted(new.allowed - old.allowed)
    counts = f"{len(old.allowed)} → {len(new.allowed)}"
    if lost:
        effect = Effect.CHANGED if new.allowed else Effect.WORSE
        text = f"sizes it allows: {counts}; no longer {first_few(lost, _NAMED)}"
        yield Finding(
            effect, name, "sizes", text, before=", ".join(lost), notes=_reasons(lost, new, "after the upgrade")
        )
    if gained:
        text = f"sizes it allows: {counts}; new are {first_few(gained, _NAMED)}"
        yield Finding(
            Effect.CHANGED,
            name,
            "sizes",
            text,
            after=", ".join(gained),
            notes=_reasons(gained, old, "before the upgrade"),
        )


def _reasons(names: Sequence[str], where: Trial, when: str) -> tuple[str, ...]:
    """Return the reasons why sizes are not allowed, counted; `when`: on which side of the upgrade."""
    counted: dict[str, list[str]] = {}
    for size in names:
        counted.setdefault(where.why_not(size), []).append(size)
    return tuple(
        f"{len(sizes)} × {why}, {when}: {first_few(sizes, 3)}"
        for why, sizes in sorted(counted.items(), key=lambda entry: -len(entry[1]))
    )


def choice_finding(name: str, subject: str, old: Trial, new: Trial) -> Finding:
    """Another machine for the same pod."""
    priced = old.price > 0 and new.price > 0  # a machine without a price counts as nothing
    effect = Effect.WORSE if priced and new.price > old.price + 1e-9 else Effect.CHANGED
    price = f", {old.price:.4f} → {new.price:.4f} USD/h" if priced and abs(new.price - old.price) > 1e-9 else ""
    if not priced:
        price = f", no price is known of {' and '.join(dict.fromkeys(trial.size for trial in (old, new) if not trial.price))}"
    before, after = (f"{trial.size} {trial.zone} {trial.capacity_type}" for trial in (old, new))
    return Finding(effect, name, "choice", f"{subject}: {before} → {after}{price}", before=before, after=after)


def label_findings(name: str, old: Trial, new: Trial, nodes: str = "Nodes") -> Iterator[Finding]:
    """The labels of two Nodes of one size; `nodes` is what they are called."""
    if old.node is None or new.node is None:
        return
    for key in sorted({*old.labels, *new.labels} - _OWN_NAME):
        before, after = old.labels.get(key), new.labels.get(key)
        if before == after or (key in ZONE_KEYS and before and after):
            continue
        if after is None:
            text = f"{nodes} no longer have {key} (was {before}, {old.writer(key)})"
            effect = Effect.WORSE
        elif before is None:
            text = f"{nodes} get {key}={after} ({new.writer(key)})"
            effect = Effect.CHANGED
        else:
            text = f"{nodes} have {key}={after} ({new.writer(key)}) instead of {before} ({old.writer(key)})"
            effect = Effect.WORSE
        yield Finding(effect, name, "label", text, key=key, before=before, after=after)


def placement_findings(
    name: str, old: Placement, new: Placement, release: ProviderRelease, kubernetes: str
) -> Iterator[Finding]:
    """Yield the findings about the pods of one controller."""
    if new.runs_away and not old.runs_away:
        text = f"Nodes are made for it again and again and do not help: {new.sentence}"
        yield Finding(Effect.WORSE, name, "pod", text, old.place_of(new.key), new.key, after=new.sentence)
    elif old.runs_away and not new.runs_away:
        text = f"Nodes are no longer made for it again and again; pending: {new.sentence}"
        text = text if new.bound < new.total else "its pods are placed; before, Nodes were made for it again and again"
        yield Finding(Effect.BETTER, name, "pod", text, old.place_of(old.key), old.key, before=old.sentence)
    elif new.bound < old.bound:
        text = f"{old.bound} of {old.total} pods were placed, now {new.bound}: {new.sentence}"
        instead = advice(new.key, release, kubernetes) if new.key else ()
        place = old.place_of(new.key) if new.key else ()
        yield Finding(
            Effect.WORSE, name, "pod", text, place, new.key, before=old.sizes_text, after=new.sentence, instead=instead
        )
    elif new.bound > old.bound:
        text = f"{new.bound} of {new.total} pods are placed, before {old.bound}: {old.sentence}"
        yield Finding(Effect.BETTER, name, "pod", text, before=old.sentence, after=new.sizes_text)
    elif old.sizes != new.sizes:
        text = f"its pods run on {new.sizes_text} instead of {old.sizes_text}"
        yield Finding(Effect.CHANGED, name, "pod", text, before=old.sizes_text, after=new.sizes_text)
    elif old.key != new.key:
        text = f"pending as before, but Karpenter says: {new.sentence}"
        yield Finding(
            Effect.CHANGED, name, "pod", text, old.place_of(new.key), new.key, before=old.sentence, after=new.sentence
        )
