"""Reasons why a pod cannot go somewhere: values with fields that render Karpenter's own sentences, late.

Sources: core ``pkg/controllers/provisioning/scheduling/{nodeclaim,scheduler,topology,existingnode}.go``,
``pkg/scheduling``.
"""

from typing import TYPE_CHECKING

from harness.karpenter.requirement import Requirement
from harness.karpenter.requirements import Incompatible, UndefinedKey
from harness.karpenter.scheduling.reasons.instance_types import NoInstanceType, TruncationUnmet, resources_text
from harness.kube.api.resources import ResourceList
from harness.kube.go.text import quote
from harness.kube.scheduling.pods import HostPort
from harness.kube.scheduling.taints import Taint, taint_text
from harness.wording import pretty_slice
from lazyrecords import dataclass

if TYPE_CHECKING:
    from harness.karpenter.scheduling.topology.group import TopologyGroup


@dataclass(frozen=True, slots=True)
class TaintsNotTolerated:
    """Taints that no toleration of the pod covers."""

    taints: tuple[Taint, ...]
    plain: bool = False

    def __str__(self) -> str:
        form = "did not tolerate {}" if self.plain else "did not tolerate taint (taint={})"
        return "; ".join(form.format(taint_text(taint)) for taint in self.taints)


@dataclass(frozen=True, slots=True)
class RequirementsIncompatible:
    """Requirements that exclude each other; ``subject`` is what introduces the sentence, empty on existing nodes."""

    subject: str
    cause: Incompatible

    def __str__(self) -> str:
        return f"{self.subject}, {self.cause}" if self.subject else str(self.cause)


@dataclass(frozen=True, slots=True)
class TopologyUnsatisfiable:
    """No domain that the constraint allows; the counts are those at the time of rendering, as they are upstream."""

    group: "TopologyGroup"
    pod_domains: Requirement
    node_domains: Requirement

    def __str__(self) -> str:
        counts = [f"{domain}: {count}" for domain, count in sorted(self.group.domains.items())]
        shown = pretty_slice(counts, _SHOWN_DOMAINS)
        # The parenthesis stays open upstream.
        return (
            f"unsatisfiable topology constraint for {self.group.kind}, key={self.group.key} (counts = {shown}, "
            f"podDomains = {self.pod_domains}, nodeDomains = {self.node_domains}"
        )


_SHOWN_DOMAINS = 25


@dataclass(frozen=True, slots=True)
class HostPortConflict:
    """Another pod on the node binds one of the pod's host ports."""

    wanted: HostPort
    existing: HostPort
    plain: bool = False

    def __str__(self) -> str:
        if self.plain:
            wanted, existing = (
                f"IP={p.ip or '<nil>'} Port={p.port} Proto={p.protocol}" for p in (self.wanted, self.existing)
            )
            return f"checking host port usage, {wanted} conflicts with existing HostPort configuration {existing}"
        fields = ", ".join(
            f"{whose}-hostport-{field}={value}"
            for whose, port in (("existing", self.existing), ("pod", self.wanted))
            for field, value in (("ip", port.ip or "<nil>"), ("port", port.port), ("protocol", port.protocol))
        )
        return f"checking host port usage, pod hostport conflicts with existing hostport configuration ({fields})"


_ATTACHED = "checking volume usage, would exceed volume limit"


@dataclass(frozen=True, slots=True)
class VolumeLimitExceeded:
    """The node cannot attach that many volumes of a CSI driver; ``new``: no instance type of a new node can."""

    driver: str
    count: int
    limit: int
    new: bool = False

    def __str__(self) -> str:
        subject = "would exceed volume limit for all instance type options" if self.new else _ATTACHED
        if not self.driver:
            return subject
        return f"{subject} (provisioner={self.driver}, volume-count={self.count}, volume-limit={self.limit})"


@dataclass(frozen=True, slots=True)
class VolumesUnknown:
    """The pod's volumes cannot be looked up. ``text`` is what Karpenter says."""

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class NodeFull:
    """An existing node lacks room; ``resources`` are those that do not fit (empty when the node is overcommitted)."""

    resources: tuple[str, ...]

    def __str__(self) -> str:
        return "exceeds node resources"


@dataclass(frozen=True, slots=True)
class NodeLimitReached:
    """The NodePool may have no further node."""

    nodepool: str

    def __str__(self) -> str:
        return f"node limits have been exhausted for nodepool (NodePool={self.nodepool})"


@dataclass(frozen=True, slots=True)
class LimitsReached:
    """Every instance type would exceed what the NodePool's limits leave."""

    nodepool: str
    plain: bool = False

    def __str__(self) -> str:
        if self.plain:
            return f"all available instance types exceed limits for nodepool {quote(self.nodepool)}"
        return f"all available instance types exceed limits for nodepool (NodePool={self.nodepool})"


@dataclass(frozen=True, slots=True)
class NoNodePool:
    """No NodePool has an instance type left."""

    def __str__(self) -> str:
        return "nodepool requirements filtered out all available instance types"


@dataclass(frozen=True, slots=True)
class ResourceClaimsUnsupported:
    """The pod uses dynamic resource allocation, which is switched off."""

    def __str__(self) -> str:
        return "pod has Dynamic Resource Allocation requirements that are not yet supported by Karpenter"


@dataclass(frozen=True, slots=True)
class ReservationsTaken:
    """Strict reserved capacity: compatible reservations exist but cannot be had now (``lost``: would no longer be usable).

    ``full``: none of them has capacity left, and there is nothing else to buy.
    """

    lost: bool
    full: bool = False

    def __str__(self) -> str:
        if self.full:
            return "all compatible reserved offerings are full and no on-demand or spot fallback is available"
        if self.lost:
            return "satisfying updated nodeclaim constraints would remove all compatible reserved offering options"
        return "one or more instance types with compatible reserved offerings are available, but could not be reserved"


def lacks_key(reason: "Reason") -> bool:
    """Return whether a node was refused for lack of a key: it may take the pod later, since pods add the keys that they ask for."""
    return isinstance(reason, RequirementsIncompatible) and isinstance(reason.cause, UndefinedKey)


def is_deferred(reason: "Reason | None") -> bool:
    """Return whether the decision about a pod is only put off, until reserved capacity is known to be had or not: no
    event tells of it.
    """
    if isinstance(reason, EveryNodePool):
        return any(map(is_deferred, reason.reasons))
    if isinstance(reason, PoolIncompatible):
        return is_deferred(reason.cause)
    return isinstance(reason, ReservationsTaken)


@dataclass(frozen=True, slots=True)
class PoolIncompatible:
    """A NodePool's reason, introduced by its name and DaemonSet overhead as older releases do."""

    nodepool: str
    overhead: ResourceList
    cause: "Reason"

    def __str__(self) -> str:
        if isinstance(self.cause, ReservationsTaken):
            name = quote(self.nodepool)
            return f"compatible with nodepool {name} but failed to add pod while adhering to reservation fallback policy, {self.cause}"
        overhead = resources_text(self.overhead)
        return f"incompatible with nodepool {quote(self.nodepool)}, daemonset overhead={overhead}, {self.cause}"


@dataclass(frozen=True, slots=True)
class EveryNodePool:
    """One reason per NodePool that was tried, in the order of their weights."""

    reasons: tuple["Reason", ...]

    def __str__(self) -> str:
        return "; ".join(map(str, self.reasons))


Reason = (
    TaintsNotTolerated
    | RequirementsIncompatible
    | TopologyUnsatisfiable
    | HostPortConflict
    | VolumeLimitExceeded
    | VolumesUnknown
    | NodeFull
    | NodeLimitReached
    | LimitsReached
    | NoNodePool
    | ResourceClaimsUnsupported
    | NoInstanceType
    | TruncationUnmet
    | ReservationsTaken
    | PoolIncompatible
    | EveryNodePool
)
