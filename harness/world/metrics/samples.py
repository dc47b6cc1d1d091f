"""Time series at their present values: single ones, and those that Prometheus makes of a distribution."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from harness.engine.clock import SECOND, parse
from harness.karpenter.releases.core_release import CoreRelease
from harness.kube.api.objects import Object
from harness.kube.scheduling.pods import has_resource_claims

__all__ = [
    "Distributions",
    "Labels",
    "Sample",
    "base_of",
    "number",
    "resource_claim_labels",
    "seconds_since",
    "snake_case",
]

Labels = tuple[tuple[str, str], ...]

_PARTS = ("_bucket", "_sum", "_count")


@dataclass(frozen=True, slots=True)
class Sample:
    """One time series at its present value."""

    name: str
    labels: Mapping[str, str]
    value: float

    def __str__(self) -> str:
        labels = ",".join(f'{key}="{value}"' for key, value in self.labels.items())
        return f"{self.name}{{{labels}}}" if labels else self.name


@dataclass(slots=True)
class Distributions:
    """Observations of one histogram, by labels; without ``buckets`` of a summary, whose quantiles are left out."""

    name: str
    buckets: Sequence[float] = ()
    observed: dict[Labels, list[float]] = field(default_factory=dict)

    def observe(self, value: float, **labels: str) -> None:
        """Observe a value."""
        self.observed.setdefault(tuple(labels.items()), []).append(value)

    def samples(self) -> Iterator[Sample]:
        """The series of all labels."""
        for labels, values in self.observed.items():
            for bound in (*self.buckets, math.inf) if self.buckets else ():
                shown = {**dict(labels), "le": "+Inf" if math.isinf(bound) else number(bound)}
                yield Sample(f"{self.name}_bucket", shown, sum(value <= bound for value in values))
            yield Sample(f"{self.name}_sum", dict(labels), sum(values))
            yield Sample(f"{self.name}_count", dict(labels), len(values))


def base_of(name: str) -> str:
    """The name of the distribution that a series is a part of, or of which it could be."""
    return next((name.removesuffix(part) for part in _PARTS if name.endswith(part)), name)


def number(value: float) -> str:
    """A number as Prometheus' text format writes it."""
    return str(int(value)) if math.isfinite(value) and float(value).is_integer() else repr(float(value))


def seconds_since(moment: str, now: int) -> float:
    """The seconds from a moment, as objects say it, to another one in nanoseconds since the start."""
    return (now - parse(moment)) / SECOND


def snake_case(name: str) -> str:
    """Return a name as core's ``pkg/utils/pretty`` writes it: ``when_empty`` for ``WhenEmpty``."""
    return re.sub("([a-z0-9])([A-Z])", r"\1_\2", re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name)).lower()


def resource_claim_labels(core: CoreRelease, pod: Object) -> dict[str, str]:
    """The label for dynamic resource allocation, in the releases whose metrics have it."""
    return {"dynamic_resources": str(has_resource_claims(pod)).lower()} if core.resource_claims_in_metrics else {}
