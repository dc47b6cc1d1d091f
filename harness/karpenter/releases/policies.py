"""Design documents as policies: what a release would be with a document's decisions in place.

The document is 'Requirements and Labels' of karpenter-provider-azure, as proposed on 2025-10-30 and as completed on 2025-11-07. Only its
decisions are here; its tables speak of the time of writing (harness.explain.labels.design_documents). What it leaves open stays as the
base release has it.
"""

from collections.abc import Mapping
from dataclasses import replace

from harness.karpenter.labels import azure as keys
from harness.karpenter.releases.flag_values import ClaimRequirementLabels
from harness.karpenter.releases.model import ProviderRelease
from lazyrecords import dataclass

__all__ = ["DEFAULT_BASE", "NOT_SIMULATED", "POLICIES", "Policy", "closed_domain", "overlaid", "split_name"]

DEFAULT_BASE = "1.6.5"
"""The release that was current when the documents were written."""

_SIGN = "@"
_NODE_IMAGE_VERSION = f"{keys.AKS_DOMAIN}/node-image-version"
_SYNTHETIC_CHECKER = f"{keys.AKS_DOMAIN}/cluster-health-monitor-checker-synthetic"


@dataclass(frozen=True, slots=True)
class Policy:
    """The decisions of one document.

    ``well_known``: keys that become well-known and requirements now; ``perhaps_well_known``: those that may have to wait;
    ``later``: to be considered. ``allowed``: keys that NodePools may set although they are not well-known. ``schedulable``: keys of the
    closed domain that can be scheduled on already. Every other key of ``kubernetes.azure.com`` is closed. ``undecided_topics`` are
    questions that the document asks and does not answer.
    """

    name: str
    date: str
    status: str
    well_known: frozenset[str]
    perhaps_well_known: frozenset[str]
    later: frozenset[str]
    allowed: frozenset[str]
    schedulable: frozenset[str]
    undecided_topics: tuple[str, ...] = ()

    @property
    def open_keys(self) -> frozenset[str]:
        """The keys of ``kubernetes.azure.com`` that NodePools may set."""
        return self.well_known | self.allowed | self.schedulable


_NOW = frozenset({keys.AKS_SCALE_SET_PRIORITY, keys.AKS_FIPS, keys.AKS_OS_SKU, keys.AKS_MODE})
_LATER = frozenset(
    {
        keys.AKS_EBPF_DATAPLANE,
        keys.AKS_OS_SKU_EFFECTIVE,
        keys.AKS_OS_SKU_REQUESTED,
        f"{keys.AKS_DOMAIN}/security-type",
        f"{keys.AKS_DOMAIN}/accelerator",
    }
)
_ALLOWED = frozenset({keys.AKS_EBPF_DATAPLANE, _SYNTHETIC_CHECKER})
_ALREADY = frozenset({keys.AKS_CPU, keys.AKS_MEMORY})

POLICIES: Mapping[str, Policy] = {
    policy.name: policy
    for policy in (
        Policy(
            "design-2025-10-30",
            "2025-10-30",
            "Proposed",
            well_known=_NOW | {_NODE_IMAGE_VERSION},
            perhaps_well_known=frozenset(),
            later=_LATER,
            allowed=_ALLOWED,
            schedulable=_ALREADY,
            undecided_topics=(
                "what to do with labels that hold for a whole cluster (decision 2)",
                "what the synthetic checker's label is",
            ),
        ),
        Policy(
            "design-2025-11-07",
            "2025-11-07",
            "Completed",
            well_known=_NOW,
            perhaps_well_known=frozenset({_NODE_IMAGE_VERSION}),
            later=_LATER,
            allowed=_ALLOWED,
            schedulable=_ALREADY,
        ),
    )
}


NOT_SIMULATED: Mapping[str, str] = {
    _NODE_IMAGE_VERSION: (
        "AKS writes it, as gallery, definition and version of an image of its shared galleries; an image of the community galleries, "
        "which a self-hosted Karpenter boots, has no such name (the provider refuses to make one: kaz "
        "pkg/utils, 'CIG images are not supported yet'), so that no size would have a value there. Where Nodes come "
        "of shared galleries the value changes whenever AKS publishes an image and the AKSNodeClass takes it, and a pod that asks "
        "for the one before would wait for ever; the document says nothing about either, and no release did it"
    ),
}
"""Keys that a document decides on and that stay as the base release has them, and why."""


def split_name(name: str) -> tuple[Policy | None, str]:
    """The policy and the base release of ``design-2025-11-07``, ``design-2025-11-07@1.7.2``, ``1.7.2``."""
    policy, sign, base = name.partition(_SIGN)
    if policy in POLICIES:
        return POLICIES[policy], base.removeprefix("v") if sign else DEFAULT_BASE
    return None, name.removeprefix("v")


def closed_domain(name: str) -> tuple[str, frozenset[str]] | None:
    """The label domain that a policy's CRDs close and the keys of it that stay open; None for a release."""
    policy, _ = split_name(name)
    return (keys.AKS_DOMAIN, policy.open_keys) if policy is not None else None


def overlaid(policy: Policy, base: ProviderRelease) -> ProviderRelease:
    """The base release with the policy's decisions.

    A key that becomes well-known becomes a requirement of every size, and its single value a label of NodeClaim and Node: without
    that, pods that ask for it would get Nodes without end. Keys of NOT_SIMULATED stay as they are.
    """
    added = policy.well_known - NOT_SIMULATED.keys()
    well_known = base.vocabulary.well_known | added
    name = policy.name if base.version == DEFAULT_BASE else f"{policy.name}{_SIGN}{base.version}"
    labels = base.claim_requirement_labels
    return replace(
        base,
        version=name,
        crds=name,
        vocabulary=replace(base.vocabulary, well_known=well_known),
        azure_well_known=base.azure_well_known | added,
        allowed_at_create=base.allowed_at_create | added,
        computed_keys=base.computed_keys | added,
        offering_keys=base.offering_keys | (added & {keys.AKS_SCALE_SET_PRIORITY}),
        base_keys=base.base_keys | (added & {keys.AKS_MODE, keys.AKS_SCALE_SET_PRIORITY}),
        claim_keeps_well_known=True,
        claim_requirement_labels=(
            ClaimRequirementLabels.KUBELET_ALLOWED if labels is ClaimRequirementLabels.NONE else labels
        ),
    )
