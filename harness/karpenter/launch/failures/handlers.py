"""The meaning of Azure's errors: the offerings that become unavailable, the time until they return, and Karpenter's
message.

Sources: kaz ``pkg/providers/instance/offerings``, azure-sdk-for-go-extensions ``pkg/errors``. Rules are tried in order.
"""

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum

from harness.karpenter.instancetypes.offerings import placement_scope
from harness.karpenter.instancetypes.sku import Sku
from harness.karpenter.instancetypes.unavailable import DEFAULT_TTL, UnavailableOfferings
from harness.karpenter.labels.azure import REGIONAL_ZONE
from harness.karpenter.labels.core import ON_DEMAND, SPOT
from harness.karpenter.launch.choice import Choice
from harness.karpenter.launch.failures.errors import CREATING_MACHINE, LaunchError
from harness.karpenter.releases import ProviderRelease
from lazyrecords import dataclass

__all__ = [
    "AzureFailure",
    "Scope",
    "Verdict",
    "classify",
    "codes_of",
    "machine_begin_error",
    "machine_operation_error",
    "machine_provisioning_error",
    "vm_error",
]

HOUR = 3600.0
_LOW_QUOTA_TTL = 600.0
_UNAVAILABLE_TTL = 23 * HOUR


class Scope(StrEnum):
    """The offerings of the chosen size that a failure makes unavailable."""

    NOTHING = "nothing"
    ALL_SPOT = "all-spot"
    """Spot of every size."""
    CAPACITY_TYPE = "capacity-type"
    """The chosen capacity type, everywhere."""
    CAPACITY_TYPE_IN_PLACEMENT = "capacity-type-in-placement"
    """The chosen capacity type in all zones after a zonal launch, without a zone after a regional one."""
    PLACEMENT = "placement"
    """Both capacity types in all zones after a zonal launch, without a zone after a regional one."""
    ZONE = "zone"
    """Both capacity types in the chosen zone."""
    OFFERING = "offering"
    """The chosen zone and capacity type."""
    EVERYWHERE = "everywhere"
    """Both capacity types everywhere."""


@dataclass(frozen=True, slots=True)
class AzureFailure:
    """An error of ARM: its code and its message.

    ``text`` is what the Go SDK prints about it, with the HTTP call, in which the provider searches; the message alone when it is empty.
    """

    code: str
    message: str
    text: str = ""

    @property
    def searched(self) -> str:
        return self.text or self.message


@dataclass(frozen=True, slots=True)
class Marked:
    """A mark of unavailability: the `size`, and its family from `vcpus` on. Without a zone: the whole capacity type."""

    zone: str | None
    capacity_type: str
    size: bool = False
    vcpus: int | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """The meaning of a failure.

    ``reason`` is that of the NodeClaim's condition and of the marks, which last ``ttl`` seconds. ``capacity``: core treats it as
    insufficient capacity and deletes the NodeClaim.
    """

    reason: str
    message: str
    scope: Scope
    ttl: float
    capacity: bool = False
    named: bool = True
    """Whether the NodeClaim's condition names the reason; else it says CreateInstanceFailed."""

    def error(self) -> LaunchError:
        """The error that the provider's handler returns."""
        if self.capacity:
            return LaunchError.capacity(self.message)
        return LaunchError.create(self.message, self.reason) if self.named else LaunchError(self.message)

    def offerings(self, choice: Choice, release: ProviderRelease) -> tuple[tuple[str, str], ...]:
        """Zones and capacity types of the chosen size that become unavailable, sorted, those without a zone last."""
        return tuple(
            sorted(
                set(_marked(self.scope, choice, release)), key=lambda offering: (offering[0] == REGIONAL_ZONE, offering)
            )
        )

    def mark(
        self, marks: UnavailableOfferings, sku: Sku, choice: Choice, release: ProviderRelease, *, now: float
    ) -> tuple[Marked, ...]:
        """Marks the offerings unavailable from ``now`` on (the clock's seconds). Returns what was marked."""
        marked: list[Marked] = []
        if self.scope is Scope.ALL_SPOT:
            marks.mark_spot(self.reason, now=now, ttl=self.ttl)
            marked.append(Marked(None, SPOT))
        for zone, capacity_type in self.offerings(choice, release):
            family_alone = release.zonal_failure_marks_family and not release.family_marked_with_size
            if self.scope is Scope.ZONE and family_alone:
                # Before sizes marked their family, this failure marked the family alone.
                vcpus = marks.mark_family(
                    self.reason, sku, zone, capacity_type, now=now, ttl=self.ttl, vcpus=sku.vcpus or 0
                )
                marked.append(Marked(zone, capacity_type, vcpus=vcpus))
            else:
                vcpus = marks.mark(self.reason, sku, zone, capacity_type, now=now, ttl=self.ttl)
                marked.append(Marked(zone, capacity_type, True, vcpus))
        return tuple(marked)


def _marked(scope: Scope, choice: Choice, release: ProviderRelease) -> Iterable[tuple[str, str]]:
    offerings = choice.instance_type.offerings
    both = (ON_DEMAND, SPOT)
    mine = choice.capacity_type
    if scope is Scope.OFFERING:
        return [(choice.zone, mine)]
    if scope is Scope.ZONE:
        return [(choice.zone, capacity_type) for capacity_type in both]
    zones = [offering.zone for offering in offerings]
    if scope in (Scope.CAPACITY_TYPE_IN_PLACEMENT, Scope.PLACEMENT) and release.regional_offerings:
        zones = [zone for zone in zones if placement_scope(zone) == choice.placement_scope]
    if scope in (Scope.CAPACITY_TYPE, Scope.CAPACITY_TYPE_IN_PLACEMENT):
        return [(zone, mine) for zone in zones]
    if scope in (Scope.PLACEMENT, Scope.EVERYWHERE):
        return [(zone, capacity_type) for zone in zones for capacity_type in both]
    return []


@dataclass(frozen=True, slots=True)
class _Rule:
    """A rule for ``code`` and, if not empty, a ``term`` in the text; ``message`` takes ``{zone}``, ``{size}`` and ``{capacity_type}``."""

    code: str
    term: str
    reason: str
    scope: Scope
    ttl: Callable[[AzureFailure, Choice, ProviderRelease], float]
    message: str
    capacity: bool = False

    def matches(self, failure: AzureFailure) -> bool:
        return failure.code == self.code and self.term in failure.searched


def _spot_quota(failure: AzureFailure, choice: Choice, release: ProviderRelease) -> float:
    return release.spot_quota_kept


def _allocation(failure: AzureFailure, choice: Choice, release: ProviderRelease) -> float:
    return release.allocation_failures_kept


def _never(failure: AzureFailure, choice: Choice, release: ProviderRelease) -> float:
    return 0.0


def _by_limit(failure: AzureFailure, choice: Choice, release: ProviderRelease) -> float:
    if "Current Limit: 0" in failure.searched:
        return HOUR
    return _LOW_QUOTA_TTL if release.low_quota_has_own_ttl else DEFAULT_TTL


def _by_capacity_type(failure: AzureFailure, choice: Choice, release: ProviderRelease) -> float:
    return _UNAVAILABLE_TTL if choice.capacity_type == ON_DEMAND else HOUR


def _long(failure: AzureFailure, choice: Choice, release: ProviderRelease) -> float:
    return _UNAVAILABLE_TTL


_QUOTA = "SubscriptionQuotaReached"

_VM_RULES: tuple[_Rule, ...] = (
    _Rule(
        "OperationNotAllowed",
        "LowPriorityCores",
        _QUOTA,
        Scope.ALL_SPOT,
        _spot_quota,
        "this subscription has reached the regional vCPU quota for spot (LowPriorityQuota). To scale beyond this limit, please review the "
        "quota increase process here: https://docs.microsoft.com/en-us/azure/azure-portal/supportability/low-priority-quota",
    ),
    _Rule(
        "OperationNotAllowed",
        "Family Cores quota",
        _QUOTA,
        Scope.CAPACITY_TYPE,
        _by_limit,
        "subscription level {capacity_type} vCPU quota for {size} has been reached (may try provision an alternative instance type)",
    ),
    _Rule(
        "SkuNotAvailable",
        "",
        "SKUNotAvailable",
        Scope.CAPACITY_TYPE_IN_PLACEMENT,
        _by_capacity_type,
        "the requested SKU is unavailable for instance type {size} in zone {zone} with capacity type {capacity_type}, for more details "
        "please visit: https://aka.ms/azureskunotavailable",
    ),
    _Rule(
        "ZonalAllocationFailed",
        "",
        "ZonalAllocationFailure",
        Scope.ZONE,
        _allocation,
        "unable to allocate resources in the selected zone ({zone}). (will try a different zone to fulfill your request)",
    ),
    _Rule(
        "AllocationFailed",
        "",
        "AllocationFailure",
        Scope.PLACEMENT,
        _allocation,
        "unable to allocate resources with selected VM size ({size}). (will try a different VM size to fulfill your request)",
    ),
    _Rule(
        "OverconstrainedZonalAllocationRequest",
        "",
        "OverconstrainedZonalAllocationFailure",
        Scope.OFFERING,
        _allocation,
        "unable to allocate resources in the selected zone ({zone}) with {capacity_type} capacity type and {size} VM size. (will try a "
        "different zone, capacity type or VM size to fulfill your request)",
    ),
    _Rule(
        "OverconstrainedAllocationRequest",
        "",
        "OverconstrainedAllocationFailure",
        Scope.CAPACITY_TYPE_IN_PLACEMENT,
        _allocation,
        "unable to allocate resources in all zones with {capacity_type} capacity type and {size} VM size. (will try a different capacity "
        "type or VM size to fulfill your request)",
    ),
    _Rule(
        "OperationNotAllowed",
        "exceeding approved Total Regional Cores quota",
        "",
        Scope.NOTHING,
        _never,
        "regional {capacity_type} vCPU quota limit for subscription has been reached. To scale beyond this limit, please review the quota "
        "increase process here: https://learn.microsoft.com/en-us/azure/quotas/regional-quota-requests",
        capacity=True,
    ),
)

_NOT_FOR_SUBSCRIPTION = (
    "VM size {size} is not supported for this subscription in this location, for more details please visit: "
    "https://aka.ms/aks/vm-size-selector"
)
# What AKS itself says at once about a machine, before a VM is asked for.
_MACHINE_RULES: tuple[_Rule, ...] = (
    _Rule("VMSizeNotSupported", "", "SKUNotAvailable", Scope.EVERYWHERE, _long, _NOT_FOR_SUBSCRIPTION),
    _Rule(
        "BadRequest",
        "is not supported for subscription",
        "SKUNotAvailable",
        Scope.EVERYWHERE,
        _long,
        _NOT_FOR_SUBSCRIPTION,
    ),
)

RULES: Mapping[str, tuple[_Rule, ...]] = {"vm": _VM_RULES, "machine": _MACHINE_RULES}


def codes_of(reason: str) -> frozenset[str]:
    """Azure's error codes that lead to marks of this reason."""
    return frozenset(rule.code for rules in RULES.values() for rule in rules if rule.reason == reason)


def classify(
    failure: AzureFailure, choice: Choice, release: ProviderRelease, *, machine_request: bool = False
) -> Verdict | None:
    """Return the meaning of a failure, None when the provider has no rule for it.

    ``machine_request``: AKS refused the machine itself; failures of the VM behind a machine count as those of a VM.
    """
    if machine_request and not release.machine_refusals_handled:
        return None
    for rule in RULES["machine" if machine_request else "vm"]:
        if rule.matches(failure):
            text = rule.message.format(
                zone=choice.zone, size=choice.instance_type.name, capacity_type=choice.capacity_type
            )
            return Verdict(
                rule.reason, text, rule.scope, rule.ttl(failure, choice, release), rule.capacity, release.failures_named
            )
    return None


def vm_error(name: str, failure: AzureFailure, verdict: Verdict | None) -> LaunchError:
    """The error of CloudProvider.Create when the PUT of VM ``name`` was refused."""
    if verdict is not None:
        return verdict.error().as_create_error("creating instance failed")
    unknown = LaunchError(f'virtualMachine.BeginCreateOrUpdate for VM "{name}" failed: {failure.searched}')
    return unknown.as_create_error("creating instance failed")


def machine_begin_error(
    name: str, failure: AzureFailure, verdict: Verdict | None, release: ProviderRelease
) -> LaunchError:
    """The error of CloudProvider.Create when AKS refused the machine ``name``; older releases handle none of its refusals."""
    start = f'failed to begin create AKS machine "{name}"'
    if verdict is not None:
        error = verdict.error().behind(f"{start}, handled error: ")
    elif release.machine_refusals_handled:
        error = LaunchError(f"{start}, unhandled error: {failure.code}: {failure.searched}")
    else:
        error = LaunchError(f"{start}: {failure.searched}")
    return error.as_create_error(CREATING_MACHINE)


def machine_provisioning_error(name: str, failure: AzureFailure, verdict: Verdict | None, *, phase: str) -> LaunchError:
    """The error of a machine that was accepted and then failed; ``failure`` is its provisioning error, or the VM's in that."""
    start = f'failed to create AKS machine "{name}" during {phase}'
    if verdict is not None:
        return verdict.error().behind(f"{start}, handled provisioning error: ")
    return LaunchError(f"{start}, unhandled provisioning error: code={failure.code}, message={failure.message}")


def machine_operation_error(name: str, failure: AzureFailure) -> LaunchError:
    """The error of a machine that was accepted and then failed without a provisioning error of its own: nobody reads what it is."""
    return LaunchError(f'failed to create AKS machine "{name}" during LRO, AKS API returned error: {failure.searched}')
