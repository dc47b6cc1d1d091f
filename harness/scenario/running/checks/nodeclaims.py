"""`nodeclaims`: the number of NodeClaims, their requirements, and their machines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from harness.karpenter.labels.core import CAPACITY_TYPE, NODEPOOL
from harness.karpenter.requirements import Requirements
from harness.kube.api.labels import INSTANCE_TYPE, ZONE
from harness.kube.api.objects import short_name
from harness.scenario.language.cases import Entry
from harness.scenario.language.models.observed import NodeClaimMatch, NodeClaims
from harness.scenario.running.checks.counts import count_differences
from harness.scenario.running.checks.requirement_match import render, requirement_differences
from harness.scenario.running.matching import ABSENT, Difference, as_written, differences, show
from harness.scenario.running.run import Run
from harness.scenario.running.verdicts import Verdict

__all__ = ["check"]


def check(body: NodeClaims, entry: Entry, run: Run) -> Iterator[Verdict]:
    """Yield one verdict for each count, and for each NodeClaim that is described."""
    claims = [_View(claim, run) for claim in run.world.list("NodeClaim")]
    claims = [claim for claim in claims if body.nodepool is None or claim.nodepool == body.nodepool]
    if body.count is not None:
        wrong = count_differences(body.count, len(claims))
        yield Verdict.compared(f"{entry.label}.count", entry.mark("count"), wrong)
    if body.created is not None:
        created = sum(
            write.verb == "create" and write.key.kind == "NodeClaim" and write.error is None
            for write in run.world.journal
        )
        differing = count_differences(body.created, created)
        yield Verdict.compared(f"{entry.label}.created", entry.mark("created"), differing)
    taken: set[int] = set()
    for index, wanted in enumerate(body.are):
        compared = [(number, _differences(wanted, claim)) for number, claim in enumerate(claims) if number not in taken]
        label, mark = f"{entry.label}.are[{index}]", entry.mark("are", index)
        if not compared:
            yield Verdict.failed(label, mark, "a NodeClaim", f"no further one; there are {len(claims)}")
            continue
        number, wrong = min(compared, key=lambda pair: len(pair[1]))
        taken.add(number)
        if wrong:
            note = f"the nearest is {claims[number].name}"
            wrong = [Difference(difference.path, difference.expected, difference.actual, note) for difference in wrong]
        yield replace(Verdict.compared(label, mark, wrong), about=(claims[number].name,))


class _View:
    """A NodeClaim as expectations see it."""

    def __init__(self, claim: Mapping[str, Any], run: Run) -> None:
        metadata, spec, status = claim["metadata"], claim.get("spec", {}), claim.get("status") or {}
        self.labels: Mapping[str, str] = metadata.get("labels") or {}
        self.name: str = metadata["name"]
        self.nodepool = self.labels.get(NODEPOOL, ABSENT)
        vocabulary = run.world.release.vocabulary
        # by the keys in the object: an old name is not read as the new one
        written: dict[str, list[Mapping[str, Any]]] = {}
        for requirement in spec.get("requirements") or ():
            written.setdefault(requirement["key"], []).append(requirement)
        self.requirements = {
            key: next(iter(Requirements.from_node_selector(terms, vocabulary=vocabulary).values()))
            for key, terms in written.items()
        }
        sizes = self.requirements.get(INSTANCE_TYPE)
        self.facts: dict[str, Any] = {
            "nodepool": self.nodepool,
            "size": self.labels.get(INSTANCE_TYPE, ABSENT),
            "zone": self.labels.get(ZONE, ABSENT),
            "capacityType": self.labels.get(CAPACITY_TYPE, ABSENT),
            "sizes": sorted(sizes.values) if sizes is not None else [],
            "conditions": {condition["type"]: condition["status"] for condition in status.get("conditions") or ()},
            "pods": [
                short_name(pod)
                for pod in run.world.list("Pod")
                if status.get("nodeName") and pod.get("spec", {}).get("nodeName") == status["nodeName"]
            ],
        }


def _differences(wanted: NodeClaimMatch, claim: _View) -> list[Difference]:
    wrong: list[Difference] = []
    for key, value in as_written(wanted).items():
        if key in claim.facts and value != {}:
            wrong += differences(value, claim.facts[key], key)
    for key, requirement in wanted.requirements.items():
        wrong += requirement_differences(requirement, claim.requirements.get(key), f"requirements.{key}")
    for key in wanted.absent:
        if key in claim.requirements:
            wrong.append(Difference("absent", f"no requirement for {key}", render(claim.requirements[key])))
    return [
        Difference(difference.path, difference.expected, show(difference.actual), difference.note)
        for difference in wrong
    ]
