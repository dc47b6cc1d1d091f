"""Changes that nobody can notice, each with the reason. A full run fails when one of them is noticed after all."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

from harness.karpenter.releases import ALL_PROVIDER_RELEASES
from tests.corpus.mutations.cells import Cell

__all__ = ["EQUIVALENT", "Equivalent", "Equivalents"]


@dataclass(frozen=True, slots=True)
class Equivalent:
    """Cells by patterns, ``*`` for anything, of the releases named (all when none is) and why no scenario could notice them."""

    table: str
    key: str
    change: str
    reason: str
    releases: tuple[str, ...] = ()

    def covers(self, cell: Cell) -> bool:
        """Whether the cell is one of them."""
        pairs = ((cell.table, self.table), (cell.key, self.key), (cell.change, self.change))
        listed = not self.releases or cell.release in self.releases
        return listed and all(fnmatchcase(text, pattern) for text, pattern in pairs)


_MACHINES = "a controller does not start in a mode that it does not know, so nobody has such a cluster"
_NOT_READ = "the release does not read the field that asks for it, not even where newer CRDs let somebody set it"
_NO_MACHINES = "the release makes virtual machines only, so that nothing is sent to AKS's machines"

_NOT_LISTED = "Azure lists no such size in any region; tests/instance_types/test_instance_types.py has one of its own"
_NOT_TOLD = "no release tells a kubelet this key; tests/nodes/test_boot.py has the kubelet's whole list"
_NOT_ASKED = "nothing that Karpenter sends asks for it; tests/cloud/test_aks_machines.py asks AKS itself"

EQUIVALENT: tuple[Equivalent, ...] = (
    Equivalent(
        "restricted-labels",
        "karpenter.azure.com/sku-hyperv-generation",
        "*",
        "the whole domain karpenter.azure.com is closed to users, by the CRDs and at run time",
    ),
    Equivalent(
        "restricted-labels",
        "kubernetes.io/hostname",
        "is missing",
        "until core 1.9.0 the whole domain kubernetes.io is closed",
        ("1.4.0", "1.6.5", "1.6.6", "1.7.2"),
    ),
    Equivalent("base-keys", "kubernetes.azure.com/fips_enabled", "is there", _NOT_READ, ("1.4.0",)),
    Equivalent(
        "crd of *",
        "node.kubernetes.io/*",
        "is not open beside domain*:kubernetes.io",
        "the rule leaves the whole domain node.kubernetes.io open",
        ("1.4.0", "1.6.5", "1.6.6", "1.7.2"),
    ),
    Equivalent("provision-modes", "aksmachineapi", "is there", _MACHINES, ("1.4.0", "1.6.5", "1.6.6", "1.6.8")),
    Equivalent(
        "provision-modes",
        "aksmachineapiheaderbatch",
        "is there",
        _MACHINES,
        ("1.4.0", "1.6.5", "1.6.6", "1.7.2", "1.10.2"),
    ),
    Equivalent(
        "flag of release",
        "skewer",
        "*",
        "the versions up to 0.0.22 read names of sizes alike",
        ("1.4.0", "1.6.5", "1.6.6", "1.7.2", "1.10.2", "1.12.0"),
    ),
    *(
        Equivalent(
            "flag of release",
            "gpu_registry",
            change,
            "no region sells the sizes that one list has and the other has not",
            releases,
        )
        for releases, change in ((("1.12.2",), "as in 1.13.0"), (("1.13.0", "1.13.1"), "as in 1.12.2"))
    ),
    *(
        Equivalent(
            "computed-keys",
            f"karpenter.azure.com/{name}",
            "is there",
            "its values are those of the offerings, and these have none before the key is one of theirs",
        )
        for name in ("placement-scope", "sku-storage-ultra-ssd")
    ),
    Equivalent(
        "flag of release",
        "claim_requirement_labels",
        "as in 1.7.2",
        "what a kubelet may not set is withheld from it afterwards, wherever it came from",
    ),
    *(
        Equivalent("flag of release", flag, "*", reason, ("1.4.0", "1.6.5", "1.6.6"))
        for flag, reason in (
            ("local_dns_preferred_from", _NOT_READ),
            ("machine_drops_legacy_labels", _NO_MACHINES),
            ("machine_claim_has_priorities", _NO_MACHINES),
            ("spot_system_machines", _NO_MACHINES),
            ("machine_creation_tag", _NO_MACHINES),
        )
    ),
    Equivalent(
        "flag of release",
        "artifact_streaming_default",
        "*",
        "the release tells no node of artifact streaming",
        ("1.4.0", "1.6.5", "1.6.6", "1.7.2"),
    ),
    Equivalent(
        "flag of release",
        "claim_keeps_well_known",
        "as in 1.6.5",
        "of each key that it keeps every size has one value, which the NodeClaim gets anyhow",
        ("1.6.6",),
    ),
    Equivalent(
        "flag of release",
        "gpu_driver_filter",
        "as in 1.12.0",
        "the sizes that it drops have GPUs of AMD, of which these releases know none",
        ("1.4.0", "1.6.5", "1.6.6", "1.7.2", "1.10.2"),
    ),
    Equivalent(
        "flag of release",
        "azure_linux_3_arm_shared_only",
        "as in 1.6.1",
        "Azure Linux is version 2 there, whatever Kubernetes",
        ("1.4.0",),
    ),
    Equivalent(
        "flag of release",
        "instance_type_key_leaves_out",
        "as in 1.10.0",
        "the instance types of these releases are the same in FIPS mode",
        ("1.4.0", "1.6.5", "1.6.6", "1.7.2"),
    ),
    Equivalent(
        "flag of release",
        "skus_without_price",
        "*",
        "since 1.13.0 every size without a price costs the most, on a list or not",
        ("1.13.1", "1.14.0"),
    ),
    *(
        Equivalent(
            "flag of release", "skus_without_price", change, "both lists lack a price of the same sizes", releases
        )
        for change, releases in (("as in 1.5.1", ("1.4.0",)), ("as in 1.5.0", ("1.6.5", "1.6.6", "1.7.2", "1.10.2")))
    ),
    *(
        Equivalent(
            "constant offerings._ZONAL_REGIONS",
            region,
            "is missing",
            "Azure's public lists do not have the region, so that the catalogue has not either",
            ("1.4.0",),
        )
        for region in ("centraluseuap", "chinanorth3", "eastus2euap", "usgovvirginia")
    ),
    *(
        Equivalent(f"constant filters.{name}", name, change, reason, ("1.14.0",))
        for name, change, reason in (
            ("_MIN_MEMORY_GIB", "is 3.0", "no region sells a size with less than 3.5 GiB and at least 3"),
            ("_MIN_MEMORY_GIB", "is 4.0", "no region sells a size with 3.5 GiB and two vCPUs"),
            ("_LOCAL_DNS_MIN_VCPUS", "is 3", "no region sells a size with three vCPUs"),
        )
    ),
    *(
        Equivalent(f"constant filters.{name}", rule, "is missing", _NOT_LISTED, ("1.14.0",))
        for name, rule in (
            ("_REGION", "not-a-virtual-machine"),
            ("_REGION", "unparsable-size"),
            ("_NODECLASS", "no-architecture"),
        )
    ),
    *(
        Equivalent("constant node_restriction.KUBELET_LABELS", key, "is missing", _NOT_TOLD, ("1.14.0",))
        for key in (
            "failure-domain.beta.kubernetes.io/*",
            "beta.kubernetes.io/instance-type",
            "node.kubernetes.io/instance-type",
        )
    ),
    *(
        Equivalent("labels of AKS", f"kubernetes.azure.com/{name}", "*", _NOT_ASKED, ALL_PROVIDER_RELEASES[-1:])
        for name in (
            "kata-*vm-isolation",
            "podnetwork-delegationguid",
            "podnetwork-name",
            "podnetwork-resourcegroup",
            "podnetwork-subnet",
            "podnetwork-subscription",
            "podv6network-type",
            "security-type",
        )
    ),
    Equivalent(
        "flag of core",
        "honours_do_not_sync_taints",
        "*",
        "a Node is registered in the instant in which it appears, so that nobody can take one of its taints away in between",
    ),
)


class Equivalents:
    """The table, asked for one cell at a time."""

    def reason(self, cell: Cell) -> str | None:
        """Why the cell does not matter, None when it does."""
        return next((one.reason for one in EQUIVALENT if one.covers(cell)), None)
