"""Labels, annotations and taints of karpenter core (core ``pkg/apis/v1/{labels,taints}.go``)."""

from collections.abc import Mapping

GROUP = "karpenter.sh"

NODEPOOL = f"{GROUP}/nodepool"
CAPACITY_TYPE = f"{GROUP}/capacity-type"
INITIALIZED = f"{GROUP}/initialized"
REGISTERED = f"{GROUP}/registered"
DO_NOT_SYNC_TAINTS = f"{GROUP}/do-not-sync-taints"

SPOT, ON_DEMAND, RESERVED = "spot", "on-demand", "reserved"

DO_NOT_DISRUPT = f"{GROUP}/do-not-disrupt"
NODEPOOL_HASH = f"{GROUP}/nodepool-hash"
NODEPOOL_HASH_VERSION = f"{GROUP}/nodepool-hash-version"
MIN_VALUES_RELAXED = f"{GROUP}/nodeclaim-min-values-relaxed"
PRICE_OVERLAID, CAPACITY_OVERLAID = f"{GROUP}/price-overlay-applied", f"{GROUP}/capacity-overlay-applied"
TERMINATION_TIMESTAMP = f"{GROUP}/nodeclaim-termination-timestamp"
TERMINATION_FINALIZER = f"{GROUP}/termination"

UNREGISTERED_TAINT: Mapping[str, str] = {"key": f"{GROUP}/unregistered", "effect": "NoExecute"}
DISRUPTED_TAINT: Mapping[str, str] = {"key": f"{GROUP}/disrupted", "effect": "NoSchedule"}
