"""The NodeClaim that a launch returns, and what core makes of it (kaz ``pkg/cloudprovider``, core ``lifecycle/launch.go``)."""

from collections.abc import Mapping
from typing import Any

from harness.engine.names import ProviderId, zone_label
from harness.karpenter.instancetypes.offerings import placement_scope
from harness.karpenter.labels import azure as keys
from harness.karpenter.labels.core import CAPACITY_TYPE, NODEPOOL, ON_DEMAND, SPOT
from harness.karpenter.launch.bodies.tags import NODEPOOL_TAG, hashed_tags, in_place_update_hash
from harness.karpenter.launch.choice import Choice, claim_requirements
from harness.karpenter.launch.failures.errors import LaunchPanic
from harness.karpenter.launch.labels.layers import Labels, Source, single_values
from harness.karpenter.launch.nodeclass_hash import nodeclass_hash
from harness.karpenter.releases import ProviderOptions, ProviderRelease
from harness.karpenter.requirement import EmptyRange
from harness.kube.api.labels import ZONE
from harness.kube.api.resources import ResourceList
from lazyrecords import dataclass

__all__ = ["IN_PLACE_UPDATE_HASH", "Created", "created_from_machine", "created_from_vm", "populated_labels"]

IN_PLACE_UPDATE_HASH = f"{keys.GROUP}/in-place-update-hash"

_CAPACITY_TYPES = {"Spot": SPOT, "Regular": ON_DEMAND}
_PRIORITIES = {SPOT: SPOT, ON_DEMAND: keys.REGULAR}


@dataclass(frozen=True)
class Created:
    """The result of CloudProvider.Create for core: labels with their sources, annotations, resources and ids."""

    labels: Labels
    annotations: Mapping[str, str]
    capacity: ResourceList
    allocatable: ResourceList
    provider_id: ProviderId
    image_id: str


def created_from_vm(
    vm: Mapping[str, Any],
    nodeclaim: Mapping[str, Any],
    nodeclass: Mapping[str, Any],
    choice: Choice,
    *,
    options: ProviderOptions,
    release: ProviderRelease,
    provider_id: ProviderId,
) -> Created:
    """The result of a launch, from the VM's body as Azure has it or as it was sent."""
    properties = vm.get("properties") or {}
    capacity_type = _CAPACITY_TYPES.get(properties.get("priority") or "", "")
    facts = _machine_facts(
        zones=vm.get("zones") or (),
        location=vm.get("location") or "",
        capacity_type=capacity_type,
        ultra=bool((properties.get("additionalCapabilities") or {}).get("ultraSSDEnabled")),
        tags=vm.get("tags") or {},
        release=release,
    )
    priority = _PRIORITIES.get(capacity_type, "")
    facts |= _only(release, {keys.AKS_SCALE_SET_PRIORITY: priority, keys.AKS_PRIORITY: priority})
    tags = hashed_tags(vm.get("tags") or {}, nodeclass, options, release)
    image = (properties.get("storageProfile") or {}).get("imageReference") or {}
    return _created(
        facts,
        nodeclaim,
        nodeclass,
        choice,
        release=release,
        provider_id=provider_id,
        image_id=image.get("id") or image.get("communityGalleryImageId") or "",
        annotations={IN_PLACE_UPDATE_HASH: in_place_update_hash(tags, options.node_identities)},
    )


def created_from_machine(
    machine: Mapping[str, Any],
    nodeclaim: Mapping[str, Any],
    nodeclass: Mapping[str, Any],
    choice: Choice,
    *,
    options: ProviderOptions,
    release: ProviderRelease,
    machine_id: str,
    provider_id: ProviderId,
) -> Created:
    """The result of a launch, from the body of an AKS machine."""
    properties = machine["properties"]
    facts = _machine_facts(
        zones=[],
        location="",
        capacity_type=choice.capacity_type,
        ultra=bool(properties["hardware"].get("ultraSsdEnabled")),
        tags=properties["tags"],
        release=release,
    )
    facts[ZONE] = choice.zone
    facts |= _only(release, {keys.PLACEMENT_SCOPE: choice.placement_scope})
    if release.machine_claim_has_priorities:
        priority = _PRIORITIES.get(choice.capacity_type, "")
        facts |= _only(release, {keys.AKS_SCALE_SET_PRIORITY: priority, keys.AKS_PRIORITY: priority})
    return _created(
        facts,
        nodeclaim,
        nodeclass,
        choice,
        release=release,
        provider_id=provider_id,
        image_id=properties["nodeImageVersion"],
        annotations={
            keys.AKS_MACHINE_ID: machine_id,
            IN_PLACE_UPDATE_HASH: in_place_update_hash(
                hashed_tags(properties["tags"], nodeclass, options, release), None
            ),
        },
    )


def populated_labels(nodeclaim: Mapping[str, Any], created: Created, release: ProviderRelease) -> Labels:
    """The NodeClaim's labels after launch, which registration copies to the node: the NodeClaim's own win (PopulateNodeClaimDetails)."""
    own = (nodeclaim.get("metadata") or {}).get("labels") or {}
    parts: list[tuple[Source, Mapping[str, str]]] = []
    if release.core.labels_from_claim_requirements:
        parts.append((Source.CLAIM_REQUIREMENT, _requirement_labels(nodeclaim, release)))
    return created.labels.on_top(*parts, (Source.NODECLAIM_LABEL, own))


def _requirement_labels(nodeclaim: Mapping[str, Any], release: ProviderRelease) -> dict[str, str]:
    """Custom requirements as labels; of several values the smallest, where Go takes any. Raises LaunchPanic where there is none."""
    labels = {}
    for key, requirement in claim_requirements(nodeclaim, release).items():
        if not release.vocabulary.restricted_node_label(key):
            try:
                value = requirement.any(lambda low, high: low)
            except EmptyRange as panic:
                raise LaunchPanic(f"panic: {panic} [recovered]") from None
            if value:
                labels[key] = value
    return labels


def _machine_facts(
    *, zones: Any, location: str, capacity_type: str, ultra: bool, tags: Mapping[str, str], release: ProviderRelease
) -> dict[str, str]:
    facts: dict[str, str] = {}
    if len(zones) <= 1 and (location or not zones):
        regional = keys.REGIONAL_ZONE if release.regional_offerings else ""
        facts[ZONE] = zone_label(location, zones[0]) if zones else regional
        facts |= _only(release, {keys.PLACEMENT_SCOPE: placement_scope(facts[ZONE])})
    facts[CAPACITY_TYPE] = capacity_type
    facts |= _only(release, {keys.SKU_ULTRA_SSD: "true" if ultra else "false"})
    if NODEPOOL_TAG in tags:
        facts[NODEPOOL] = tags[NODEPOOL_TAG]
    return facts


def _only(release: ProviderRelease, labels: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in labels.items() if key in release.offering_keys}


def _created(
    facts: Mapping[str, str],
    nodeclaim: Mapping[str, Any],
    nodeclass: Mapping[str, Any],
    choice: Choice,
    *,
    release: ProviderRelease,
    provider_id: ProviderId,
    image_id: str,
    annotations: Mapping[str, str],
) -> Created:
    item = choice.instance_type
    parts: list[tuple[Source, Mapping[str, str]]] = [
        (Source.INSTANCE_TYPE, single_values(item.requirements)),
        (Source.VM, facts),
    ]
    if release.claim_keeps_well_known:
        wanted = claim_requirements(nodeclaim, release)
        parts.append((Source.CLAIM_REQUIREMENT, single_values(wanted, release.azure_well_known)))
    return Created(
        labels=Labels.stack(*parts),
        annotations={
            **annotations,
            keys.NODE_CLASS_HASH: nodeclass_hash(nodeclass, release.nodeclass_hash_fields),
            keys.NODE_CLASS_HASH_VERSION: release.nodeclass_hash_version,
        },
        capacity={name: quantity for name, quantity in item.capacity.items() if not quantity.is_zero()},
        allocatable={name: quantity for name, quantity in item.allocatable.items() if not quantity.is_zero()},
        provider_id=provider_id,
        image_id=image_id,
    )
