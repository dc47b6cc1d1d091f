"""`nodeclaims`: the number of NodeClaims, their requirements, and their machines."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from harness.karpenter.labels.core import CAPACITY_TYPE, NODEPOOL
from harness.karpenter.requirements import Requirements
from harness.kube.api.labels import INSTANCE_TYPE, ZONE
from harness.kube.api.objects import short_name, spec_of
from harness.scenario.expectations.failure import ITEMS, FailedExpectation, pod_key
from harness.scenario.expectations.matching import ABSENT, Difference, as_written, count_differences, differences, show
from harness.scenario.expectations.pods import lines_of_waiting
from harness.scenario.expectations.requirement_match import render, requirement_differences
from harness.scenario.expectations.verdicts import Verdict
from harness.scenario.language.cases import Entry
from harness.scenario.language.models.base import Body, Model, Text, no_entries, no_items
from harness.scenario.language.models.matchers import CountMatch, Partial, RequirementMatch, TextMatch
from harness.wording import listed

if TYPE_CHECKING:
    from harness.scenario.running.run import Run

__all__ = ["NodeClaims", "check", "claim_lines", "failure_lines", "made_in_loops"]


class NodeClaimMatch(Model):
    """One NodeClaim."""

    nodepool: Text | None = Field(None, description="Its NodePool.")
    size: TextMatch | None = Field(None, description="The size that was launched.")
    sizes: Partial | list[Text] | None = Field(
        None, description="Sizes that it allows: these among others, or {exactly: [...]}, {count: n}."
    )
    zone: TextMatch | None = Field(None, description="Zone label of the launched machine.")
    capacity_type: Literal["on-demand", "spot"] | None = Field(
        None, description="Capacity type of the launched machine."
    )
    requirements: dict[Text, RequirementMatch] = Field(
        default_factory=no_entries, description="Requirements of its spec."
    )
    absent: list[Text] = Field(default_factory=no_items, description="Keys that its spec has no requirement for.")
    conditions: dict[Text, TextMatch] = Field(
        default_factory=no_entries, description="Status of its conditions: {Launched: 'True'}."
    )
    pods: list[Text] | None = Field(None, description="Pods on its Node: these among others.")


class NodeClaims(Body):
    """The NodeClaims that exist in the end."""

    count: CountMatch | None = Field(None, description="How many there are.")
    created: CountMatch | None = Field(None, description="How many were ever created; tells a runaway.")
    nodepool: Text | None = Field(None, description="Count only those of this NodePool.")
    are: list[NodeClaimMatch] = Field(
        default_factory=no_items, description="NodeClaims that exist, each another one, in any order."
    )


def check(body: NodeClaims, entry: Entry, run: "Run") -> Iterator[Verdict]:
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

    def __init__(self, claim: Mapping[str, Any], run: "Run") -> None:
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


def failure_lines(failure: FailedExpectation) -> list[str]:
    """Return Azure's refusals, the NodeClaims with their ends, and where there are none, why pods wait."""
    own = _own(failure)
    return claim_lines(failure, own, refused=failure.why.refusals(own))


def claim_lines(failure: FailedExpectation, own: list[str] | None, *, refused: Sequence[str] = ()) -> list[str]:
    """Return `refused`, the NodeClaims `own` with their ends, None for all, and where there is neither, why pods wait."""
    claims = failure.why.claims() if own is None else failure.why.named_claims(own)
    states = []
    if any(difference.path.startswith("conditions.") for difference in failure.verdict.differences):
        kinds = [difference.path.removeprefix("conditions.") for difference in failure.verdict.differences]
        whose = ["NodeClaim/"] if own is None else [f"NodeClaim/{claim}" for claim in own]
        states = [line for name in whose for line in failure.why.conditions(name, kinds)]
    if claims or refused:
        return [*refused, *states, *listed(claims, ITEMS, "NodeClaims")]
    pods = [pod_key(pod) for pod in failure.run.world.list("Pod") if not spec_of(pod).get("nodeName")]
    return lines_of_waiting(failure, pods) or ["no pod waited, so Karpenter made no NodeClaim"]


def _own(failure: FailedExpectation) -> list[str] | None:
    """Return the NodeClaims that the verdict is about: the nearest one, or those of its NodePool; None for all."""
    if failure.verdict.about:
        return list(failure.verdict.about)
    pool = failure.body.nodepool
    return None if pool is None else failure.why.claims_meant("NodePool", pool)


def made_in_loops(run: "Run") -> list[str] | None:
    """Return the NodeClaims that the first runaway made; None without one."""
    if not run.runaways:
        return None
    return [name.removeprefix("NodeClaim/") for loop in run.runaways[0].loops for name in loop.made]
