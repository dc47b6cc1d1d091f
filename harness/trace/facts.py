"""The facts of a trace: one frozen class for each kind of line.

A field without a default is always written; one with a default is left out of the line when it has that value.
Objects are `Kind/name`, or `Kind/namespace/name` outside of namespace default; pods are `namespace/name`. Times are virtual seconds
from the world's start, prices USD per hour, amounts of resources base units (cores, bytes).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, ClassVar

from harness.trace.header import Fact
from harness.trace.nested_facts import Differing, Filtered, Leaving, Loop, SaidNo, Tried
from harness.trace.steps import Applied, Step
from lazyrecords import dataclass

__all__ = [
    "KINDS", "Advice", "Applied", "ArmCall", "Blocked", "Boot", "ClaimState", "Condition", "Cost", "Decision",
    "Disruption", "End", "EventTold", "Expectation", "Funnel", "LabelWrite", "LogTold", "NodeState", "PodState",
    "PriceOf", "Refused", "RunawayFound", "Sizes", "Step", "Usage", "Write",
]  # fmt: skip

Amounts = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Write(Fact):
    """A request to the API server that changed something or was refused. `changed`: path → the new value, None where it is gone."""

    fact: ClassVar[str] = "write"
    object: str
    verb: str
    by: str
    subresource: str = ""
    changed: Mapping[str, Any] = field(default_factory=dict)
    status: int = 0
    error: str = ""


@dataclass(frozen=True, slots=True)
class Condition(Fact):
    """A condition of a NodeClaim, Node, NodePool or AKSNodeClass as it is from now on."""

    fact: ClassVar[str] = "condition"
    object: str
    type: str
    status: str
    reason: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class PodState(Fact):
    """A pod is created, pending, bound, running, succeeded, failed, deleting or deleted. `why`: kube-scheduler's sentence when pending."""

    fact: ClassVar[str] = "pod"
    pod: str
    state: str
    uid: str = ""
    owner: str = ""
    node: str = ""
    requests: Amounts = field(default_factory=dict)
    why: str = ""


@dataclass(frozen=True, slots=True)
class ClaimState(Fact):
    """A NodeClaim is created, launched, registered, initialized, deleting or deleted. `sizes` and `zones` are what it may become."""

    fact: ClassVar[str] = "claim"
    claim: str
    state: str
    nodepool: str
    sizes: Sequence[str] = ()
    size: str = ""
    zone: str = ""
    capacity_type: str = ""
    node: str = ""
    vm: str = ""
    image: str = ""
    requests: Amounts = field(default_factory=dict)
    zones: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class NodeState(Fact):
    """A Node is created, ready, unready (one of both is told again with other taints), deleting or deleted."""

    fact: ClassVar[str] = "node"
    node: str
    state: str
    claim: str = ""
    nodepool: str = ""
    size: str = ""
    zone: str = ""
    capacity_type: str = ""
    price: float | None = None
    capacity: Amounts = field(default_factory=dict)
    allocatable: Amounts = field(default_factory=dict)
    taints: Sequence[str] = ()
    vm: str = ""


@dataclass(frozen=True, slots=True)
class Usage(Fact):
    """The pods on a Node and what they request, beside what it can hold; whenever one of them has changed."""

    fact: ClassVar[str] = "usage"
    node: str
    pods: Sequence[str]
    requests: Amounts
    allocatable: Amounts


@dataclass(frozen=True, slots=True)
class Cost(Fact):
    """The cost of all machines with power, and their number. `unpriced`: sizes of some that count as nothing."""

    fact: ClassVar[str] = "cost"
    price: float
    machines: int
    unpriced: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class PriceOf(Fact):
    """The price of a size; None when it is unknown. `as_on_demand`: of a spot machine only the price on demand is known; `guess`: why it
    is a guess.
    """

    fact: ClassVar[str] = "price"
    size: str
    capacity_type: str
    price: float | None
    as_on_demand: bool = False
    guess: str = ""


@dataclass(frozen=True, slots=True)
class ArmCall(Fact):
    """A call of Azure Resource Manager. `operation` is the type of resource, `fault` the declared fault that answered."""

    fact: ClassVar[str] = "arm"
    number: int
    method: str
    operation: str
    name: str
    status: int
    error: str = ""
    message: str = ""
    size: str = ""
    zone: str = ""
    priority: str = ""
    claim: str = ""
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Blocked(Fact):
    """Karpenter leaves a size, a family (from `vcpus` on; -1: all) or, with neither, all spot alone; `call` of Azure led to it."""

    fact: ClassVar[str] = "blocked"
    zone: str
    capacity_type: str
    until: float
    reason: str
    size: str = ""
    family: str = ""
    vcpus: int = 0
    call: int = 0


@dataclass(frozen=True, slots=True)
class Boot(Fact):
    """The power of a machine: on, off, deleted, preempting (Azure will take it soon), failed (its creation ended in `error`)."""

    fact: ClassVar[str] = "boot"
    vm: str
    state: str
    size: str
    zone: str
    capacity_type: str
    claim: str = ""
    evicted: bool = False
    error: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class LabelWrite(Fact):
    """A sender's value for a label of a Node: set, same, overwrote, removed, refused or withheld. `from`: the source inside it."""

    fact: ClassVar[str] = "label"
    node: str
    key: str
    kind: str
    by: str
    value: str | None = None
    from_: str = ""


@dataclass(frozen=True, slots=True)
class Decision(Fact):
    """A simulation's decision about pods: existing, nodeclaim, refused, ignored. `nodes` said no."""

    fact: ClassVar[str] = "decision"
    pods: Sequence[str]
    result: str
    simulation: int
    target: str = ""
    why: str = ""
    tried: Sequence[Tried] = ()
    nodes: Sequence[SaidNo] = ()


@dataclass(frozen=True, slots=True)
class Sizes(Fact):
    """The sizes that a NodePool can choose from: how many are `sold`, those that the provider's filters drop, and those that are left."""

    fact: ClassVar[str] = "sizes"
    number: int
    nodepool: str
    sold: int
    dropped: Mapping[str, Sequence[str]]
    offered: Sequence[str]


@dataclass(frozen=True, slots=True)
class Funnel(Fact):
    """The filters of sizes for a pod, one after the other. `removed` are positions in `offered` (`0-14,17`), `closed` says why."""

    fact: ClassVar[str] = "funnel"
    number: int
    nodepool: str
    sizes: int
    steps: Sequence[Filtered]


@dataclass(frozen=True, slots=True)
class Disruption(Fact):
    """Karpenter decided that nodes go. `problem`: why they stay after all. `savings` has a figure for the price of `unpriced` sizes."""

    fact: ClassVar[str] = "disruption"
    nodes: Sequence[Leaving]
    decision: str
    reason: str
    replacements: Sequence[str]
    savings: float
    method: str = ""
    drift: str = ""
    ended: float | None = None
    problem: str = ""
    unpriced: Amounts = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EventTold(Fact):
    """A Kubernetes Event."""

    fact: ClassVar[str] = "event"
    object: str
    type: str
    reason: str
    message: str
    source: str


@dataclass(frozen=True, slots=True)
class LogTold(Fact):
    """A line of a controller's log."""

    fact: ClassVar[str] = "log"
    level: str
    controller: str
    message: str
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Refused(Fact):
    """An object, or what Karpenter made of it, was refused by a layer."""

    fact: ClassVar[str] = "rejection"
    object: str
    layer: str
    text: str
    key: str = ""


@dataclass(frozen=True, slots=True)
class RunawayFound(Fact):
    """The same loop came back too often, and the world was stopped. `course`: how a loop goes; `fault`: the label because of which."""

    fact: ClassVar[str] = "runaway"
    subject: str
    loops: Sequence[Loop]
    course: str = ""
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Advice(Fact):
    """Changes that would help waiting pods, as tried, in words, or that none does. `causes`: the reasons against the sizes."""

    fact: ClassVar[str] = "advice"
    pods: Sequence[str]
    lines: Sequence[str]
    causes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Expectation(Fact):
    """A scenario's expectation, and whether it holds. `why`: how the state came about; `kept`: why it need not hold here."""

    fact: ClassVar[str] = "expectation"
    text: str
    held: bool
    file: str
    line: int
    column: int
    differences: Sequence[Differing] = ()
    why: Sequence[str] = ()
    kept: str = ""


@dataclass(frozen=True, slots=True)
class End(Fact):
    """The last line: how the case ended, and how many facts there are before."""

    fact: ClassVar[str] = "end"
    outcome: str
    facts: int


KINDS: Mapping[str, type[Fact]] = {kind.fact: kind for kind in Fact.__subclasses__()}  # by the word in the line
