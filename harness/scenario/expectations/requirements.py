"""`requirements`: Karpenter's computed values for a size."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from harness.karpenter.cloudprovider import DroppedSize, InstanceType
from harness.karpenter.requirements import Requirements
from harness.karpenter.validation.rejections import Rejection
from harness.kube.api.quantity import Quantity
from harness.reading.problems import did_you_mean
from harness.scenario.expectations.matching import Difference, differences, show
from harness.scenario.expectations.requirement_match import render, requirement_differences
from harness.scenario.expectations.verdicts import Verdict
from harness.scenario.language.cases import Entry
from harness.scenario.language.models.base import Body, Flag, Model, Text, no_entries, no_items
from harness.scenario.language.models.matchers import (
    CountMatch,
    NumberMatch,
    QuantityMatch,
    RequirementMatch,
    TextMatch,
)

if TYPE_CHECKING:
    from harness.scenario.expectations.failure import FailedExpectation
    from harness.scenario.running.run import Run

__all__ = ["OfferingMatch", "RequirementsExpectation", "check", "failure_lines", "refusal_of"]


class OfferingMatch(Model):
    """One way to buy a size."""

    zone: TextMatch | None = Field(None, description="Zone label, for example eastus-1; 0 in a region without zones.")
    capacity_type: Literal["on-demand", "spot"] | None = Field(None, description="Capacity type.")
    price: NumberMatch | None = Field(None, description="USD per hour.")
    available: Flag | None = Field(None, description="Whether Karpenter may choose it now.")


class RequirementsExpectation(Body):
    """Karpenter's result for a size: its requirements, capacity and offerings, or the filter that drops it."""

    of: Text = Field(description="VM size, for example Standard_D4s_v5.")
    nodepool: Text | None = Field(
        None, description="Intersect with this NodePool of the file: what a NodeClaim could ask for."
    )
    nodeclass: Text | None = Field(
        None, description="Compute with this AKSNodeClass of the file (image, disk, pods, FIPS)."
    )
    are: dict[Text, RequirementMatch] = Field(
        default_factory=no_entries, description="Requirement by key: its only value, or conditions."
    )
    absent: list[Text] = Field(
        default_factory=no_items, description="Keys that it has no value for: no requirement, or DoesNotExist."
    )
    capacity: dict[Text, QuantityMatch] = Field(default_factory=no_entries, description="Capacity by resource.")
    allocatable: dict[Text, QuantityMatch] = Field(default_factory=no_entries, description="Allocatable by resource.")
    offerings: list[OfferingMatch] = Field(default_factory=no_items, description="Offerings that exist, in any order.")
    offering_count: CountMatch | None = Field(None, description="How many offerings there are.")
    dropped: TextMatch | None = Field(None, description="The size is no instance type, because of this filter.")

    def sizes(self) -> Iterator[str]:
        """Yield the size."""
        yield self.of


def refusal_of(body: RequirementsExpectation, run: "Run") -> tuple[str, Rejection] | None:
    """Return the field whose object the API server refuses, so that nothing can be computed with it, and the rejection."""
    for field, kind, name in (("nodepool", "NodePool", body.nodepool), ("nodeclass", "AKSNodeClass", body.nodeclass)):
        refusal = next((refusal for refusal in run.refusals if refusal.rejection.object == f"{kind}/{name}"), None)
        if refusal is not None and refusal.rejection.layer in ("crd-schema", "crd-cel"):
            return field, refusal.rejection
    return None


def check(body: RequirementsExpectation, entry: Entry, run: "Run") -> Iterator[Verdict]:
    """Yield one verdict for each key, resource and offering."""
    if (refused := refusal_of(body, run)) is not None:
        field, rejection = refused
        text = f"it is refused by {rejection.layer}: {rejection.text}"
        yield Verdict.failed(entry.label, entry.mark(field), f"{rejection.object} to compute with", text)
        return
    nodepool = _object(run, "NodePool", body.nodepool)
    result = run.world.requirements_of(body.of, nodepool, _object(run, "AKSNodeClass", body.nodeclass))
    if body.dropped is not None:
        outcome = result.filter if isinstance(result, DroppedSize) else "nothing: it is an instance type"
        if isinstance(result, DroppedSize):
            yield Verdict.compared(f"{entry.label}.dropped", entry.mark("dropped"), differences(body.dropped, outcome))
        else:
            yield Verdict.failed(f"{entry.label}.dropped", entry.mark("dropped"), f"{body.of} dropped", outcome)
        return
    if isinstance(result, DroppedSize):
        actual = f"dropped by the filter {result.filter}"
        yield Verdict.failed(entry.label, entry.mark("of"), f"{body.of} as an instance type", actual)
        return
    requirements = result.requirements
    if nodepool is not None:
        from harness.explain.sizes.fit import Misfit, within

        fit = within(nodepool, requirements, run.world.release.vocabulary)
        if isinstance(fit, Misfit):
            expected = f"{body.of} allowed by NodePool/{body.nodepool}"
            yield Verdict.failed(entry.label, entry.mark("nodepool"), expected, fit.text)
            return
        requirements = fit
    yield from _requirements(body, entry, requirements)
    yield from _resources(body.capacity, "capacity", entry, result.capacity)
    yield from _resources(body.allocatable, "allocatable", entry, result.allocatable)
    yield from _offerings(body, entry, result)
    if not (body.are or body.absent or body.capacity or body.allocatable or body.offerings) and (
        body.offering_count is None
    ):
        yield Verdict(entry.label, entry.mark("of"))  # the instance type itself is all that is expected


def _object(run: "Run", kind: str, name: str | None) -> Mapping[str, Any] | None:
    if name is None:
        return None
    manifest = run.manifest(f"{kind}/{name}")
    return run.find(f"{kind}/{name}") or (manifest.object if manifest is not None else None)


def _requirements(body: RequirementsExpectation, entry: Entry, actual: Requirements) -> Iterator[Verdict]:
    present = {key: actual[key] for key in actual}
    for key, wanted in body.are.items():
        wrong = requirement_differences(wanted, present.get(key))
        if wrong and key not in present:
            hint = did_you_mean(key, present, limit=0)
            wrong = [Difference(difference.path, difference.expected, difference.actual, hint) for difference in wrong]
        yield Verdict.compared(f"{entry.label}.are.{key}", entry.mark("are", key), wrong)
    for index, key in enumerate(body.absent):
        there = key in present and present[key].operator != "DoesNotExist"
        wrong = [Difference("", f"no value for {key}", render(present[key]))] if there else []
        yield Verdict.compared(f"{entry.label}.absent.{key}", entry.mark("absent", index), wrong)


def _resources(
    wanted: Mapping[str, str | Model], name: str, entry: Entry, actual: Mapping[str, Quantity]
) -> Iterator[Verdict]:
    for resource, value in wanted.items():
        amount = str(actual[resource]) if resource in actual else None
        if amount is None:
            present = ", ".join(sorted(actual))
            yield Verdict.failed(
                f"{entry.label}.{name}.{resource}", entry.mark(name, resource), show(value), f"only {present}"
            )
            continue
        verdict = differences(value, amount, quantities=True)
        yield Verdict.compared(f"{entry.label}.{name}.{resource}", entry.mark(name, resource), verdict)


def _offerings(body: RequirementsExpectation, entry: Entry, actual: InstanceType) -> Iterator[Verdict]:
    offerings = [
        {
            "zone": offering.zone,
            "capacityType": offering.capacity_type,
            "price": offering.price,
            "available": offering.available,
        }
        for offering in actual.offerings
    ]
    for index, wanted in enumerate(body.offerings):
        label = f"{entry.label}.offerings[{index}]"
        yield Verdict.compared(label, entry.mark("offerings", index), differences([wanted], offerings))
    if body.offering_count is not None:
        wrong = differences(body.offering_count, len(offerings))
        yield Verdict.compared(f"{entry.label}.offeringCount", entry.mark("offeringCount"), wrong)


def failure_lines(failure: "FailedExpectation") -> list[str]:
    """Return the sources of wrong values, and the command that prints all computed ones."""
    from harness.scenario.expectations.computed_sizes import size_lines

    return size_lines(failure, refused=refusal_of(failure.body, failure.run) is not None)
