"""The label vocabulary of one release: what Karpenter knows about keys and values, and how it renames them.

Karpenter core keeps these as process-wide variables which a cloud provider edits at start-up (core ``pkg/apis/v1/labels.go``, kaz
``pkg/apis/v1beta1/labels.go``, ``pkg/utils/zones/normalization.go``). Here they are one frozen value per release, passed to
everything that builds requirements.
"""

from collections.abc import Mapping
from dataclasses import field

from harness.karpenter.labels.core import CAPACITY_TYPE, GROUP, NODEPOOL
from harness.kube.api.labels import (
    ARCH,
    BETA_ARCH,
    BETA_INSTANCE_TYPE,
    BETA_OS,
    BETA_REGION,
    BETA_ZONE,
    HOSTNAME,
    INSTANCE_TYPE,
    OS,
    REGION,
    WINDOWS_BUILD,
    ZONE,
)
from harness.kube.api.names import label_namespace
from harness.kube.go.text import bracketed
from lazyrecords import dataclass

CORE_WELL_KNOWN = frozenset({NODEPOOL, CAPACITY_TYPE, ZONE, REGION, INSTANCE_TYPE, ARCH, OS, WINDOWS_BUILD})
CORE_NORMALIZED_KEYS: Mapping[str, str] = {
    BETA_ZONE: ZONE,
    BETA_REGION: REGION,
    BETA_ARCH: ARCH,
    BETA_OS: OS,
    BETA_INSTANCE_TYPE: INSTANCE_TYPE,
}


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The sets and tables of one release.

    ``normalized_values`` maps an already normalised key to {value: replacement}. The flags name what changed between core releases:

    * ``exclusive_bounds`` (core before Gte/Lte): Gt and Lt keep their operand and print as ``>4``, ``<8``; both bounds together
      render as Gt alone.
    * ``restricted_domain_dotted``: a restricted domain matches itself and its subdomains; otherwise any text that ends with it.
    * ``restriction_text``: the sentence of :meth:`restricted`; fields ``{key}``, ``{well_known}``, ``{domains}``.
    """

    well_known: frozenset[str] = CORE_WELL_KNOWN
    restricted_labels: frozenset[str] = frozenset({HOSTNAME})
    restricted_domains: frozenset[str] = frozenset({GROUP})
    domain_exceptions: frozenset[str] = frozenset()
    known_values: Mapping[str, frozenset[str]] = field(default_factory=dict)
    normalized_keys: Mapping[str, str] = field(default_factory=lambda: CORE_NORMALIZED_KEYS)
    normalized_values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    exclusive_bounds: bool = False
    restricted_domain_dotted: bool = True
    restriction_text: str = (
        "using label {key} is not allowed as it might interfere with the internal provisioning logic; specify a well known label: "
        "{well_known}, or a custom label that does not use a restricted domain: {domains}"
    )

    def restricted(self, key: str) -> str | None:
        """The reason why users may not use ``key`` (IsRestrictedLabel), or None."""
        if key in self.well_known or not self.restricted_node_label(key):
            return None
        return self.restriction_text.format(
            key=key, well_known=bracketed(sorted(self.well_known)), domains=bracketed(sorted(self.restricted_domains))
        )

    def restricted_node_label(self, key: str) -> bool:
        """Return whether ``key`` is known to Karpenter, restricted or in a restricted domain (core <= 1.8 IsRestrictedNodeLabel)."""
        if key in self.well_known:
            return True
        domain = label_namespace(key)
        if any(domain.endswith(exception) for exception in self.domain_exceptions):
            return False
        for restricted in self.restricted_domains:
            if domain == restricted or domain.endswith(
                "." + restricted if self.restricted_domain_dotted else restricted
            ):
                return True
        return key in self.restricted_labels

    def normalize_key(self, key: str) -> str:
        """The key that requirements use for ``key``."""
        return self.normalized_keys.get(key, key)
